import fc from 'fast-check';
import { expect, test } from 'vitest';
import { convertArguments } from './convert.ts';
import { exactText } from './exact.ts';

test('what was not converted keeps its digits and its spelling', () => {
  const text = '{ "id": 12345678901234567890, "count": "3", "deep": [ {"n": 1.0, "m": "4"}, 1e2 ] }';
  const original: unknown = JSON.parse(text);
  const deep = { type: 'array', items: { properties: { m: { type: 'integer' } } } };
  const { value } = convertArguments({ properties: { count: { type: 'integer' }, deep } }, original);
  expect(exactText(value, original, text)).toBe('{"id":12345678901234567890,"count":3,"deep":[{"n":1.0,"m":4},1e2]}');
  expect(exactText(original, original, text)).toBe(text);
});

test('a text that became a list or an object is written as what it became', () => {
  const text = '{"a":"[1,2]","b":"x"}';
  const original: unknown = JSON.parse(text);
  expect(exactText({ a: [1, 2], b: ['x'] }, original, text)).toBe('{"a":[1,2],"b":["x"]}');
});

test('the text always reads as the value', () => {
  fc.assert(
    fc.property(fc.json(), fc.jsonValue(), (text, value) => {
      const original: unknown = JSON.parse(text);
      expect(JSON.parse(exactText(value, original, text))).toEqual(JSON.parse(JSON.stringify(value)));
      const copy: unknown = JSON.parse(text);
      expect(JSON.parse(exactText(copy, original, text))).toEqual(original);
    }),
  );
});
