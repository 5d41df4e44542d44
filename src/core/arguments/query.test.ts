import fc from 'fast-check';
import { expect, test } from 'vitest';
import { coreLimits } from '../limits.ts';
import { queryArguments } from './query.ts';

const read = (query: string, properties: Record<string, unknown> = {}) =>
  queryArguments(new URLSearchParams(query), { type: 'object', properties });

test('a name is an argument, a repeated one a list, a dotted one a member of an object', () => {
  expect(read('a=1&b=x&b=y&c.d=2&c.e.f=&c.e.g=h&c.e.g=i')).toEqual({
    value: { a: '1', b: ['x', 'y'], c: { d: '2', e: { f: '', g: ['h', 'i'] } } },
    problems: [],
  });
  expect(read('')).toEqual({ value: {}, problems: [] });
});

test('a dotted name that the schema declares, or that has an empty part, is a name like any other', () => {
  expect(read('a.b=1', { 'a.b': {} }).value).toEqual({ 'a.b': '1' });
  expect(read('.=1&a.=2&.b=3&c..d=4').value).toEqual({ '.': '1', 'a.': '2', '.b': '3', 'c..d': '4' });
});

test('one argument given as a whole and in parts is refused, whichever comes first', () => {
  for (const query of ['a=1&a.b=2', 'a.b=2&a=1', 'a.b=1&a.b.c=2']) {
    expect(read(query).problems).toEqual([
      { path: expect.stringMatching(/^a/) as string, message: 'is given both as a whole and in parts' },
    ]);
  }
});

test('nesting is bounded', () => {
  const name = (parts: number) => Array.from({ length: parts }, () => 'a').join('.');
  expect(read(`${name(coreLimits.queryDepth)}=1`).problems).toEqual([]);
  expect(read(`${name(coreLimits.queryDepth + 1)}=1`).problems).toHaveLength(1);
});

test('names of the language are ordinary names', () => {
  const { value } = read('__proto__.polluted=1&constructor.prototype.x=2&toString=3');
  expect(JSON.stringify(value)).toBe(
    '{"__proto__":{"polluted":"1"},"constructor":{"prototype":{"x":"2"}},"toString":"3"}',
  );
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test('without dots nothing is lost and nothing invented', () => {
  const word = fc.string({ minLength: 1 }).filter((text) => !text.includes('.'));
  fc.assert(
    fc.property(fc.dictionary(word, fc.array(fc.string(), { minLength: 1 })), (lists) => {
      const query = new URLSearchParams();
      for (const [key, values] of Object.entries(lists)) for (const value of values) query.append(key, value);
      // What a URL cannot carry (half of a pair) is replaced when it is encoded, so compare with what it carries.
      const { value, problems } = queryArguments(query, {});
      expect(problems).toEqual([]);
      for (const key of new Set(query.keys())) {
        const values = query.getAll(key);
        expect(value[key]).toEqual(values.length === 1 ? values[0] : values);
      }
      expect(Object.keys(value)).toHaveLength(new Set(query.keys()).size);
    }),
  );
});
