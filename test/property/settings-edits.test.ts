import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Draft } from '../../src/settings/document/document.ts';
import { groupBatchInput, newGroupInput } from '../../src/settings/group/group-input.ts';
import type { GroupEditor } from '../../src/settings/group/group-servers.ts';
import { addGroup, deleteGroup, serverConfigsAnswer, setGroupServers } from '../../src/settings/group/group-edits.ts';
import { addKey, deleteKey } from '../../src/settings/key/key-edits.ts';
import { maskServer } from '../../src/settings/server/server-secrets.ts';
import { addServer, deleteServer, toggleServer, updateServer } from '../../src/settings/server/server-edits.ts';
import { startsProcess } from '../../src/settings/server/server-rights.ts';
import { changeItems } from '../../src/settings/server/item-edits.ts';
import { addUser, deleteUser, updateUser } from '../../src/settings/user/user-edits.ts';
import { parseSettings } from '../../src/settings/document/parse-settings.ts';

const admin: GroupEditor = {
  username: 'admin',
  isAdmin: true,
  seesServer: () => true,
  seesGroup: () => true,
  granted: () => ({ tools: 'all', prompts: 'all', resources: 'all', readOnly: false }),
  manages: () => true,
  knownTools: () => undefined,
  shownTool: (prefix, tool) => `${prefix}-${tool}`,
};

const start = (): Draft => ({
  users: [{ username: 'admin', password: '$argon2id$', isAdmin: true }],
  mcpServers: { a: { command: 'x', env: { KEY: 'value' } }, b: { url: 'https://b.example' } },
});

type Edit = (draft: Draft) => unknown;
const server = fc.constantFrom('a', 'b', 'c');
const group = fc.constantFrom('dev', 'ops');
const user = fc.constantFrom('admin', 'ann', 'bob');
const config = fc.constantFrom(
  { command: 'y' },
  { url: 'https://c.example', headers: { A: 'b' } },
  { type: 'sse', url: 'https://d.example' },
  { description: 'd', visibility: 'group', sharedWithUsers: ['ann'] },
);
let made = 0;

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.tuple(server, config).map(
    ([name, config]): Edit =>
      (draft) =>
        addServer(draft, admin, { name, config }),
  ),
  fc.tuple(server, config).map(
    ([name, config]): Edit =>
      (draft) =>
        updateServer(draft, admin, name, { config }),
  ),
  fc.tuple(server, server).map(
    ([name, newName]): Edit =>
      (draft) =>
        updateServer(draft, admin, name, { newName }),
  ),
  server.map(
    (name): Edit =>
      (draft) =>
        deleteServer(draft, admin, name),
  ),
  fc.tuple(server, fc.boolean()).map(
    ([name, on]): Edit =>
      (draft) =>
        toggleServer(draft, admin, name, on),
  ),
  server.map(
    (name): Edit =>
      (draft) =>
        changeItems(draft, admin, { server: name, kind: 'tools', items: ['t'], enabled: false, description: 'x' }),
  ),
  server.map((name): Edit => (draft) => {
    const shown = maskServer(draft.mcpServers?.[name] ?? {});
    return updateServer(draft, admin, name, { config: shown });
  }),
  fc.tuple(group, fc.array(server)).map(
    ([name, servers]): Edit =>
      (draft) =>
        addGroup(draft, admin, newGroupInput.parse({ name, servers, visibility: 'private' })),
  ),
  fc.tuple(group, fc.array(fc.oneof(server, fc.record({ name: server, alias: server })), { maxLength: 3 })).map(
    ([name, servers]): Edit =>
      (draft) =>
        setGroupServers(draft, admin, name, groupBatchInput.parse({ servers }).servers),
  ),
  group.map(
    (name): Edit =>
      (draft) =>
        deleteGroup(draft, admin, name),
  ),
  fc.tuple(user, group).map(
    ([username, group]): Edit =>
      (draft) =>
        addUser(
          draft,
          { username, password: '', role: 'user', groups: [group] },
          { passwordHash: '$argon2id$', isWeak: false, at: '2026-11-20T10:00:00.000Z' },
        ),
  ),
  fc.tuple(user, fc.constantFrom('admin' as const, 'user' as const)).map(
    ([name, role]): Edit =>
      (draft) =>
        updateUser(draft, name, { role, password: undefined }),
  ),
  user.map(
    (name): Edit =>
      (draft) =>
        deleteUser(draft, name, 'admin'),
  ),
  fc.tuple(user, server).map(([owner, server]): Edit => (draft) => {
    const tokenHash = String(++made).padStart(64, '0');
    return addKey(draft, admin, { name: 'k', owner, allowedServers: [server] }, { tokenHash, masked: 'm' });
  }),
  fc.nat(3).map(
    (i): Edit =>
      (draft) =>
        deleteKey(draft, admin, String(draft.bearerKeys?.[i]?.['id'])),
  ),
);

test('whatever edits are made, the settings reader accepts the result, an admin is left, and nothing names what is gone', () => {
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 30 }), (edits) => {
      let draft = start();
      for (const run of edits) {
        const copy = structuredClone(draft);
        try {
          run(copy);
          // What the store would refuse is refused as a whole; see below for what may be.
          parseSettings(copy);
        } catch (error) {
          expect(error).toMatchObject({ name: 'HubError' });
          continue;
        }
        draft = copy;
      }
      const { settings, warnings } = parseSettings(draft);
      expect(settings.users.some(({ role }) => role === 'admin')).toBe(true);
      const usernames = new Set(settings.users.map(({ username }) => username));
      for (const key of settings.keys) if (key.owner !== undefined) expect(usernames).toContain(key.owner);
      for (const group of settings.groups) {
        for (const { name } of serverConfigsAnswer(group, () => true))
          expect([...settings.servers.keys()]).toContain(name);
      }
      for (const [name, server] of settings.servers) {
        expect(startsProcess(draft.mcpServers?.[name] ?? {})).toBe(server.transport.type === 'stdio');
      }
      expect(JSON.stringify(draft)).not.toContain('•');
      expect(warnings.filter(({ message }) => /no server|no user|contradicts/.test(message))).toEqual([]);
    }),
    { numRuns: 300 },
  );
});
