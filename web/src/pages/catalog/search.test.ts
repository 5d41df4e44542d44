import { expect, test } from 'vitest';
import { isForRegistry } from './search.ts';

test.each(['github', 'web search', 'io.github.someone/notes', '数据库', 'postgres 16'])(
  '%s is searched for',
  (text) => {
    expect(isForRegistry(text)).toBe(true);
  },
);

test.each([
  '',
  'https://mcp.example.com/mcp?key=abc',
  'API_KEY=abc',
  'node server.js --token abc',
  '{"mcpServers"',
  'Bearer "abc"',
  'a'.repeat(33),
  'word '.repeat(20),
])('%s stays on the hub', (text) => {
  expect(isForRegistry(text)).toBe(false);
});
