import { describe, expect, test } from 'vitest';
import { entry, group, key, server, settings, user } from '../../../test/kit/snapshots.ts';
import type { Principal } from './principal.ts';
import { mustSetUpFactor, needsFactor, seesEverything } from './identity.ts';
import { closedScope, reachesGroup, reachesMember, showsMoreToSome } from './rules.ts';
import type { Scope } from './scope.ts';

// What is asked about a caller or an endpoint besides which servers are there (`rules.test.ts`).

const asUser = (username: string): Principal => ({ kind: 'user', username });
const asKey = (id: string): Principal => ({ kind: 'key', id });
const anonymous: Principal = { kind: 'anonymous' };
const smart = (of?: string): Scope => ({ kind: 'smart', group: of });

test.each<[Scope, boolean]>([
  [{ kind: 'all' }, true],
  [smart(), true],
  [smart('g'), false],
  [{ kind: 'named', name: 'g' }, false],
])('the endpoint %j is closed where that of all servers is switched off: %s', (scope, isClosed) => {
  const of = (enableGlobalRoute: boolean) => {
    const { system } = settings({});
    return { system: { ...system, routing: { ...system.routing, enableGlobalRoute } } };
  };
  expect(closedScope(of(true), scope)).toBeUndefined();
  expect(closedScope(of(false), scope)?.code).toBe(isClosed ? 'forbidden' : undefined);
  if (isClosed) expect(closedScope(of(false), scope)?.message).toContain('routing.enableGlobalRoute');
});

describe('a member of a group', () => {
  const parts = {
    servers: [server('s'), server('other')],
    groups: [group('g', [entry('s')], { visibility: 'private' }), group('h', [entry('other')])],
    users: [user('ann', { groups: ['g'] }), user('bob'), user('root', { role: 'admin' })],
    keys: [
      key('of-g', { accessType: 'groups', allowedGroups: ['g'] }),
      key('of-h', { accessType: 'groups', allowedGroups: ['h'] }),
    ],
  };
  test.each<[Principal, boolean]>([
    [asUser('root'), true],
    [asUser('ann'), true],
    [asUser('bob'), false],
    [asUser('gone'), false],
    [asKey('of-g'), true],
    [asKey('of-h'), false],
    [asKey('gone'), false],
  ])('is known to %j: %s', (who, isKnown) => {
    const snapshot = settings(parts);
    const [g] = parts.groups;
    expect(g && reachesMember(snapshot, who, g, server('s'))).toBe(isKnown);
    expect(g && reachesGroup(snapshot, who, g)).toBe(isKnown);
  });
});

describe('an endpoint shows some more than a caller without a credential', () => {
  const open = { visibility: undefined };
  const snapshot = settings({
    servers: [server('open', open), server('private', { visibility: 'private' })],
    groups: [
      group('open-group', [entry('open')]),
      group('mixed', [entry('open'), entry('private')]),
      group('private-group', [entry('open')], { visibility: 'private' }),
    ],
  });
  test.each<[Scope, boolean]>([
    [{ kind: 'all' }, true],
    [{ kind: 'named', name: 'open' }, false],
    [{ kind: 'server', name: 'open' }, false],
    [{ kind: 'named', name: 'private' }, true],
    [{ kind: 'server', name: 'private' }, true],
    [{ kind: 'named', name: 'open-group' }, false],
    [{ kind: 'named', name: 'id-open-group' }, false],
    [{ kind: 'named', name: 'mixed' }, true],
    [{ kind: 'named', name: 'private-group' }, true],
    [{ kind: 'named', name: 'none' }, false],
  ])('%j: %s', (scope, more) => {
    expect(showsMoreToSome(snapshot, scope)).toBe(more);
  });
  test('not where all is open', () => {
    expect(showsMoreToSome(settings({ servers: [server('open', open)] }), { kind: 'all' })).toBe(false);
  });
});

describe('a second factor', () => {
  const of = (requireSecondFactor: 'admins' | 'everyone' | undefined) => {
    const made = settings({ users: [user('ann'), user('root', { role: 'admin' })] });
    return { ...made, system: { ...made.system, requireSecondFactor } };
  };
  test.each([
    [undefined, false, false],
    ['admins', false, true],
    ['everyone', true, true],
  ] as const)('demanded of %s is needed by a user: %s, by an admin: %s', (whom, byUser, byAdmin) => {
    const snapshot = of(whom);
    expect(needsFactor(snapshot, { role: 'user' })).toBe(byUser);
    expect(needsFactor(snapshot, { role: 'admin' })).toBe(byAdmin);
    const alone = (username: string): Principal => ({ kind: 'user', username, passwordAlone: true });
    expect(mustSetUpFactor(snapshot, alone('ann'))).toBe(byUser);
    expect(mustSetUpFactor(snapshot, alone('root'))).toBe(byAdmin);
    expect(mustSetUpFactor(snapshot, alone('gone'))).toBe(false);
    for (const who of [asUser('root'), asKey('k'), anonymous]) expect(mustSetUpFactor(snapshot, who)).toBe(false);
  });
});

test.each<[Principal, boolean]>([
  [asUser('root'), true],
  [asUser('ann'), false],
  [asUser('gone'), false],
  [asKey('whole'), true],
  [asKey('part'), false],
  [anonymous, false],
])('%j may know of every server: %s', (who, sees) => {
  const snapshot = settings({
    users: [user('ann'), user('root', { role: 'admin' })],
    keys: [key('whole'), key('part', { accessType: 'servers', allowedServers: ['s'] })],
  });
  expect(seesEverything(snapshot, who)).toBe(sees);
});
