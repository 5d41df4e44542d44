import { expect, test } from 'vitest';
import { draftOf, edited, guardOf, memberAt, moved, nameOf, placeOf } from './guard-draft.ts';

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

const url = 'https://guard.example';
const first = { url, on: ['call'], secret: '••••' };
const second = { url, on: ['call', 'result'] };

test('a form saves what it has changed of the guard that it was opened with, wherever that is now', () => {
  expect(edited([second, first], first, { ...draftOf(first), timeout: '900' })).toEqual({
    guards: [second, { ...first, timeoutMs: 900 }],
    place: 1,
  });
  const named = { ...first, id: 'pii' };
  const meanwhile = { ...named, servers: ['crm'] };
  const changed = { ...draftOf(named), id: 'people', secret: '' };
  expect(edited([meanwhile], named, changed)?.guards).toEqual([{ id: 'people', url, on: ['call'], servers: ['crm'] }]);
});

test('a guard that is gone is neither saved in the place of another nor added once more', () => {
  expect(edited([second], first, { ...draftOf(first), timeout: '900' })).toBeUndefined();
  expect(placeOf([second], first)).toBe(-1);
  expect(edited([second], undefined, draftOf(first))?.guards).toEqual([second, first]);
});
