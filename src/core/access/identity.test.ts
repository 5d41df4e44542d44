import { afterEach, describe, expect, test, vi } from 'vitest';
import { key, settings, user } from '../../../test/kit/snapshots.ts';
import { isAdmin, isGone, isInForce, needsCredential, seesEverything, userOf } from './identity.ts';
import { anonymous, appPrincipal, issuedPrincipal, type Principal } from './principal.ts';

afterEach(() => {
  vi.useRealTimers();
});

const since = '2026-01-01T00:00:00Z';
const ann = user('ann', { createdAt: since });
const root = user('root', { role: 'admin' });
const snapshot = settings({
  users: [user('ann'), ann, root],
  keys: [
    key('open'),
    key('part', { accessType: 'groups' }),
    key('off', { enabled: false }),
    key('anns', { kind: 'user', owner: 'ann' }),
    key('anns-off', { kind: 'user', owner: 'ann', enabled: false }),
    key('roots', { kind: 'user', owner: 'root' }),
    key('of-none', { kind: 'user', owner: 'gone' }),
    key('named', { owner: 'ann' }),
  ],
});
const asUser = (username: string, from?: string): Principal => ({ kind: 'user', username, since: from });
const asKey = (id: string): Principal => ({ kind: 'key', id });
const app = (of: typeof ann) => appPrincipal('consent', of, undefined);

describe('the user behind a principal', () => {
  test.each<[string, Principal, object | undefined]>([
    ['a user', asUser('ann', since), ann],
    ['a user of another time', asUser('ann', '2025-01-01T00:00:00Z'), undefined],
    ['a user that is gone', asUser('gone'), undefined],
    ['an app', app(ann), ann],
    ['an app of a user that is gone', app(user('gone')), undefined],
    ['a key of a user', asKey('roots'), root],
    ['a key of a user that is gone', asKey('of-none'), undefined],
    ['a key that is switched off', asKey('anns-off'), undefined],
    ['a key that is gone', asKey('gone'), undefined],
    ['a key of the hub, whatever its owner', asKey('named'), undefined],
    ['no credential', anonymous, undefined],
    ['a token', issuedPrincipal('https://id.example', 'ann', 'ann', []), undefined],
  ])('is that of %s', (_, principal, expected) => {
    expect(userOf(snapshot, principal)).toBe(expected);
  });

  test('is gone with it', () => {
    const gone = [asUser('gone'), app(user('gone')), asKey('of-none'), asKey('anns-off'), asKey('off'), asKey('gone')];
    expect(gone.map((principal) => isGone(snapshot, principal))).toEqual(gone.map(() => true));
    const there = [asUser('ann', since), app(ann), asKey('anns'), asKey('open'), anonymous];
    expect(there.map((principal) => isGone(snapshot, principal))).toEqual(there.map(() => false));
  });
});

test('an admin is a user, and neither a key nor an app of one', () => {
  const who = [asUser('root'), asUser('ann', since), asUser('gone'), asKey('roots'), app(root), anonymous];
  expect(who.map((principal) => isAdmin(snapshot, principal))).toEqual([true, false, false, false, false, false]);
});

test('an admin, their own key and a key for everything may know of every server', () => {
  const who = [asUser('root'), asKey('roots'), asKey('open'), app(root), asKey('part'), asKey('anns'), asKey('off')];
  expect(who.map((principal) => seesEverything(snapshot, principal))).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('a key is in force until it expires', () => {
  vi.useFakeTimers({ now: 1_000 });
  expect(isInForce(key('k'))).toBe(true);
  expect(isInForce(key('k', { enabled: false }))).toBe(false);
  expect(isInForce(key('k', { expiresAt: 1_001 }))).toBe(true);
  expect(isInForce(key('k', { expiresAt: 1_000 }))).toBe(false);
  expect(isInForce(key('k', { enabled: false, expiresAt: 2_000 }))).toBe(false);
});

test.each([
  [undefined, false, true],
  [true, true, true],
  [false, false, false],
])('where the settings say %s a credential is needed on this machine: %s, and outside: %s', (said, within, outside) => {
  const { system } = settings({});
  const given = { system: { ...system, routing: { ...system.routing, enableBearerAuth: said } } };
  expect([needsCredential(given, false), needsCredential(given, true)]).toEqual([within, outside]);
});
