import { expect, test } from 'vitest';
import { paramHeaders, paramHeaderValues } from './headers.ts';

const text = { type: 'string' };
const object = (properties: Record<string, unknown>) => ({ type: 'object', properties });
const named = (name: unknown, more: object = text) => ({ ...more, 'x-mcp-header': name });

function headersOf(schema: unknown) {
  const found = paramHeaders(schema);
  if (found.kind === 'fault') throw new Error(found.fault);
  return found.headers;
}

test('parameters with a header are found at any depth of properties, and only there', () => {
  const headers = headersOf(
    object({ region: named('Region'), query: text, where: object({ shard: named('Shard', { type: 'integer' }) }) }),
  );
  expect(headers).toEqual([
    { header: 'mcp-param-region', path: ['region'], type: 'string' },
    { header: 'mcp-param-shard', path: ['where', 'shard'], type: 'integer' },
  ]);
});

test.each([
  ['an empty name', object({ a: named('') })],
  ['a name with a line break', object({ a: named('A\r\nB') })],
  ['a name with a blank', object({ a: named('My Region') })],
  ['a name that is none', object({ a: named(7) })],
  ['the same name twice, in other letters', object({ a: named('Region'), b: named('REGION') })],
  ['a number', object({ a: named('A', { type: 'number' }) })],
  ['an object', object({ a: named('A', { type: 'object' }) })],
  ['no type', object({ a: named('A', {}) })],
  ['the schema itself', named('A')],
  ['the items of an array', object({ a: { type: 'array', items: named('A') } })],
  ['an alternative', object({ a: { oneOf: [text, named('A')] } })],
  ['a definition', { ...object({}), $defs: { a: named('A') } }],
  ['properties below an alternative', { anyOf: [object({ a: named('A') })] }],
])('a tool is at fault that has a header on %s', (_, schema) => {
  expect(paramHeaders(schema).kind).toBe('fault');
});

test('a schema too deep or too wide to be looked through is a fault, not the end of the process', () => {
  let deep: unknown = text;
  for (let i = 0; i < 50_000; i++) deep = { not: deep };
  expect(paramHeaders(deep).kind).toBe('fault');
  const wide = object(Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`p${i}`, text])));
  expect(paramHeaders(wide).kind).toBe('fault');
});

test('values go out as text, and what is not there, null or no such value does not', () => {
  const schema = object({
    s: named('S'),
    i: named('I', { type: 'integer' }),
    b: named('B', { type: 'boolean' }),
    o: object({ p: named('P') }),
  });
  const values = (args: unknown) => paramHeaderValues(headersOf(schema), args);
  expect(values({ s: 'us-west1', i: 42, b: false, o: { p: 'x' } })).toEqual([
    'mcp-param-s',
    'us-west1',
    'mcp-param-i',
    '42',
    'mcp-param-b',
    'false',
    'mcp-param-p',
    'x',
  ]);
  expect(values({ s: null, i: 2 ** 60, b: undefined, o: 'no object' })).toEqual([]);
  expect(values(undefined)).toEqual([]);
  expect(values({ s: 'a\r\nx-evil: 1' })).toEqual(['mcp-param-s', '=?base64?YQ0KeC1ldmlsOiAx?=']);
});
