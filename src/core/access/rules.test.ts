import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { entry, group, key, type Parts, server, settings, user } from '../../../test/kit/snapshots.ts';
import { isAdmin, isGone } from './identity.ts';
import { reaches, resolve } from './rules.ts';
import { anonymousOutside, type Principal, principalFromId, principalId } from './principal.ts';
import type { Scope } from './scope.ts';
import type { KeySettings } from '../settings/key.ts';

const all: Scope = { kind: 'all' };
const named = (name: string): Scope => ({ kind: 'named', name });
const asUser = (username: string): Principal => ({ kind: 'user', username });
const asKey = (id: string): Principal => ({ kind: 'key', id });
const anonymous: Principal = { kind: 'anonymous' };
const names = (parts: Parts, who: Principal, scope: Scope) =>
  resolve(settings(parts), who, scope).members.map((member) => member.server.name);

describe('a user reaches a server', () => {
  test.each([
    ['as an admin', {}, { role: 'admin' as const }, true],
    ['as its owner', { owner: 'ann' }, {}, true],
    ['on their list', {}, { servers: ['s'] }, true],
    ['that is public', { visibility: 'public' as const }, {}, true],
    ['that is shared with them', { visibility: 'group' as const, sharedWithUsers: ['ann'] }, {}, true],
    [
      'only listed as shared while it is private',
      { visibility: 'private' as const, sharedWithUsers: ['ann'] },
      {},
      false,
    ],
    ['that is shared with others', { visibility: 'group' as const, sharedWithUsers: ['bob'] }, {}, false],
    ['of which nothing is said', {}, {}, false],
  ])('%s: %#', (_, serverMore, userMore, expected) => {
    const parts = { servers: [server('s', serverMore)], users: [user('ann', userMore)] };
    expect(names(parts, asUser('ann'), all)).toEqual(expected ? ['s'] : []);
    expect(names(parts, asUser('ann'), named('s'))).toEqual(expected ? ['s'] : []);
    const snapshot = settings(parts);
    expect(reaches(snapshot, asUser('ann'), server('s', serverMore))).toBe(expected);
  });

  test('through a group of theirs, and then sees what the group selects, on every endpoint', () => {
    const parts = {
      servers: [server('s')],
      groups: [group('g', [entry('s', { tools: ['read'] })])],
      users: [user('ann', { groups: ['id-g'] })],
    };
    for (const scope of [all, named('s'), named('g'), named('id-g')]) {
      const [member] = resolve(settings(parts), asUser('ann'), scope).members;
      expect(member?.tools).toEqual(['read']);
    }
  });

  test('through two groups with the tools of both', () => {
    const parts = {
      servers: [server('s')],
      groups: [group('g', [entry('s', { tools: ['a', 'b'] })]), group('h', [entry('s', { tools: ['b', 'c'] })])],
      users: [user('ann', { groups: ['g', 'h'] })],
    };
    expect(resolve(settings(parts), asUser('ann'), all).members[0]?.tools).toEqual(['a', 'b', 'c']);
    expect(resolve(settings(parts), asUser('ann'), named('g')).members[0]?.tools).toEqual(['a', 'b']);
  });

  test('no longer once they are gone', () => {
    expect(names({ servers: [server('s', { visibility: 'public' })] }, asUser('ann'), all)).toEqual([]);
  });
});

describe('a principal', () => {
  const snapshot = settings({
    users: [user('ann', { createdAt: '2026-01-01T00:00:00Z' }), user('root', { role: 'admin' })],
    keys: [
      key('open'),
      key('off', { enabled: false }),
      key('anns', { kind: 'user', owner: 'ann' }),
      key('bobs', { kind: 'user', owner: 'bob' }),
    ],
  });
  test.each<[string, Principal, boolean]>([
    ['nobody', anonymous, false],
    ['an admin', asUser('root'), false],
    ['a user', { kind: 'user', username: 'ann', since: '2026-01-01T00:00:00Z' }, false],
    ['an earlier user of that name', { kind: 'user', username: 'ann', since: '2025-01-01T00:00:00Z' }, true],
    ['no user any more', asUser('bob'), true],
    ['a key without an owner', asKey('open'), false],
    ['a key that is switched off', asKey('off'), true],
    ['no key any more', asKey('none'), true],
    ['a user’s key', asKey('anns'), false],
    ['a key whose owner is gone', asKey('bobs'), true],
  ])('that is %s is there or gone', (_, principal, expected) => {
    expect(isGone(snapshot, principal)).toBe(expected);
  });
});

describe('anonymous', () => {
  test('sees the enabled servers that are not marked private or group', () => {
    const servers = [
      server('open'),
      server('public', { visibility: 'public' }),
      server('private', { visibility: 'private' }),
      server('group', { visibility: 'group' }),
      server('off', { enabled: false }),
    ];
    expect(names({ servers }, anonymous, all)).toEqual(['open', 'public']);
  });

  test('finds no private group, and in its place the server of that name', () => {
    const parts = {
      servers: [server('x'), server('inside')],
      groups: [group('x', [entry('inside')], { visibility: 'private' })],
    };
    expect(names(parts, anonymous, named('x'))).toEqual(['x']);
    expect(names(parts, asUser('nobody'), named('x'))).toEqual([]);
  });
});

describe('anonymous over plain HTTP from outside', () => {
  test('sees what is public in so many words, and nothing else', () => {
    const servers = [
      server('unset'),
      server('public', { visibility: 'public' }),
      server('private', { visibility: 'private' }),
      server('group', { visibility: 'group' }),
      server('off', { visibility: 'public', enabled: false }),
      server('bobs', { visibility: 'public', owner: 'bob' }),
    ];
    const parts = {
      servers,
      groups: [
        group(
          'g',
          servers.map(({ name }) => entry(name)),
        ),
      ],
      users: [user('bob')],
    };
    expect(names(parts, anonymousOutside, all)).toEqual(['public']);
    expect(names(parts, anonymousOutside, named('g'))).toEqual(['public']);
    expect(names(parts, anonymousOutside, { kind: 'smart', group: undefined })).toEqual(['public']);
    for (const { name } of servers) {
      expect(names(parts, anonymousOutside, { kind: 'server', name })).toEqual(name === 'public' ? [name] : []);
    }
  });

  test('is not who anonymous on this machine is', () => {
    expect(principalId(anonymousOutside)).not.toBe(principalId(anonymous));
    expect(principalFromId(principalId(anonymousOutside))).toEqual(anonymousOutside);
  });
});

describe('a server of a user', () => {
  const whole = { kind: 'user', owner: undefined, accessType: 'all' } as const;
  const world = (more: Parameters<typeof server>[1], adminMore: Parameters<typeof user>[1] = {}) => ({
    servers: [server('s', { owner: 'bob', ...more })],
    groups: [group('g', [entry('s')])],
    users: [user('bob'), user('ann'), user('cid'), user('root', { role: 'admin', ...adminMore })],
    keys: [
      key('all'),
      key('named', { accessType: 'servers', allowedServers: ['s'] }),
      key('group', { accessType: 'groups', allowedGroups: ['g'] }),
      key('roots', { ...whole, owner: 'root' }),
      key('bobs', { ...whole, owner: 'bob' }),
    ],
  });
  /** Who is shown it to call, at the endpoint of all servers, of the group or of the server itself. */
  const seenBy = (parts: Parts) =>
    [
      anonymous,
      anonymousOutside,
      ...['bob', 'ann', 'cid', 'root'].map(asUser),
      ...['all', 'named', 'group', 'roots', 'bobs'].map(asKey),
    ]
      .filter((who) => [all, named('g'), named('s')].some((scope) => names(parts, who, scope).length > 0))
      .map((who) =>
        who.kind === 'anonymous' ? (who.only ?? 'anonymous') : who.kind === 'user' ? who.username : who.id,
      );
  const own = ['bob', 'named', 'group', 'bobs'];
  const everybody = ['anonymous', 'public', 'bob', 'ann', 'cid', 'root', 'all', 'named', 'group', 'roots', 'bobs'];

  test.each<[string, Parameters<typeof server>[1], string[]]>([
    ['that says nothing', {}, own],
    ['that is private', { visibility: 'private' }, own],
    ['that is shared', { visibility: 'group', sharedWithUsers: ['ann'] }, ['bob', 'ann', 'named', 'group', 'bobs']],
    ['that its owner calls public', { visibility: 'public' }, own],
    [
      'that its owner calls public and shares',
      { visibility: 'public', sharedWithUsers: ['ann'] },
      ['bob', 'ann', 'named', 'group', 'bobs'],
    ],
    ['that an admin made public', { visibility: 'public', publishedBy: 'root' }, everybody],
    ['that an admin made public before it was private', { visibility: 'private', publishedBy: 'root' }, own],
    [
      'that is shared with an admin',
      { visibility: 'group', sharedWithUsers: ['root'] },
      ['bob', 'root', 'named', 'group', 'roots', 'bobs'],
    ],
  ])('%s is seen by its owner, those it is shared with and keys that name it: %#', (_, more, expected) => {
    expect(seenBy(world(more)).toSorted()).toEqual(expected.toSorted());
  });

  test('is before an admin who has it on their list', () => {
    expect(seenBy(world({}, { servers: ['s'] }))).toEqual(expect.arrayContaining(['root', 'roots']));
  });

  test('is known to every admin, who manages it', () => {
    const parts = world({ visibility: 'private' });
    const [one] = parts.servers;
    expect(one && reaches(settings(parts), asUser('root'), one)).toBe(true);
    for (const who of [anonymous, asUser('ann'), asKey('all'), asKey('roots')])
      expect(one && reaches(settings(parts), who, one)).toBe(false);
  });

  test('of a former admin is one too', () => {
    const parts = { servers: [server('s', { owner: 'eve', visibility: 'public' })] };
    expect(names({ ...parts, users: [user('eve', { role: 'admin' })] }, anonymous, all)).toEqual(['s']);
    expect(names({ ...parts, users: [user('eve')] }, anonymous, all)).toEqual([]);
  });
});

test('whatever the settings, a user’s server is seen without an admin’s word only by those it was given to', () => {
  const visibility = fc.constantFrom(undefined, 'private' as const, 'group' as const, 'public' as const);
  const world = fc.record({
    visibility,
    sharedWithUsers: fc.subarray(['ann', 'root']),
    members: fc.subarray(['ann', 'root']),
    onList: fc.subarray(['ann', 'root']),
    groupVisibility: visibility,
    stdio: fc.boolean(),
    scope: fc.constantFrom<Scope>(
      all,
      named('s'),
      named('g'),
      { kind: 'server', name: 's' },
      { kind: 'smart', group: undefined },
      { kind: 'smart', group: 'g' },
    ),
  });
  fc.assert(
    fc.property(world, ({ visibility, sharedWithUsers, members, onList, groupVisibility, stdio, scope }) => {
      const remote = { type: 'streamable-http', url: 'https://x.example', headers: {} } as never;
      const lists = (name: string) => ({
        groups: members.includes(name) ? ['g'] : [],
        servers: onList.includes(name) ? ['s'] : [],
      });
      const parts = {
        servers: [server('s', { owner: 'bob', visibility, sharedWithUsers, ...(!stdio && { transport: remote }) })],
        groups: [group('g', [entry('s')], { visibility: groupVisibility })],
        users: [user('bob'), user('ann', lists('ann')), user('root', { role: 'admin', ...lists('root') })],
        keys: [key('all'), key('roots', { kind: 'user', owner: 'root' })],
      };
      for (const who of [anonymous, anonymousOutside, asKey('all')]) expect(names(parts, who, scope)).toEqual([]);
      for (const name of ['ann', 'root']) {
        const isShared = (visibility === 'group' || visibility === 'public') && sharedWithUsers.includes(name);
        const isGiven = isShared || members.includes(name) || onList.includes(name);
        if (!isGiven) expect(names(parts, asUser(name), scope)).toEqual([]);
      }
      // A key of an admin's own shows what the admin is shown.
      expect(names(parts, asKey('roots'), scope)).toEqual(names(parts, asUser('root'), scope));
    }),
  );
});

test('whatever the settings, from outside anonymous sees no more than on this machine', () => {
  const visibility = fc.constantFrom(undefined, 'private' as const, 'group' as const, 'public' as const);
  const one = fc.record({
    visibility,
    owner: fc.constantFrom('admin', 'bob', 'gone'),
    publishedBy: fc.constantFrom(undefined, 'root'),
    enabled: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 6 }), visibility, (given, groupVisibility) => {
      const servers = given.map((more, i) => server(`s${i}`, more));
      const parts = {
        servers,
        groups: [
          group(
            'g',
            servers.map(({ name }) => entry(name)),
            { visibility: groupVisibility },
          ),
        ],
        users: [user('bob'), user('root', { role: 'admin' })],
      };
      for (const scope of [all, named('g'), named('s0')]) {
        const seen = names(parts, anonymousOutside, scope);
        expect(names(parts, anonymous, scope)).toEqual(expect.arrayContaining(seen));
        for (const name of seen) expect(servers.find((s) => s.name === name)?.visibility).toBe('public');
      }
    }),
  );
});

describe('an access key', () => {
  const parts = (more: Partial<KeySettings>) => ({
    servers: [server('a'), server('b'), server('c', { visibility: 'private' })],
    groups: [group('ab', [entry('a'), entry('b')]), group('a-only', [entry('a')]), group('empty', [])],
    keys: [key('k', more)],
  });

  test.each([
    ['all', {}, ['a', 'b', 'c'], ['a', 'b'], ['a']],
    ['groups', { allowedGroups: ['ab'] }, [], ['a', 'b'], []],
    ['servers', { allowedServers: ['a'] }, [], [], ['a']],
    ['custom', { allowedServers: ['a'], allowedGroups: ['id-ab'] }, [], ['a', 'b'], ['a']],
  ] as const)('of scope %s opens just what it names', (accessType, more, everywhere, inGroup, single) => {
    const given = parts({ accessType, ...more });
    expect(names(given, asKey('k'), all)).toEqual(everywhere);
    expect(names(given, asKey('k'), named('ab'))).toEqual(inGroup);
    expect(names(given, asKey('k'), named('a'))).toEqual(single);
  });

  test('for servers opens a group only when it names every server in it', () => {
    expect(names(parts({ accessType: 'servers', allowedServers: ['a'] }), asKey('k'), named('a-only'))).toEqual(['a']);
    expect(names(parts({ accessType: 'servers', allowedServers: ['a'] }), asKey('k'), named('ab'))).toEqual([]);
    const both = parts({ accessType: 'servers', allowedServers: ['a', 'b'] });
    expect(names(both, asKey('k'), named('ab'))).toEqual(['a', 'b']);
  });

  test('that is disabled or unknown opens nothing', () => {
    expect(names(parts({ enabled: false }), asKey('k'), all)).toEqual([]);
    expect(names(parts({}), asKey('other'), all)).toEqual([]);
  });

  test('of a user acts as its owner with the rights of this moment, but never manages', () => {
    const given = {
      ...parts({ kind: 'user', owner: 'ann', accessType: 'groups' }),
      users: [user('ann', { servers: ['c'] })],
    };
    expect(names(given, asKey('k'), all)).toEqual(['c']);
    expect(names({ ...given, users: [] }, asKey('k'), all)).toEqual([]);
    const admin = settings({ ...given, users: [user('ann', { role: 'admin' })] });
    expect(isAdmin(admin, asKey('k'))).toBe(false);
    expect(isAdmin(admin, asUser('ann'))).toBe(true);
  });
});

test('whatever the settings, a scope never shows more of a server than the global endpoint grants', () => {
  const visibility = fc.constantFrom(undefined, 'private' as const, 'group' as const, 'public' as const);
  const selection = fc.oneof(fc.constant('all' as const), fc.subarray(['t1', 't2', 't3']));
  const serverNames = ['a', 'b', 'c'];
  const world = fc.record({
    servers: fc.tuple(
      ...serverNames.map((name) => visibility.map((v) => server(name, { visibility: v, owner: 'boss' }))),
    ),
    groups: fc.array(fc.record({ servers: fc.subarray(serverNames), tools: selection, visibility }), { maxLength: 3 }),
    userServers: fc.subarray(serverNames),
    memberOf: fc.subarray([0, 1, 2]),
  });
  fc.assert(
    fc.property(world, ({ servers, groups, userServers, memberOf }) => {
      const parts = {
        servers,
        groups: groups.map((g, i) =>
          group(
            `g${i}`,
            g.servers.map((name) => entry(name, { tools: g.tools })),
            { visibility: g.visibility },
          ),
        ),
        users: [user('ann', { servers: userServers, groups: memberOf.map((i) => `id-g${i}`) })],
      };
      const snapshot = settings(parts);
      const granted = new Map(resolve(snapshot, asUser('ann'), all).members.map((m) => [m.server.name, m.tools]));
      for (const scope of [...serverNames.map(named), ...groups.map((_, i) => named(`g${i}`))]) {
        for (const member of resolve(snapshot, asUser('ann'), scope).members) {
          const most = granted.get(member.server.name);
          expect(most).toBeDefined();
          const shown = member.tools === 'all' ? ['t1', 't2', 't3'] : member.tools;
          if (most !== 'all') expect(most).toEqual(expect.arrayContaining([...shown]));
        }
      }
    }),
  );
});
