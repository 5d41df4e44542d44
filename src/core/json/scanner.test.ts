import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonScanner } from './scanner.ts';
import { codePoints } from '../../../test/kit/code-points.ts';

const wanted = {
  outer: new Set(['id', 'method', 'result', 'error', 'jsonrpc']),
  within: 'result',
  inner: new Set(['isError', 'resultType']),
};

/** Scans the text in pieces of these sizes, again and again. */
function scanned(text: string, sizes: readonly number[] = [7]) {
  const bytes = Buffer.from(text);
  const scanner = new JsonScanner(wanted);
  const pieces: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    const piece = Buffer.from(bytes.subarray(at, at + size));
    pieces.push(piece);
    scanner.push(piece);
    at += size;
  }
  return { scanner, isJson: scanner.end(), text: Buffer.concat(pieces).toString() };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The values found, parsed, and whether each is what JSON.parse has in its place. */
function expectLikeParse(given: string, sizes: readonly number[]): void {
  // Bytes cannot hold half a surrogate pair.
  const text = Buffer.from(given).toString();
  const found = scanned(text, sizes);
  const valid = isJson(text);
  expect(found.isJson).toBe(valid);
  if (!valid) return;
  const parsed = JSON.parse(text) as unknown;
  expect(JSON.parse(found.text)).toEqual(parsed);
  expect(found.text).not.toMatch(/[\r\n]/);
  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject(parsed)) {
    expect(found.scanner.outer.size).toBe(0);
    return;
  }
  const bytes = Buffer.from(text);
  const values = (spans: ReadonlyMap<string, { start: number; end: number }>) =>
    Object.fromEntries(
      [...spans].map(([key, { start, end }]) => [key, JSON.parse(bytes.subarray(start, end).toString()) as unknown]),
    );
  const picked = (value: unknown, keys: ReadonlySet<string>) =>
    Object.fromEntries(isObject(value) ? Object.entries(value).filter(([key]) => keys.has(key)) : []);
  expect(values(found.scanner.outer)).toEqual(picked(parsed, wanted.outer));
  expect(values(found.scanner.inner)).toEqual(picked(parsed['result'], wanted.inner));
}

const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 });
const key = fc.oneof(
  fc.constantFrom('id', 'method', 'result', 'error', 'isError', 'resultType', 'result.isError'),
  fc.string(),
);
const spaces = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
const scalar = fc.oneof(
  fc.string({ unit: codePoints }).map((text) => JSON.stringify(text)),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom(
    'true',
    'false',
    'null',
    '-0',
    '1.50',
    '1e400',
    '12345678901234567890',
    '"\\u0069d"',
    '"\\ud800"',
    '""',
  ),
);
/** JSON text with white space of any kind and duplicate members, nested like a message. */
const { text: jsonText } = fc.letrec<{ text: string }>((tie) => ({
  text: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc
      .tuple(fc.array(fc.tuple(key, spaces, tie('text'), spaces), { maxLength: 5 }), spaces)
      .map(
        ([members, space]) =>
          `{${space}${members.map(([name, a, value, b]) => `${JSON.stringify(name)}${a}:${b}${value}${a}`).join(`,${space}`)}}`,
      ),
    fc
      .tuple(fc.array(tie('text'), { maxLength: 5 }), spaces)
      .map(([items, space]) => `[${items.join(`${space},`)}${space}]`),
  ),
}));

describe('the scanner', () => {
  test('accepts JSON that comes in any pieces and finds the members that JSON.parse finds', () => {
    fc.assert(
      fc.property(jsonText, spaces, sizes, (text, space, cuts) => expectLikeParse(space + text + space, cuts)),
      { numRuns: 1_000 },
    );
  });

  test('refuses what JSON.parse refuses: JSON with bytes changed, taken out or put in', () => {
    const fault = fc.constantFrom(
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '0',
      '-',
      '.',
      'e',
      'u',
      't',
      '\u0000',
      '\n',
      '\u001f',
      '\u00e9',
      '\ufeff',
    );
    fc.assert(
      fc.property(jsonText, fc.nat(), fc.constantFrom(0, 1), fc.option(fault), sizes, (text, where, out, put, cuts) => {
        const at = where % (text.length + 1);
        expectLikeParse(text.slice(0, at) + (put ?? '') + text.slice(at + out), cuts);
      }),
      { numRuns: 3_000 },
    );
  });

  test.each([
    '',
    ' ',
    '01',
    '-',
    '1.',
    '1e',
    '1e+',
    '.5',
    '+1',
    'tru',
    'truex',
    '[1,]',
    '{"a":1,}',
    '{"a"}',
    '{1:2}',
    '"\\x"',
    '"\\u12g4"',
    '"a\tb"',
    '[1}',
    '{"a":1]',
    '1 2',
    '{}{}',
    'nul',
    '[',
    '"',
    '\u00a01',
    '\ufeff{}',
    '{"a":01}',
    '1.5.5',
    '-a',
    '1-2',
  ])('refuses %j, as JSON.parse does', (text) => expectLikeParse(text, [1]));

  test('takes the last of duplicate members, and what is in the last', () => {
    const text = '{"result":{"isError":true},"id":1,"res\\u0075lt":{"resultType":"x"},"id":2}';
    const { scanner } = scanned(text);
    const at = scanner.outer.get('id');
    expect(text.slice(at?.start, at?.end)).toBe('2');
    expect([...scanner.inner.keys()]).toEqual(['resultType']);
  });

  test('is not stopped by nesting, however deep', () => {
    const text = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(scanned(text, [65_536]).isJson).toBe(true);
    expect(scanned(`${text}]`, [65_536]).isJson).toBe(false);
  });
});
