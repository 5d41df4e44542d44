import { describe, expect, test } from 'vitest';
import { entry, group, key, server, settings, user } from '../../../test/kit/snapshots.ts';
import { anonymous, anonymousOutside, appPrincipal, issuedPrincipal, type Principal } from './principal.ts';
import { endpointNameOf } from './endpoint.ts';
import { remark } from '../remarks.ts';
import { granted, groupOf, groupsOf, reachesMember, resolve, whyReached } from './rules.ts';
import type { Scope } from './scope.ts';

// Why something is reached, and by which names.

const asUser = (username: string): Principal => ({ kind: 'user', username });
const asKey = (id: string): Principal => ({ kind: 'key', id });
const issued = (...values: string[]) => issuedPrincipal('https://id.example', 'x', 'x', values);
const named = (name: string): Scope => ({ kind: 'named', name });

const ann = user('ann', { groups: ['id-g'], servers: ['listed'] });
const plain = settings({
  servers: [
    server('anns', { owner: 'ann', visibility: 'private' }),
    server('listed', { visibility: 'private' }),
    server('open'),
    server('public', { visibility: 'public' }),
    server('shared', { visibility: 'group', sharedWithUsers: ['ann'] }),
    server('grouped', { visibility: 'private' }),
    server('off', { visibility: 'public', enabled: false }),
  ],
  groups: [
    group('without', [entry('open')]),
    group('g', [
      entry('open'),
      entry('grouped', { tools: ['t'], alias: 'x', pinnedTools: ['t'] }),
      entry('gone'),
      entry('off'),
    ]),
    group('private', [entry('grouped')], { visibility: 'private' }),
  ],
  users: [ann, user('root', { role: 'admin' })],
  keys: [
    key('whole'),
    key('part', { accessType: 'servers', allowedServers: ['open'], readOnly: true }),
    key('grouped', { accessType: 'groups', allowedGroups: ['id-g', 'private'] }),
    key('off', { enabled: false }),
    key('roots', { kind: 'user', owner: 'root' }),
  ],
});
const issuer = {
  issuer: 'https://id.example',
  audiences: [],
  jwksUri: undefined,
  usernameClaim: undefined,
  groupsClaim: 'groups',
  groups: new Map([['eng', ['g', 'without']]]),
};
const other = { ...issuer, issuer: 'https://other.example', groups: new Map([['eng', ['private']]]) };
const world = { ...plain, system: { ...plain.system, trustedIssuers: [other, issuer] } };
const serverOf = (name: string) => world.servers.get(name) ?? server(name);

describe('why a server is reached', () => {
  test.each<[Principal, string, string | undefined, string?]>([
    [asUser('ann'), 'anns', 'ann owns the server.'],
    [asUser('ann'), 'listed', 'The server is on the list of ann.'],
    [asUser('ann'), 'public', 'The server is public.'],
    [asUser('ann'), 'shared', 'The server is shared with ann.'],
    [asUser('ann'), 'grouped', 'The group "g" gives access.', 'g'],
    [asUser('root'), 'grouped', 'root is an admin.'],
    [asUser('root'), 'anns', undefined],
    [asUser('gone'), 'public', undefined],
    [anonymous, 'public', 'The server is public.'],
    [anonymous, 'open', 'The server has no visibility, and the caller is on this machine.'],
    [anonymous, 'shared', undefined],
    [anonymousOutside, 'open', undefined],
    [asKey('whole'), 'grouped', 'The access key "whole" opens it (all).', 'whole'],
    [asKey('part'), 'open', 'The access key "part" opens it (servers).', 'part'],
    [asKey('grouped'), 'grouped', 'The access key "grouped" opens a group with it.'],
    [asKey('roots'), 'open', 'root is an admin.'],
    [asKey('off'), 'public', undefined],
    [issued('eng'), 'grouped', 'The group "g" gives access.', 'g'],
    [issued('eng'), 'open', 'The group "without" gives access.', 'without'],
    [issued('other'), 'grouped', undefined],
    [appPrincipal('c', ann, undefined), 'listed', 'The server is on the list of ann.'],
    [appPrincipal('c', ann, { groups: [], servers: ['listed'] }), 'anns', undefined],
  ])('%j: %s', (who, name, reason, ref) => {
    const found = whyReached(world, who, serverOf(name));
    expect(found).toEqual(reason && { reason, said: expect.anything() as unknown, ...(ref !== undefined && { ref }) });
    if (found) expect(remark(found.said.code, found.said.values).text).toBe(reason);
  });
});

describe('what is known of a server', () => {
  const everything = { tools: 'all', prompts: 'all', resources: 'all', readOnly: false };
  test.each<[Principal, string, object | undefined]>([
    [asUser('root'), 'anns', everything],
    [asUser('ann'), 'grouped', { ...everything, tools: ['t'] }],
    [asUser('ann'), 'off', everything],
    [asUser('gone'), 'public', undefined],
    [asKey('part'), 'open', { ...everything, readOnly: true }],
    [asKey('part'), 'public', undefined],
    [asKey('grouped'), 'grouped', undefined],
    [asKey('roots'), 'anns', undefined],
    [anonymous, 'listed', undefined],
  ])('%j: %s', (who, name, expected) => {
    expect(granted(world, who, serverOf(name))).toEqual(expected);
  });

  test('in a group an admin knows of the servers of users too', () => {
    const anns = group('h', [entry('anns')]);
    expect(reachesMember(world, asUser('root'), anns, serverOf('anns'))).toBe(true);
    expect(reachesMember(world, asKey('roots'), anns, serverOf('anns'))).toBe(false);
  });
});

test.each<[Principal, string[]]>([
  [asUser('ann'), ['g']],
  [asUser('root'), []],
  [asUser('gone'), []],
  [anonymous, []],
  [asKey('whole'), []],
  [asKey('grouped'), ['g', 'private']],
  [asKey('off'), []],
  [issued('eng', 'other'), ['without', 'g']],
  [appPrincipal('c', ann, undefined), ['g']],
])('%j is in the groups %j', (who, names) => {
  expect(groupsOf(world, who).map(({ name }) => name)).toEqual(names);
});

describe('the group of an endpoint', () => {
  const smart = (group?: string): Scope => ({ kind: 'smart', group });
  test.each<[Principal, Scope, string | undefined]>([
    [anonymous, named('g'), 'g'],
    [anonymous, named('id-g'), 'g'],
    [anonymous, smart('g'), 'g'],
    [anonymous, named('private'), undefined],
    [asUser('root'), named('private'), 'private'],
    [asUser('gone'), named('g'), undefined],
    [anonymous, named('open'), undefined],
    [anonymous, smart(), undefined],
    [anonymous, { kind: 'all' }, undefined],
    [anonymous, { kind: 'server', name: 'g' }, undefined],
  ])('of %j at %j', (who, scope, name) => {
    expect(groupOf(world, who, scope)?.name).toBe(name);
  });

  test('is named by its id where its name leads nowhere, or to another', () => {
    const [without, g] = world.groups;
    if (!without || !g) throw new Error('Two groups are expected.');
    expect(endpointNameOf(world, g)).toBe('g');
    expect(endpointNameOf({ ...world, groups: [{ ...without, name: 'g' }, g] }, g)).toBe('id-g');
    expect(endpointNameOf({ ...world, groups: [{ ...without, id: 'g' }, g] }, g)).toBe('id-g');
    const system = { ...world.system, routing: { ...world.system.routing, enableGroupNameRoute: false } };
    expect(endpointNameOf({ ...world, system }, g)).toBe('id-g');
    expect(resolve({ ...world, system }, anonymous, named('g')).kind).toBe('nothing');
    expect(resolve({ ...world, system }, anonymous, named('id-g')).kind).toBe('group');
  });
});

describe('an endpoint', () => {
  const selected = { prompts: 'all', resources: 'all', readOnly: false };

  test('of a group shows its servers as the group says', () => {
    const { kind, group: of, members } = resolve(world, asUser('ann'), named('g'));
    expect([kind, of?.name]).toEqual(['group', 'g']);
    expect(members).toEqual([
      { ...selected, server: serverOf('open'), prefix: 'open', tools: 'all', pinnedTools: [] },
      { ...selected, server: serverOf('grouped'), prefix: 'x', tools: ['t'], pinnedTools: ['t'] },
    ]);
    const overrides = new Map([['t', { description: 'mine' }]]);
    const groups = [group('g', [entry('open', { overrides })])];
    const [member] = resolve({ ...world, groups }, anonymous, named('g')).members;
    expect(member).toEqual({
      ...selected,
      server: serverOf('open'),
      prefix: 'open',
      tools: 'all',
      pinnedTools: [],
      overrides,
    });
  });

  test('of a server shows it as itself', () => {
    const one = { ...selected, server: serverOf('open'), prefix: 'open', tools: 'all', pinnedTools: [] };
    for (const scope of [named('open'), { kind: 'server', name: 'open' } as const]) {
      const shown = resolve(world, anonymous, scope);
      expect(shown).toEqual({ kind: 'server', group: undefined, members: [one] });
    }
    const [member] = resolve(world, asKey('part'), named('open')).members;
    expect(member).toEqual({ ...one, readOnly: true });
  });

  test('of all servers shows those that are on', () => {
    const { kind, group: of, members } = resolve(world, asUser('ann'), { kind: 'all' });
    expect([kind, of]).toEqual(['all', undefined]);
    expect(members.map(({ server }) => server.name)).toEqual(['anns', 'listed', 'open', 'public', 'shared', 'grouped']);
  });

  test.each<[Principal, Scope]>([
    [asUser('gone'), { kind: 'all' }],
    [anonymous, named('none')],
    [anonymous, named('off')],
    [anonymous, { kind: 'server', name: 'g' }],
    [anonymous, { kind: 'server', name: 'listed' }],
    [anonymous, { kind: 'smart', group: 'open' }],
    [asKey('part'), { kind: 'all' }],
    [asKey('part'), named('g')],
    [asKey('part'), named('public')],
    [asKey('grouped'), named('without')],
  ])('is nothing to %j at %j', (who, scope) => {
    expect(resolve(world, who, scope)).toEqual({ kind: 'nothing', group: undefined, members: [] });
  });

  test('of a group is nothing to a caller without a credential who reaches none of its servers', () => {
    const servers = [server('unset'), server('off', { visibility: 'public', enabled: false })];
    const groups = [
      group('inside', [entry('unset')]),
      group('public', [entry('unset')], { visibility: 'public' }),
      group('off', [entry('unset'), entry('off')]),
      group('gone', [entry('gone')]),
      group('empty', []),
    ];
    const kinds = (who: Principal) =>
      groups.map(({ name }) => resolve(settings({ servers, groups }), who, named(name)).kind);
    expect(kinds(anonymousOutside)).toEqual(['nothing', 'group', 'group', 'nothing', 'nothing']);
    expect(kinds(anonymous)).toEqual(['group', 'group', 'group', 'group', 'group']);
  });
});
