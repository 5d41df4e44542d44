import { describe, expect, test } from 'vitest';
import { coreLimits } from '../limits.ts';
import { cedarValue, NotJudgeable } from './cedar-value.ts';

const decimal = (arg: string) => ({ __extn: { fn: 'decimal', arg } });
const most = coreLimits.policyDecimalMost;

test.each([
  ['a text', 'a "text"', 'a "text"'],
  ['an empty text', '', ''],
  ['booleans', [true, false], [true, false]],
  ['whole numbers', [0, -1, Number.MAX_SAFE_INTEGER], [0, -1, Number.MAX_SAFE_INTEGER]],
  ['other numbers', [1.5, -0.25, 0.00004], [decimal('1.5000'), decimal('-0.2500'), decimal('0.0000')]],
  ['large numbers', [most - 0.5, 0.5 - most], [decimal(`${most - 1}.5000`), decimal(`-${most - 1}.5000`)]],
  ['an array', ['a', null, ['b', null]], ['a', ['b']]],
  ['an object', { a: { b: null, c: 1 }, d: null }, { a: { c: 1 } }],
  ['nothing', {}, {}],
  [
    'names with a meaning',
    { __entity: 1, __extn: 2, __expr: 3, __other: 4 },
    { ' __entity': 1, ' __extn': 2, ' __expr': 3, __other: 4 },
  ],
  [
    'a name of every object',
    JSON.parse('{"__proto__": 1, "constructor": 2}'),
    JSON.parse('{"__proto__": 1, "constructor": 2}'),
  ],
])('%s', (_, value: unknown, expected: unknown) => {
  expect(cedarValue(value)).toEqual(expected);
});

describe('no value of Cedar is', () => {
  const deep = (levels: number): unknown =>
    levels === 0 ? 1 : levels % 2 === 0 ? [deep(levels - 1)] : { a: deep(levels - 1) };
  const nodes = coreLimits.policyArgumentNodes;
  const depth = coreLimits.policyArgumentDepth;
  const large = 'the arguments have a number that is too large.';

  test.each([
    ['an integer that JSON reads wrongly', 2 ** 53, large],
    ['a large integer', -1e300, large],
    ['a large number', most + 0.5, large],
    ['a large negative number', -most - 0.5, large],
    ['a number that is none', Number.POSITIVE_INFINITY, large],
    ['undefined', { a: undefined }, 'the arguments have a value that is no JSON.'],
    ['null alone', null, 'the arguments have a value that is no JSON.'],
    ['what is nested deeply', deep(depth + 1), `the arguments are nested deeper than ${depth} levels.`],
    ['what has many values', Array(nodes).fill(0), `the arguments have more than ${nodes} values.`],
  ])('%s', (_, value: unknown, message) => {
    expect(() => cedarValue(value)).toThrow(new NotJudgeable(message));
  });

  test('what is longer than was said, names of members too', () => {
    const longer = (chars: number) => new NotJudgeable(`the arguments are longer than ${chars} characters.`);
    expect(() => cedarValue('abcd', 3)).toThrow(longer(3));
    expect(() => cedarValue({ ab: ['c', 'd'] }, 3)).toThrow(longer(3));
    expect(() => cedarValue('x'.repeat(coreLimits.policyArgumentChars + 1))).toThrow(
      longer(coreLimits.policyArgumentChars),
    );
    expect(cedarValue({ ab: ['c', 'd'], e: null }, 4)).toEqual({ ab: ['c', 'd'] });
  });

  test('but what is just within the bounds is', () => {
    expect(cedarValue(deep(depth))).toEqual(deep(depth));
    expect(cedarValue(Array(nodes - 1).fill(0))).toHaveLength(nodes - 1);
  });
});
