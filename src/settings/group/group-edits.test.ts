import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseInput } from '../../core/input.ts';
import type { Draft } from '../document/document.ts';
import {
  addGroup,
  addServerToGroup,
  deleteGroup,
  groupAnswer,
  removeServerFromGroup,
  serverConfigsAnswer,
  setGroupServers,
  setGroupTools,
  updateGroup,
} from './group-edits.ts';
import {
  groupBatchInput,
  groupNameInput,
  groupToolsInput,
  groupUpdateInput,
  newGroupInput,
  serverToAddInput,
} from './group-input.ts';
import type { GroupEditor } from './group-servers.ts';

const editor = (more: Partial<GroupEditor> = {}): GroupEditor => ({
  username: 'admin',
  isAdmin: true,
  seesServer: () => true,
  seesGroup: () => true,
  granted: () => ({ tools: 'all', prompts: 'all', resources: 'all', readOnly: false }),
  manages: () => true,
  knownTools: () => undefined,
  shownTool: (prefix, tool) => `${prefix}-${tool}`,
  ...more,
});
const admin = editor();
const ann = editor({ username: 'ann', isAdmin: false, seesServer: (name) => name !== 'secret' });

const document = (more: Draft = {}): Draft => ({
  mcpServers: { fetch: { command: 'f' }, slack: { url: 'https://slack' }, secret: { url: 'https://secret' } },
  users: [{ username: 'admin', isAdmin: true }, { username: 'ann' }, { username: 'bob', groups: ['dev'] }],
  bearerKeys: [{ id: 'k', allowedGroups: ['dev', 'g2'] }],
  groups: [
    {
      id: 'g1',
      name: 'dev',
      servers: ['fetch', { name: 'slack', tools: ['post'], note: 'ours' }],
      owner: 'ann',
      color: 'red',
    },
    { id: 'g2', name: 'ops', servers: [], owner: 'admin' },
  ],
  ...more,
});

const make = (input: unknown) => parseInput(newGroupInput, input, 'Cannot create the group');
const update = (input: unknown) => parseInput(groupUpdateInput, input, 'Cannot change the group');
const toAdd = (input: unknown) => parseInput(serverToAddInput, input, 'Cannot add the server');
const batch = (servers: unknown) => parseInput(groupBatchInput, { servers }, 'Cannot set the servers').servers;
const configs = (draft: Draft, id: string, by = admin) =>
  serverConfigsAnswer(
    updateGroup(structuredClone(draft), admin, id, update({ description: 'x' })).group,
    by.seesServer,
  );
const code = (code: string, message?: string) =>
  expect.objectContaining({
    code,
    ...(message !== undefined && { message: expect.stringContaining(message) as string }),
  });

describe('new groups', () => {
  test('are the editor’s, with what was given and nothing else but that they are private', () => {
    const draft = document();
    const { group, notes } = addGroup(draft, ann, make({ name: ' web team ', servers: ['fetch'], description: null }));
    expect(groupAnswer(group, () => true)).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      name: 'web team',
      description: '',
      servers: ['fetch'],
      owner: 'ann',
      visibility: 'private',
      sharedWithUsers: [],
    });
    expect(notes).toEqual([]);
    addGroup(draft, admin, make({ name: 'of an admin' }));
    expect(draft.groups?.at(-1)).not.toHaveProperty('visibility');
  });

  test('a name that is taken in any spelling, or is the id of another group, is a conflict and changes nothing', () => {
    for (const name of ['dev', 'DEV', ' Dev ', 'g2']) {
      const draft = document();
      expect(() => addGroup(draft, admin, make({ name }))).toThrow(code('conflict', 'taken'));
      expect(draft).toEqual(document());
    }
  });

  test('names follow the rules', () => {
    for (const name of ['a', 'web team', 'équipe', '開発', 'a.b_c-d', 'x'.repeat(64)]) {
      expect(groupNameInput.safeParse(name).success).toBe(true);
    }
    for (const name of ['', ' ', '$smart', 'a/b', 'x'.repeat(65), '..', 'a\nb', '__proto__', 'a?b', 'a%b', 7, null]) {
      expect(groupNameInput.safeParse(name).success).toBe(false);
    }
  });

  test('an unknown server is named together with those the editor may see, and a hidden one looks unknown', () => {
    for (const name of ['githb', 'secret']) {
      expect(() => addGroup(document(), ann, make({ name: 'x', servers: ['fetch', name] }))).toThrow(
        code('invalid_input', `servers[1] names an unknown server "${name}". Known: fetch, slack`),
      );
    }
  });

  test('every problem of a body is told at its path', () => {
    const input = { name: '', servers: [7, { tools: 'all' }, { name: 'x', tools: 'some' }], visibility: 'secret' };
    const error = (() => {
      try {
        return make(input);
      } catch (error) {
        return error as { problems: { path: string }[] };
      }
    })() as { problems: { path: string }[] };
    const paths = new Set(error.problems.map(({ path }) => path));
    expect([...paths].sort()).toEqual(['name', 'servers[0]', 'servers[1]', 'servers[2]', 'visibility']);
    expect(() => make({})).toThrow(code('invalid_input', 'name is required'));
    expect(() => make([])).toThrow(code('invalid_input'));
  });
});

describe('finding and owning groups', () => {
  test('id or name, and the id wins', () => {
    const draft = document({
      groups: [
        { id: 'a', name: 'b', servers: [] },
        { id: 'b', name: 'c', servers: [] },
      ],
    });
    expect(updateGroup(draft, admin, 'b', update({ description: 'x' })).group.id).toBe('b');
    expect(updateGroup(draft, admin, 'c', update({ description: 'x' })).group.id).toBe('b');
    expect(() => updateGroup(draft, admin, 'd', update({ description: 'x' }))).toThrow(code('not_found'));
  });

  test('what may not be seen is not there, what belongs to others is not theirs to change', () => {
    const blind = editor({ ...ann, seesGroup: (id) => id !== 'g2' });
    expect(() => deleteGroup(document(), blind, 'ops')).toThrow(code('not_found', 'There is no group "ops".'));
    expect(() => deleteGroup(document(), ann, 'ops')).toThrow(code('forbidden', 'belongs to admin'));
    expect(() => updateGroup(document(), ann, 'dev', update({ owner: 'bob' }))).toThrow(code('forbidden'));
    expect(updateGroup(document(), admin, 'dev', update({ owner: 'bob' })).group.owner).toBe('bob');
    expect(() => updateGroup(document(), admin, 'dev', update({ sharedWithUsers: ['bob', 'eve'] }))).toThrow(
      code('invalid_input', 'sharedWithUsers[1] names an unknown user "eve"'),
    );
  });

  test('references by name follow a renamed group, and end with a deleted one', () => {
    const draft = document();
    updateGroup(draft, ann, 'dev', update({ name: 'Dev' }));
    expect([draft.users?.[2]?.['groups'], draft.bearerKeys?.[0]?.['allowedGroups']]).toEqual([['Dev'], ['Dev', 'g2']]);
    deleteGroup(draft, ann, 'g1');
    expect([draft.users?.[2]?.['groups'], draft.bearerKeys?.[0]?.['allowedGroups']]).toEqual([[], ['g2']]);
    expect(draft.groups?.map(({ id }) => id)).toEqual(['g2']);
  });
});

describe('adding a server to a group', () => {
  test('twice, and removing it twice, change nothing the second time', () => {
    const draft = document();
    const fetch = toAdd({ serverId: 'fetch' });
    const before = structuredClone(draft);
    expect(addServerToGroup(draft, ann, 'dev', fetch).group.servers).toHaveLength(2);
    expect(draft).toEqual(before);
    addServerToGroup(draft, admin, 'dev', toAdd({ serverName: 'secret' }));
    expect(removeServerFromGroup(draft, admin, 'dev', 'secret').group.servers).toHaveLength(2);
    expect(removeServerFromGroup(draft, admin, 'dev', 'secret').group.servers).toHaveLength(2);
    expect(draft).toEqual(before);
    expect(() => toAdd({})).toThrow(code('invalid_input', 'serverName is required'));
    const secret = toAdd({ serverName: 'secret', tools: ['x'] });
    expect(() => addServerToGroup(draft, ann, 'dev', secret)).toThrow(code('invalid_input', 'Known: fetch, slack'));
  });

  test('with tools shows those, of one that is in the group already from then on', () => {
    const by = editor({ knownTools: () => ['get', 'put'] });
    const draft = document();
    const add = (input: unknown) => addServerToGroup(draft, by, 'ops', toAdd(input));
    const { group, notes } = add({ serverName: 'fetch', tools: ['fetch-get', 'get', 'gone'] });
    expect(group.servers).toMatchObject([{ name: 'fetch', tools: ['get', 'gone'], prompts: 'all', resources: 'all' }]);
    expect(notes).toEqual(['Server "fetch" offers no tool "gone" now.']);
    expect(add({ serverName: 'fetch', tools: [] }).group.servers).toMatchObject([{ tools: [] }]);
    expect(add({ serverName: 'fetch', tools: null }).group.servers).toMatchObject([{ tools: [] }]);
    expect(add({ serverName: 'fetch', tools: 'all' }).group.servers).toMatchObject([{ tools: 'all' }]);
    for (const tools of ['some', [1], {}]) {
      expect(() => toAdd({ serverName: 'fetch', tools })).toThrow(code('invalid_input', 'tools must be'));
    }
  });
});

describe('the servers of a group', () => {
  test('a batch replaces the list: plain names mean everything, members it does not know stay', () => {
    const draft = document();
    setGroupServers(draft, ann, 'dev', batch(['slack', { name: 'fetch', tools: ['get', 'get'], alias: 'web' }]));
    expect(configs(draft, 'dev')).toEqual([
      { name: 'slack', tools: 'all', prompts: 'all', resources: 'all' },
      { name: 'fetch', tools: ['get'], prompts: 'all', resources: 'all', alias: 'web' },
    ]);
    expect(draft.groups?.[0]).toMatchObject({ color: 'red', servers: [{ note: 'ours' }, {}] });
  });

  test('an update that sends names back keeps the selections', () => {
    const draft = document();
    updateGroup(draft, ann, 'dev', update({ servers: ['slack', 'fetch'] }));
    expect(configs(draft, 'dev')).toMatchObject([
      { name: 'slack', tools: ['post'] },
      { name: 'fetch', tools: 'all' },
    ]);
  });

  test('entries the editor may not see survive every edit of theirs and are not shown to them', () => {
    const draft = document();
    setGroupServers(draft, admin, 'dev', batch([{ name: 'secret', tools: ['x'] }, 'fetch']));
    setGroupServers(draft, ann, 'dev', batch([]));
    expect(configs(draft, 'dev')).toMatchObject([{ name: 'secret', tools: ['x'] }]);
    removeServerFromGroup(draft, ann, 'dev', 'secret');
    expect(() => setGroupTools(draft, ann, 'dev', { server: 'secret', tools: 'all' })).toThrow(code('not_found'));
    expect(configs(draft, 'dev')).toMatchObject([{ name: 'secret', tools: ['x'] }]);
    expect(configs(draft, 'dev', ann)).toEqual([]);
  });

  test('tools that no server offers are accepted and told', () => {
    const by = editor({ knownTools: (server) => (server === 'fetch' ? ['get'] : undefined) });
    const tools = parseInput(groupToolsInput, { tools: ['get', 'gett'] }, 'Cannot set').tools;
    expect(setGroupTools(document(), by, 'dev', { server: 'fetch', tools }).notes).toEqual([
      'Server "fetch" offers no tool "gett" now.',
    ]);
    expect(setGroupTools(document(), by, 'dev', { server: 'slack', tools }).notes).toEqual([
      expect.stringContaining('could not be checked') as string,
    ]);
    expect(() => setGroupTools(document(), by, 'ops', { server: 'fetch', tools })).toThrow(code('not_found'));
    for (const bad of [{}, { tools: 'some' }, { tools: [1] }, { tools: null }]) {
      expect(() => parseInput(groupToolsInput, bad, 'Cannot set')).toThrow(code('invalid_input', 'tools'));
    }
  });

  test('tools may go by the names clients see, with the name of the server or its alias, and are kept by their own', () => {
    const by = editor({ knownTools: (server) => (server === 'fetch' ? ['get', 'fetch-get', 'put'] : ['post']) });
    const draft = document();
    const given = ['fetch-put', 'put', 'f-get', 'other-get'];
    const entry = { name: 'fetch', alias: 'f', tools: given, pinnedTools: ['f-put'] };
    const { group, notes } = setGroupServers(draft, by, 'dev', batch([entry]));
    expect(group.servers[0]).toMatchObject({ tools: ['put', 'get', 'other-get'], pinnedTools: ['put'] });
    expect(notes).toEqual(['Server "fetch" offers no tool "other-get" now.']);
    // A tool of that very name is meant before one that looks like it from outside.
    expect(setGroupTools(draft, by, 'dev', { server: 'fetch', tools: ['fetch-get'] }).group.servers[0]?.tools).toEqual([
      'fetch-get',
    ]);
    expect(setGroupTools(draft, by, 'dev', { server: 'fetch', tools: ['f-put'] }).group.servers[0]?.tools).toEqual([
      'put',
    ]);
  });

  test('two servers cannot go by one name, and one cannot be listed twice with different tools', () => {
    const twice = batch(['fetch', { name: 'fetch', tools: ['get'] }]);
    expect(() => setGroupServers(document(), admin, 'dev', twice)).toThrow(code('invalid_input', 'servers[1]'));
    expect(setGroupServers(document(), admin, 'dev', batch(['fetch', 'fetch'])).group.servers).toHaveLength(1);
    const same = batch(['fetch', { name: 'slack', alias: 'fetch' }]);
    expect(() => setGroupServers(document(), admin, 'dev', same)).toThrow(code('invalid_input', 'alias'));
    const draft = document();
    setGroupServers(draft, admin, 'dev', batch([{ name: 'slack', alias: 'fetch' }]));
    expect(() => addServerToGroup(draft, admin, 'dev', toAdd({ serverName: 'fetch' }))).toThrow(
      code('invalid_input', 'alias'),
    );
  });
});

const hiddenIn = (draft: Draft) =>
  (draft.groups ?? []).flatMap((group) =>
    configs(draft, String(group['id']))
      .filter(({ name }) => name === 'secret')
      .map((config) => [group['id'], config]),
  );

describe('any sequence of edits', () => {
  const names = fc.constantFrom('dev', 'Dev', 'ops', 'OPS', 'web', 'g1', 'team a');
  const servers = fc.array(
    fc.oneof(
      fc.constantFrom('fetch', 'slack', 'secret', 'nowhere'),
      fc.record({ name: fc.constantFrom('fetch', 'slack', 'secret'), tools: fc.constantFrom('all', ['a'], []) }),
      fc.record({ name: fc.constantFrom('fetch', 'slack'), alias: fc.constantFrom('fetch', 'x') }),
    ),
    { maxLength: 4 },
  );
  const server = fc.constantFrom('fetch', 'slack', 'secret', 'nowhere');
  type Edit = (draft: Draft, by: GroupEditor) => unknown;
  const edit: fc.Arbitrary<Edit> = fc.oneof(
    fc.tuple(names, servers).map(
      ([name, servers]): Edit =>
        (draft, by) =>
          addGroup(draft, by, make({ name, servers })),
    ),
    fc
      .tuple(names, fc.record({ name: names, servers, description: fc.string() }, { requiredKeys: ['description'] }))
      .map(
        ([id, input]): Edit =>
          (draft, by) =>
            updateGroup(draft, by, id, update(input)),
      ),
    names.map(
      (id): Edit =>
        (draft, by) =>
          deleteGroup(draft, by, id),
    ),
    fc.tuple(names, server, fc.constantFrom(undefined, 'all', ['a'], [])).map(
      ([id, serverName, tools]): Edit =>
        (draft, by) =>
          addServerToGroup(draft, by, id, toAdd({ serverName, tools })),
    ),
    fc.tuple(names, server).map(
      ([id, name]): Edit =>
        (draft, by) =>
          removeServerFromGroup(draft, by, id, name),
    ),
    fc.tuple(names, servers).map(
      ([id, list]): Edit =>
        (draft, by) =>
          setGroupServers(draft, by, id, batch(list)),
    ),
    fc.tuple(names, server).map(
      ([id, name]): Edit =>
        (draft, by) =>
          setGroupTools(draft, by, id, { server: name, tools: ['a'] }),
    ),
  );

  test('leaves names unique, every mentioned server known, hidden entries and unknown members in place, or changes nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(edit, fc.boolean()), { maxLength: 25 }), (edits) => {
        let draft = document();
        setGroupServers(draft, admin, 'dev', batch(['fetch', 'secret']));
        for (const [run, asAdmin] of edits) {
          const copy = structuredClone(draft);
          const hiddenBefore = hiddenIn(draft);
          try {
            run(copy, asAdmin ? admin : ann);
          } catch (error) {
            // A change of the settings throws the whole copy away.
            expect(error).toMatchObject({ name: 'HubError' });
            continue;
          }
          draft = copy;
          const groups = draft.groups ?? [];
          const keys = groups.map(({ name }) => String(name).toLowerCase());
          expect(new Set(keys).size).toBe(groups.length);
          expect(new Set(groups.map(({ id }) => id)).size).toBe(groups.length);
          for (const group of groups) {
            // A name that is the id of another group would lead to the wrong group.
            expect(groups.some((other) => other !== group && other['name'] === group['id'])).toBe(false);
            const members = configs(draft, String(group['id']));
            for (const { name } of members) expect(Object.keys(draft.mcpServers ?? {})).toContain(name);
            const prefixes = members.map(({ name, ...more }) => ('alias' in more ? more.alias : name));
            expect(new Set(prefixes).size).toBe(members.length);
            if (group['id'] === 'g1') expect(group['color']).toBe('red');
          }
          if (!asAdmin) {
            const left = new Set(groups.map(({ id }) => id));
            expect(hiddenIn(draft)).toEqual(hiddenBefore.filter(([id]) => left.has(id)));
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
