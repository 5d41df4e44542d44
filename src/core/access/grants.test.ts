import { describe, expect, test } from 'vitest';
import type { GroupSettings } from '../settings/group.ts';
import { entry, group, key, type Parts, server, settings, user } from '../../../test/kit/snapshots.ts';
import { grantOf, isTrusted, keyOpensGroup, keyOpensServer, seesGroup } from './grants.ts';
import type { Identity } from './identity.ts';

// What gives access, and what cuts it down (`rules.test.ts` has the same by endpoints).

const everything = { tools: 'all', prompts: 'all', resources: 'all', readOnly: false };
const asUser = (username: string, more: Parameters<typeof user>[1] = {}, rest: object = {}): Identity => ({
  kind: 'user',
  user: user(username, more),
  ...rest,
});
const part = (tools: string[], prompts: string[], resources: string[]) => ({ tools, prompts, resources });
const grant = (parts: Parts, who: Identity, name = 's') =>
  grantOf(settings(parts), who, parts.servers?.find((one) => one.name === name) ?? server(name));

describe('what groups give', () => {
  const parts: Parts = {
    servers: [server('s', { visibility: 'private' }), server('other')],
    groups: [
      group('g', [entry('other'), entry('s', part(['a'], ['p'], ['x://1']))]),
      group('h', [entry('s', { tools: ['a', 'b'], prompts: [], resources: 'all' })]),
      group('whole', [entry('s')]),
      group('last', [entry('s', part(['z'], [], ['x://2']))]),
      group('without', [entry('other')]),
    ],
  };

  test.each([
    [['g'], { ...part(['a'], ['p'], ['x://1']), readOnly: false }],
    [['g', 'id-h'], { tools: ['a', 'b'], prompts: ['p'], resources: 'all', readOnly: false }],
    [['h', 'g'], { tools: ['a', 'b'], prompts: ['p'], resources: 'all', readOnly: false }],
    [['g', 'whole'], everything],
    [['h', 'last'], { tools: ['a', 'b', 'z'], prompts: [], resources: 'all', readOnly: false }],
    [['without'], undefined],
    [[], undefined],
  ])('to members of %j', (groups, expected) => {
    expect(grant(parts, asUser('ann', { groups }))).toEqual(expected);
    expect(grant(parts, { kind: 'issued', groups })).toEqual(expected);
  });
});

describe('a consent cuts down what its user reaches', () => {
  const parts: Parts = {
    servers: [
      server('s', { visibility: 'public' }),
      server('mine', { owner: 'ann' }),
      server('hidden', { visibility: 'private' }),
    ],
    groups: [
      group('g', [entry('s', part(['a'], [], ['x://1'])), entry('mine')]),
      group('h', [entry('s', part(['b'], ['p'], []))]),
      group('private', [entry('s')], { visibility: 'private' }),
    ],
  };
  const app = (groups: string[], servers: string[] = []): Identity => asUser('ann', {}, { reach: { groups, servers } });

  test.each([
    ['s', app([], ['s']), everything],
    ['s', app([], ['mine']), undefined],
    ['s', app([]), undefined],
    ['s', app(['id-g']), { ...part(['a'], [], ['x://1']), readOnly: false }],
    ['s', app(['id-g', 'id-h']), { ...part(['a', 'b'], ['p'], ['x://1']), readOnly: false }],
    // By id alone, and not by a group that the user does not see.
    ['s', app(['g']), undefined],
    ['s', app(['id-private']), undefined],
    ['mine', app(['id-g']), everything],
    ['mine', app(['id-h']), undefined],
    // It gives nothing that the user has not.
    ['hidden', app([], ['hidden']), undefined],
  ])('%s: %j', (name, who, expected) => {
    expect(grant(parts, who, name)).toEqual(expected);
  });

  test('that is cut down by groups already', () => {
    const world: Parts = {
      servers: [server('s', { visibility: 'private' })],
      groups: [
        group('g', [entry('s', { tools: ['a', 'b'], prompts: ['p'] })]),
        group('h', [entry('s', { tools: ['b', 'c'] })]),
      ],
    };
    const who = asUser('ann', { groups: ['g'] }, { reach: { groups: ['id-h'], servers: [] } });
    expect(grant(world, who)).toEqual({ tools: ['b'], prompts: ['p'], resources: 'all', readOnly: false });
  });
});

test('a key that only reads says so, a key of a user too', () => {
  const parts = { servers: [server('s')] };
  expect(grant(parts, { kind: 'key', key: key('k') })).toEqual(everything);
  expect(grant(parts, { kind: 'key', key: key('k', { readOnly: true }) })).toEqual({ ...everything, readOnly: true });
  const root = { role: 'admin' } as const;
  expect(grant(parts, asUser('root', root, { readOnly: true }))).toEqual({ ...everything, readOnly: true });
  expect(grant(parts, asUser('root', root))).toEqual(everything);
});

test('a server is trusted that an admin owns, or that is a program', () => {
  const remote = { transport: { type: 'streamable-http', url: 'https://x.example', headers: {} } as never };
  const { users } = { users: [user('ann'), user('root', { role: 'admin' })] };
  const isOne = (more: Parameters<typeof server>[1], who = users) =>
    isTrusted(settings({ users: who }), server('s', more));
  expect(isOne({ owner: 'ann' })).toBe(true);
  expect(isOne({ ...remote, owner: 'ann' })).toBe(false);
  expect(isOne({ ...remote, owner: 'root' })).toBe(true);
  // Of `admin` where there is no such user; not where that user is no admin.
  expect(isOne(remote)).toBe(true);
  expect(isOne(remote, [user('admin')])).toBe(false);
  expect(isOne({ ...remote, owner: 'gone' })).toBe(false);
});

describe('a group is seen', () => {
  const of = (more: Partial<GroupSettings>) => group('g', [entry('r'), entry('s')], { owner: 'boss', ...more });
  const callers: Readonly<Record<string, Identity>> = {
    anonymous: { kind: 'anonymous', only: undefined },
    ann: asUser('ann'),
    member: asUser('member', { groups: ['id-g'] }),
    boss: asUser('boss'),
    root: asUser('root', { role: 'admin' }),
    key: { kind: 'key', key: key('k', { accessType: 'groups' }) },
    issued: { kind: 'issued', groups: ['g'] },
    'issued otherwise': { kind: 'issued', groups: ['h'] },
    'app of the group': asUser('boss', {}, { reach: { groups: ['id-g'], servers: [] } }),
    'app of its server': asUser('boss', {}, { reach: { groups: [], servers: ['s'] } }),
    'app of others': asUser('boss', {}, { reach: { groups: ['g'], servers: ['t'] } }),
  };
  const open = Object.keys(callers).filter((name) => name !== 'issued otherwise' && name !== 'app of others');
  const own = ['member', 'boss', 'root', 'key', 'issued', 'app of the group', 'app of its server'];

  test.each([
    ['nothing', {}, open],
    ['public', { visibility: 'public' as const }, open],
    ['private', { visibility: 'private' as const, sharedWithUsers: ['ann'] }, own],
    ['shared', { visibility: 'group' as const, sharedWithUsers: ['ann'] }, ['ann', ...own]],
    ['shared with others', { visibility: 'group' as const, sharedWithUsers: ['bob'] }, own],
  ])('that says %s', (_, more, names) => {
    expect(Object.keys(callers).filter((name) => seesGroup(callers[name] as Identity, of(more)))).toEqual(names);
  });
});

describe('a key opens', () => {
  const groups = [group('g', [entry('a'), entry('b')]), group('h', [entry('a')]), group('empty', [])];
  test.each([
    ['all', [], [], ['g', 'h', 'empty'], ['a', 'b']],
    ['groups', ['id-g', 'empty'], ['a'], ['g', 'empty'], []],
    ['groups', ['h'], ['a', 'b'], ['h'], []],
    ['servers', ['g', 'empty'], ['a'], ['h'], ['a']],
    ['servers', [], ['a', 'b'], ['g', 'h'], ['a', 'b']],
    ['custom', ['empty'], ['a'], ['h', 'empty'], ['a']],
    ['custom', ['g'], [], ['g'], []],
  ] as const)('%s, of groups %j and servers %j', (accessType, allowedGroups, allowedServers, opened, servers) => {
    const one = key('k', { accessType, allowedGroups, allowedServers });
    expect(groups.filter((each) => keyOpensGroup(one, each)).map(({ name }) => name)).toEqual(opened);
    expect(['a', 'b'].filter((name) => keyOpensServer(one, name))).toEqual(servers);
  });
});
