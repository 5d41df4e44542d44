import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createToolArguments } from '../core/arguments/tool.ts';
import { jsonArguments, namedArguments } from './call-arguments.ts';

const schemas = createToolArguments();
const tool = {
  name: 'mail-send',
  inputSchema: {
    type: 'object',
    properties: {
      to: { type: 'array', items: { type: 'string' }, description: 'Who gets it\u001b[2J' },
      subject: { type: 'string', description: 'What it is about' },
      max_results: { type: 'integer' },
      ratio: { type: 'number' },
      urgent: { type: 'boolean' },
      meta: { type: 'object', properties: { depth: { type: 'integer' } } },
      level: { enum: ['low', 'high'] },
      either: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
      scores: { type: 'array', items: { type: 'number' } },
      point: { $ref: '#/$defs/point' },
    },
    required: ['to'],
    $defs: { point: { type: 'object', properties: { x: { type: 'number' } } } },
  },
};
const read = (...words: string[]) => namedArguments(tool, ['--to', 'ann', ...words], schemas);

describe('arguments by name', () => {
  test.each([
    [['--subject', 'Hello there'], { subject: 'Hello there' }],
    [['--subject=a=b'], { subject: 'a=b' }],
    [['--subject=--x'], { subject: '--x' }],
    [['--subject', '42'], { subject: '42' }],
    [['--subject', 'true'], { subject: 'true' }],
    [['--subject', ''], { subject: '' }],
    [['--to', 'bob'], { to: ['ann', 'bob'] }],
    [['--max_results', '-5'], { max_results: -5 }],
    [['--max-results', '5'], { max_results: 5 }],
    [['--ratio=1e-3'], { ratio: 0.001 }],
    [['--urgent'], { urgent: true }],
    [['--urgent', '--subject', 'x'], { urgent: true, subject: 'x' }],
    [['--urgent', 'false'], { urgent: false }],
    [['--no-urgent'], { urgent: false }],
    [['--meta', '{"depth": 2, "more": [1]}'], { meta: { depth: 2, more: [1] } }],
    [['--meta.depth', '3'], { meta: { depth: 3 } }],
    [['--level', 'high'], { level: 'high' }],
    [['--either', '7'], { either: '7' }],
    [['--scores', '1', '--scores', '2.5'], { scores: [1, 2.5] }],
    [['--scores', '[1,2]'], { scores: [1, 2] }],
    [['--point.x', '1'], { point: { x: 1 } }],
  ])('%j is %j', (words, expected) => {
    expect(read(...words)).toEqual({ to: ['ann'], ...expected });
  });

  test.each([
    [['--max_results', 'five'], /--max_results: .*integer/],
    [['--max_results', '1.5'], /--max_results: .*integer/],
    [['--max_results', '12345678901234567890'], /--max_results: /],
    [['--urgent=maybe'], /--urgent: .*boolean/],
    [['--level', 'medium'], /--level: /],
    [['--meta', '{"depth":'], /--meta: /],
    [['--subjekt', 'x'], /no argument --subjekt\. Did you mean --subject\?/],
    [['--zzz', 'x'], /It takes --to, --subject/],
    [['--subject'], /--subject needs a value/],
    [['--subject', '--urgent'], /--subject needs a value/],
    [['stray'], /"stray" is no argument/],
    [['-x'], /"-x" is no argument/],
    [['--=x'], /is no argument/],
    [['--__proto__', 'x'], /no argument --__proto__/],
  ])('%j is refused, and what is wrong is named', (words, message) => {
    expect(() => read(...words)).toThrow(message);
    expect(() => read(...words)).toThrow(expect.objectContaining({ code: 'misconfigured' }));
  });

  test('each missing one is named with what the tool says of it, without what a terminal would obey', () => {
    expect(() => namedArguments(tool, ['--subject', 'x'], schemas)).toThrow(
      /^Cannot call mail-send:\n {2}--to is missing \(array\): Who gets it␛\[2J$/,
    );
  });

  test('a tool whose schema says little gets what is given', () => {
    const words = ['--a', '1', '--b', 'x', '--c.d', 'y'];
    const expected = { a: '1', b: 'x', c: { d: 'y' } };
    for (const inputSchema of [undefined, {}, { type: 'object', additionalProperties: true }])
      expect(namedArguments({ name: 'any', inputSchema }, words, schemas)).toEqual(expected);
  });

  test('any text reaches a tool as it was given', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(read(`--subject=${text}`)).toEqual({ to: ['ann'], subject: text });
      }),
    );
  });
});

describe('arguments as JSON', () => {
  test('are sent as they are', () => {
    const given = { to: ['ann'], unknown: { deep: [null] } };
    expect(jsonArguments(tool, JSON.stringify(given), schemas)).toEqual(given);
  });

  test.each([
    ['{', /--json is no JSON/],
    ['[]', /one JSON object/],
    ['{}', /--to is missing \(array\)/],
    ['{"to": "ann"}', /--to: .*array/],
  ])('%s is refused', (text, message) => {
    expect(() => jsonArguments(tool, text, schemas)).toThrow(message);
  });
});
