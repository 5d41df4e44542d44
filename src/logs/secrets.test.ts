import { expect, test } from 'vitest';
import { secretsIn } from './secrets.ts';

test('a stdio server: every value of its env', () => {
  expect(
    secretsIn({ type: 'stdio', command: 'x', args: ['plain'], env: { TOKEN: 'abc', B: 'def' }, cwd: undefined }),
  ).toEqual(['abc', 'def']);
});

test('a remote server: its headers, its env, and what its address carries', () => {
  const url = 'https://user:p%40ss@example.com/mcp?key=k-1&x=2';
  const found = secretsIn({ type: 'sse', url, headers: { Authorization: 'Bearer t' }, env: { T: 't' } });
  expect(found).toEqual(['t', 'Bearer t', 'p@ss', 'k-1', '2']);
  expect(secretsIn({ type: 'auto', url: 'no address', headers: {}, env: {} })).toEqual([]);
  expect(secretsIn({ type: 'auto', url: 'https://a:%@b/', headers: {}, env: {} })).toContain('%');
});

test('an API: its credentials, not its document', () => {
  const openapi = {
    url: 'https://api',
    schema: { info: 'public' },
    security: { type: 'apiKey', apiKey: { value: 'k-2' } },
  };
  expect(secretsIn({ type: 'openapi', openapi, headers: { 'X-Key': 'k-1' }, env: {} })).toEqual(['k-1', 'k-2']);
});
