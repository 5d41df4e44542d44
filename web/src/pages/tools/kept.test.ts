import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { drop, hasSecrets, keep, keptOf, mostArgumentChars, takesSecrets } from './kept.ts';

beforeEach(() => {
  const items = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  });
});
afterAll(() => vi.unstubAllGlobals());

test('of each tool the last ten are kept, the newest first, equal ones once, for each user apart', () => {
  for (let at = 0; at < 12; at++) keep('tried', 'ann', 'notes add', { at, ok: true, args: { at } });
  keep('tried', 'ann', 'notes add', { at: 99, ok: false, args: { at: 5 } });
  expect(keptOf('tried', 'ann', 'notes add').map(({ args }) => args['at'])).toEqual([5, 11, 10, 9, 8, 7, 6, 4, 3, 2]);
  expect(keptOf('tried', 'bob', 'notes add')).toEqual([]);
  expect(keptOf('tried', 'ann', 'notes list')).toEqual([]);
});

test('an example takes the place of the one of its name, and goes when it is dropped', () => {
  keep('examples', 'ann', 'notes add', { name: 'one', args: { a: 1 } });
  keep('examples', 'ann', 'notes add', { name: 'one', args: { a: 2 } });
  expect(keptOf('examples', 'ann', 'notes add')).toEqual([{ name: 'one', args: { a: 2 } }]);
  drop('examples', 'ann', 'notes add', { name: 'one', args: {} });
  expect(keptOf('examples', 'ann', 'notes add')).toEqual([]);
});

test('the tools used last are kept, and no arguments that are long', () => {
  for (let at = 0; at < 70; at++) keep('tried', 'ann', `tool ${at}`, { at, ok: true, args: {} });
  expect(keptOf('tried', 'ann', 'tool 9')).toEqual([]);
  expect(keptOf('tried', 'ann', 'tool 10')).toHaveLength(1);
  const args = { text: 'x'.repeat(mostArgumentChars) };
  expect(keep('tried', 'ann', 'long', { at: 1, ok: true, args })).toBe(false);
  expect(keptOf('tried', 'ann', 'long')).toEqual([]);
});

test('what another version wrote, or a hand, is not read', () => {
  for (const text of ['{', '[]', '{"a":1}', '[[1,[]]]', '[["t",[{"at":"x"},{"at":1},7]]]', '[["t",{}]]', 'null']) {
    localStorage.setItem('toolhub.tried.ann', text);
    expect(keptOf('tried', 'ann', 't')).toEqual([]);
  }
});

test('a schema that takes a secret is known, wherever that is', () => {
  const object = (name: string, inner: object) => ({ type: 'object', properties: { [name]: inner } });
  const secret = [
    object('password', { type: 'string' }),
    object('apiKey', {}),
    object('value', { type: 'string', format: 'password' }),
    object('outer', object('access_token', { type: 'string' })),
    object('list', { type: 'array', items: object('client_secret', { type: 'string' }) }),
    object('either', { anyOf: [{ type: 'null' }, object('passphrase', { type: 'string' })] }),
    { ...object('ref', { $ref: '#/$defs/login' }), $defs: { login: object('passwd', { type: 'string' }) } },
  ];
  expect(secret.filter((schema) => !takesSecrets(schema, schema))).toEqual([]);
  const plain = [object('text', { type: 'string' }), object('max_tokens', { type: 'integer' }), {}];
  expect(plain.filter((schema) => takesSecrets(schema, schema))).toEqual([]);
});

test('a value that looks like a secret is known, and one that is named as one', () => {
  expect(hasSecrets({ a: [{ b: `mcphub_${'0'.repeat(64)}` }] })).toBe(true);
  expect(hasSecrets({ headers: { Authorization: 'x' } })).toBe(true);
  expect(hasSecrets({ text: 'ghp_0123456789abcdefghij' })).toBe(true);
  expect(hasSecrets({ text: 'a note', n: 1, list: ['b'] })).toBe(false);
});
