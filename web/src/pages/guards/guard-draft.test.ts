import { expect, test } from 'vitest';
import { draftOf, guardOf, memberAt, moved, nameOf } from './guard-draft.ts';

test('a form that is not touched sends the guard as it was', () => {
  const guard = {
    id: 'pii',
    url: 'https://guard.example.com/check',
    on: ['call', 'result'],
    servers: ['crm'],
    timeoutMs: 900,
    onFailure: 'allow',
    secret: '••••',
    enabled: false,
  };
  expect(guardOf(draftOf(guard))).toEqual(guard);
  expect(guardOf(draftOf({ url: 'https://a.example', on: ['result'] }))).toEqual({
    url: 'https://a.example',
    on: ['result'],
  });
});

test('guards are moved by one place, and not beyond the ends', () => {
  expect(moved(['a', 'b', 'c'], 2, -1)).toEqual(['a', 'c', 'b']);
  expect(moved(['a', 'b', 'c'], 0, -1)).toEqual(['a', 'b', 'c']);
  expect(moved(['a', 'b', 'c'], 2, 1)).toEqual(['a', 'b', 'c']);
});

test('what the hub says of a place in the list is found by its member', () => {
  expect(memberAt('systemConfig.guards[1].url', 1)).toBe('url');
  expect(memberAt('systemConfig.guards.1.url', 1)).toBe('url');
  expect(memberAt('systemConfig.guards[1].url', 0)).toBeUndefined();
  expect(nameOf({ url: 'x' }, 1)).toBe('2');
});
