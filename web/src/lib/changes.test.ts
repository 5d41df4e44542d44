import { expect, test } from 'vitest';
import { changesOf } from './changes.ts';

test('what changed is one line for each value, with what was and is', () => {
  expect(
    changesOf({
      before: { mcpServers: { a: { enabled: true, env: { KEY: '••••' } } } },
      after: { mcpServers: { a: { enabled: false, args: ['-y', 'x'], env: { KEY: '•••• (changed)' } } } },
    }),
  ).toEqual([
    { path: ['mcpServers', 'a', 'enabled'], before: 'true', after: 'false' },
    { path: ['mcpServers', 'a', 'env', 'KEY'], before: '••••', after: '•••• (changed)' },
    { path: ['mcpServers', 'a', 'args'], before: undefined, after: '["-y","x"]' },
  ]);
  expect(changesOf({})).toEqual([]);
});
