import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HubError } from '../../core/errors.ts';
import { settingsLimits } from '../limits.ts';
import { parseJsonText } from './syntax.ts';
import { codePoints } from '../../../test/kit/code-points.ts';

function refusal(text: string): string {
  try {
    parseJsonText(text);
  } catch (error) {
    if (error instanceof HubError && error.code === 'invalid_input') return error.message;
    throw error;
  }
  throw new Error(`accepted: ${text}`);
}

test.each([
  ['{\n  "a": 1,\n}', 'line 3, column 1', 'remove the comma before it'],
  ['{\n  "a": [1,\n  ]}', 'line 3, column 3', 'remove the comma before it'],
  ['{\n  "a": 1\n  "b": 2}', 'line 3, column 3', 'a comma is missing before this'],
  ['{\n  // my servers\n}', 'line 2, column 3', 'comments are not allowed'],
  ["{'a': 1}", 'line 1, column 2', 'straight double quotes only'],
  ['{“a”: 1}', 'line 1, column 2', 'straight double quotes only'],
  ['{a: 1}', 'line 1, column 2', 'a name in double quotes'],
  ['{"a": "C:\\dev"}', 'line 1, column 10', 'a backslash in a string is written twice'],
  ['{"a": "x\n"}', 'line 1, column 9', 'a string ends in the same line'],
  ['{"a": "x', 'line 1, column 9', 'a string is not closed'],
  ['{"a": {"b": 1}', 'line 1, column 15', 'something is not closed'],
  ['{"a": 1}}', 'line 1, column 9', 'nothing more'],
  ['{"a":\u00a01}', 'line 1, column 6', 'U+00A0'],
  ['{"a": True}', 'line 1, column 7', 'found "T"'],
  ['{"a": 01}', 'line 1, column 7', 'a value'],
  ['', 'line 1, column 1', 'write {} for no settings'],
  [' \n', 'line 2, column 1', 'write {} for no settings'],
])('%j is refused at its place with what to do', (text, where, advice) => {
  expect(refusal(text)).toContain(`Not valid JSON at ${where}: `);
  expect(refusal(text)).toContain(advice);
});

test('what stands around the error is not shown: it may be a secret', () => {
  expect(refusal('{"token": "hunter2" "x"')).not.toContain('hunter');
  expect(refusal('{"token": hunter2}')).not.toContain('hunter');
});

test('the same texts are JSON here and for JSON.parse', () => {
  const broken = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', '\\', '\u0001', '1', 'e', '-', ' '))
    .map(([json, at, char]) => {
      const i = at % (json.length + 1);
      return json.slice(0, i) + char + json.slice(i + 1);
    });
  fc.assert(
    fc.property(fc.oneof(fc.json(), broken, fc.string({ unit: codePoints })), (text) => {
      let expected: unknown = parseJsonText;
      try {
        expected = JSON.parse(text);
      } catch {
        // Stays something that no JSON can be.
      }
      if (expected === parseJsonText) expect(() => parseJsonText(text)).toThrow(HubError);
      else expect(parseJsonText(text).value).toEqual(expected);
    }),
    { numRuns: 2000 },
  );
});

test('members that are there twice, and numbers that cannot be kept, are named', () => {
  const { notes } = parseJsonText(
    '{"mcpServers":{"a":{"x":1},"\\u0061":{}},"id":12345678901234567890,"n":1e999,"ok":0.1,"big":9007199254740991}',
  );
  expect(notes).toEqual([
    { path: 'mcpServers.a', message: 'is there twice; only the last one counts' },
    { path: 'id', message: 'this number is too long to be kept exactly; put it in quotes' },
    { path: 'n', message: 'this number is too long to be kept exactly; put it in quotes' },
  ]);
});

test('a byte order mark is passed over', () => {
  expect(parseJsonText('\ufeff{"a":1}').value).toEqual({ a: 1 });
});

test('neither depth nor long strings exhaust the stack', () => {
  expect(refusal('['.repeat(1_000_000))).toContain('nested too deeply');
  expect(() =>
    parseJsonText(`${'['.repeat(settingsLimits.settingsDepth)}${']'.repeat(settingsLimits.settingsDepth)}`),
  ).not.toThrow();
  const long = '\\n'.repeat(1_000_000) + 'x'.repeat(8_000_000);
  expect(parseJsonText(`"${long}"`).value).toHaveLength(9_000_000);
});
