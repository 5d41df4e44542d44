import { describe, expect, test } from 'vitest';
import type { HubError } from '../../core/errors.ts';
import { parseInput } from '../../core/input.ts';
import type { GroupSettings } from '../../core/settings/group.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import type { Draft, Editor } from '../document/document.ts';
import { addKey, deleteKey, keyAnswers, updateKey } from '../key/key-edits.ts';
import { keyUpdateInput, newKeyInput } from '../key/key-input.ts';
import { addUser, deleteUser, changePassword, updateUser, userAnswer, usersStats } from './user-edits.ts';
import { newUserInput, userUpdateInput, usernameInput } from './user-input.ts';

const made = { passwordHash: '$argon2id$hash', isWeak: false, at: '2026-11-20T10:00:00.000Z' };
const document = (): Draft => ({
  users: [
    { username: 'admin', password: 'h', isAdmin: true, ssoUserId: 7 },
    { username: 'ann', password: 'h', role: 'user', servers: ['a'], groups: ['g'] },
  ],
  mcpServers: { a: { url: 'u', owner: 'ann', sharedWithUsers: ['ann', 'bob'] }, b: { url: 'u' } },
  groups: [{ id: 'g', name: 'dev', owner: 'ann', sharedWithUsers: ['ann'] }],
  bearerKeys: [
    { id: 'k1', name: 'one', tokenHash: 'x', maskedToken: 'mcphub_1...1234', kind: 'user', owner: 'ann' },
    { id: 'k2', name: 'two', token: 'plain-secret-token', allowedServers: ['a'] },
  ],
  userConfigs: { ann: { theme: 1 }, bob: {} },
  oauthTokens: [{ username: 'ann' }, { username: 'bob' }],
});
const make = (input: unknown) => parseInput(newUserInput, input, 'Cannot create the user');
const update = (input: unknown) => parseInput(userUpdateInput, input, 'Cannot change the user');
const code = (code: string, message = '') =>
  expect.objectContaining({ code, message: expect.stringContaining(message) as string });

describe('users', () => {
  test('a new user is an ordinary one unless said otherwise in either spelling, and never shown with a hash', () => {
    const draft = document();
    const { user } = addUser(draft, make({ username: ' bob ', password: '123456' }), made);
    expect(user).toEqual({
      username: 'bob',
      role: 'user',
      isAdmin: false,
      servers: [],
      groups: [],
      createdAt: made.at,
    });
    for (const said of [{ role: 'admin' }, { isAdmin: true }, { role: 'admin', isAdmin: true }]) {
      const { user } = addUser(document(), make({ username: 'eve', password: '123456', ...said }), made);
      expect(user).toMatchObject({ role: 'admin', isAdmin: true });
    }
    expect(draft.users?.[2]).toMatchObject({ password: made.passwordHash, role: 'user', isAdmin: false });
    expect(JSON.stringify(user)).not.toContain('hash');
  });

  test('bodies are refused with every problem named', () => {
    expect(() => make({ username: 'bob', password: '12345' })).toThrow(
      code('invalid_input', 'password must have at least 6'),
    );
    expect(() => make({ username: 'bob' })).toThrow(code('invalid_input', 'password is required'));
    expect(() => make({ username: 'bob', password: '123456', role: 'admin', isAdmin: false })).toThrow(
      code('invalid_input', 'isAdmin contradicts role'),
    );
    expect(() => make({ username: 'bob', password: '123456', role: 'root' })).toThrow(code('invalid_input', 'role'));
    expect(() => make({ username: 'bob', password: '123456', servers: 'a' })).toThrow(code('invalid_input', 'servers'));
    expect(() => update({})).toThrow(code('invalid_input', 'at least one'));
    expect(() => update({ unknown: 1 })).toThrow(code('invalid_input', 'at least one'));
    expect(() => update({ newPassword: '12345' })).toThrow(code('invalid_input', 'newPassword'));
    for (const name of ['anonymous', 'System', 'GUEST', '', 'a/b', 'a b', '..', '__proto__', 'x'.repeat(65)]) {
      expect(usernameInput.safeParse(name).success).toBe(false);
    }
    for (const name of ['ann', 'ann@example.com', 'Zoë', 'a.b-c_d+e'])
      expect(usernameInput.safeParse(name).success).toBe(true);
  });

  test('a taken name is a conflict in any spelling', () => {
    for (const username of ['ann', 'Ann', 'ADMIN']) {
      expect(() => addUser(document(), make({ username, password: '123456' }), made)).toThrow(
        code('conflict', 'taken'),
      );
    }
  });

  test('names of servers and groups that do not exist are accepted and told', () => {
    const input = make({ username: 'bob', password: '123456', servers: ['a', 'x'], groups: ['dev', 'g', 'y'] });
    const { user, notes } = addUser(document(), input, made);
    expect(user).toMatchObject({ servers: ['a', 'x'], groups: ['g', 'y'] });
    expect(notes).toEqual(['There is no server x yet.', 'There is no group y yet.']);
  });
});

describe('changing and deleting users', () => {
  test('only what is sent changes, and the password under both of its names', () => {
    const draft = document();
    expect([update({ password: '123456' }).password, update({ newPassword: '654321' }).password]).toEqual([
      '123456',
      '654321',
    ]);
    expect(updateUser(draft, 'ann', update({ email: 'a@b.c' })).user).toMatchObject({ email: 'a@b.c', servers: ['a'] });
    updateUser(draft, 'ann', update({ password: '123456', email: null }), { passwordHash: 'new hash', isWeak: true });
    expect(draft.users?.[1]).toEqual({
      username: 'ann',
      password: 'new hash',
      passwordIsWeak: true,
      role: 'user',
      servers: ['a'],
      groups: ['g'],
    });
    updateUser(draft, 'admin', update({ isAdmin: true }));
    expect(draft.users?.[0]).toEqual({ username: 'admin', password: 'h', isAdmin: true, role: 'admin', ssoUserId: 7 });
    expect(() => updateUser(draft, 'bob', update({ email: 'x@example.com' }))).toThrow(
      code('not_found', 'There is no user "bob".'),
    );
  });

  test('an upgrade of a hash does not undo a password set meanwhile', () => {
    const draft = document();
    expect(changePassword(draft, 'ann', { passwordHash: 'upgraded', isWeak: false }, 'another')).toBe(false);
    expect(draft.users?.[1]?.['password']).toBe('h');
    expect(changePassword(draft, 'ann', { passwordHash: 'upgraded', isWeak: false }, 'h')).toBe(true);
    expect(draft.users?.[1]?.['password']).toBe('upgraded');
  });

  test('the last admin is neither demoted nor deleted, and users cannot delete their own account', () => {
    const draft = document();
    expect(() => updateUser(draft, 'admin', update({ role: 'user' }))).toThrow(code('invalid_input', 'no other admin'));
    expect(() => deleteUser(draft, 'admin', 'someone')).toThrow(code('invalid_input', 'no other admin'));
    expect(() => deleteUser(draft, 'admin', 'admin')).toThrow(code('invalid_input', 'your own account'));
    expect(draft).toEqual(document());
    // A user whose members contradict each other in the file is no admin.
    draft.users?.push({ username: 'x', role: 'admin', isAdmin: false });
    expect(() => updateUser(draft, 'admin', update({ isAdmin: false }))).toThrow(code('invalid_input'));
    updateUser(draft, 'ann', update({ role: 'admin' }));
    deleteUser(draft, 'admin', 'ann');
    expect(draft.users?.map(({ username }) => username)).toEqual(['ann', 'x']);
    // What had no owner was the first admin's.
    expect(draft.mcpServers?.['b']?.['owner']).toBe('ann');
  });

  test('the next user of a deleted one’s name inherits nothing', () => {
    const draft = document();
    deleteUser(draft, 'ann', 'admin');
    expect(JSON.stringify(draft)).not.toContain('ann');
    expect(draft).toMatchObject({
      mcpServers: { a: { owner: 'admin', sharedWithUsers: ['bob'] } },
      groups: [{ owner: 'admin', sharedWithUsers: [] }],
      bearerKeys: [{ id: 'k2' }],
      userConfigs: { bob: {} },
      oauthTokens: [{ username: 'bob' }],
    });
  });
});

describe('user statistics', () => {
  test('statistics have all five numbers, each user once per server and group', () => {
    const user = (username: string, more: Partial<UserSettings>): UserSettings => ({
      username,
      passwordHash: 'h',
      role: 'user',
      email: undefined,
      servers: [],
      groups: [],
      createdAt: undefined,
      ...more,
    });
    const group = (id: string, name: string, servers: string[]): GroupSettings => ({
      id,
      name,
      description: undefined,
      owner: 'admin',
      visibility: undefined,
      sharedWithUsers: [],
      servers: servers.map((name) => ({
        name,
        alias: undefined,
        tools: 'all',
        prompts: 'all',
        resources: 'all',
        pinnedTools: [],
      })),
    });
    const users = [
      user('admin', { role: 'admin' }),
      user('ann', { servers: ['a', 'a'], groups: ['g1', 'dev'] }),
      user('bob', { groups: ['g1', 'g2'], servers: ['__proto__'] }),
    ];
    const groups = [group('g1', 'dev', ['a', 'b']), group('g2', 'ops', ['b'])];
    expect(JSON.stringify(usersStats({ users, groups }))).toBe(
      '{"totalUsers":3,"adminUsers":1,"regularUsers":2,"usersPerServer":{"a":2,"b":2,"__proto__":1},"usersPerGroup":{"g1":2,"g2":1}}',
    );
    expect(JSON.stringify(users.map(userAnswer))).not.toContain('passwordHash');
  });
});

describe('access keys in the settings', () => {
  const admin: Editor = { username: 'admin', isAdmin: true, seesServer: () => true, seesGroup: () => true };
  const sees = (name: string) => name === 'a';
  const ann: Editor = { username: 'ann', isAdmin: false, seesServer: sees, seesGroup: () => false };
  const key = { tokenHash: 'a'.repeat(64), masked: 'mcphub_a...wxyz' };
  const makeKey = (input: unknown) => parseInput(newKeyInput, input, 'Cannot create the key');

  test('admins make keys of both kinds, users their own only', () => {
    const draft = document();
    const system = addKey(draft, admin, makeKey({ name: 'ci', accessType: 'groups', allowedGroups: ['g', 'g'] }), key);
    expect(system).toMatchObject({ kind: 'system', accessType: 'groups', allowedGroups: ['g'], token: key.masked });
    expect(addKey(draft, admin, makeKey({ name: 'x', owner: 'ann' }), key)).toMatchObject({
      kind: 'user',
      owner: 'ann',
    });
    expect(addKey(draft, ann, makeKey({ name: 'y' }), key)).toMatchObject({
      kind: 'user',
      owner: 'ann',
      enabled: true,
    });
    expect(() => addKey(draft, ann, makeKey({ name: 'z', kind: 'system' }), key)).toThrow(code('forbidden'));
    expect(() => addKey(draft, ann, makeKey({ name: 'z', owner: 'admin' }), key)).toThrow(code('forbidden'));
    expect(() => addKey(draft, admin, makeKey({ name: 'z', owner: 'eve' }), key)).toThrow(code('invalid_input', 'eve'));
    expect(() => makeKey({ name: ' ' })).toThrow(code('invalid_input', 'name'));
    expect(() => makeKey({ name: 'x', accessType: 'some' })).toThrow(code('invalid_input', 'accessType'));
  });

  test('a key names only what is there and may be seen; what it named before may stay', () => {
    const draft = document();
    const problems = (run: () => unknown) => {
      try {
        return run();
      } catch (error) {
        return (error as HubError).problems?.map(({ path, message }) => `${path} ${message}`);
      }
    };
    const add = (by: Editor, lists: object) => problems(() => addKey(draft, by, makeKey({ name: 'k', ...lists }), key));
    expect(add(admin, { allowedGroups: ['g', 'dev', 'gone'], allowedServers: ['b', 'c'] })).toEqual([
      'allowedGroups[2] names an unknown group "gone". Known: dev',
      'allowedServers[1] names an unknown server "c". Known: a, b',
    ]);
    // What she may not see answers like what is not there.
    for (const name of ['b', 'c'])
      expect(add(ann, { allowedServers: ['a', name] })).toEqual([
        `allowedServers[1] names an unknown server "${name}". Known: a`,
      ]);
    expect(add(ann, { allowedGroups: ['dev'] })).toEqual([
      'allowedGroups[0] names an unknown group "dev". Known: none',
    ]);
    expect(draft.bearerKeys).toEqual(document().bearerKeys);
    const change = (sent: object) =>
      problems(() => updateKey(draft, admin, 'k2', parseInput(keyUpdateInput, sent, 'Cannot change the key')));
    expect(change({ allowedServers: ['a', 'c'] })).toEqual([
      'allowedServers[1] names an unknown server "c". Known: a, b',
    ]);
    delete draft.mcpServers?.['a'];
    expect(change({ allowedServers: ['b', 'a'] })).toMatchObject({ allowedServers: ['b', 'a'] });
  });

  test('neither hash nor token is ever shown, and users see their own keys only', () => {
    const draft = document();
    addKey(draft, ann, makeKey({ name: 'mine' }), key);
    expect(keyAnswers(draft, ann).map(({ name }) => name)).toEqual(['one', 'mine']);
    const all = keyAnswers(draft, admin);
    expect(all.map(({ token }) => token)).toEqual(['mcphub_1...1234', '********', 'mcphub_a...wxyz']);
    expect(all[1]).toMatchObject({ kind: 'system', accessType: 'custom', enabled: true });
    expect(JSON.stringify(all)).not.toMatch(/aaaaaaaa|plain-secret|tokenHash/);
  });

  test('a key of another user is not there; of one’s own name, scope and switch can change and nothing else', () => {
    const draft = document();
    const change = (input: unknown) => parseInput(keyUpdateInput, input, 'Cannot change the key');
    for (const id of ['k2', 'k9']) {
      expect(() => updateKey(draft, ann, id, change({ enabled: false }))).toThrow(code('not_found'));
      expect(() => deleteKey(draft, ann, id)).toThrow(code('not_found'));
    }
    const sent = { enabled: false, name: 'new', owner: 'admin', kind: 'system', tokenHash: 'y', token: 'z' };
    expect(updateKey(draft, ann, 'k1', change(sent))).toMatchObject({
      enabled: false,
      name: 'new',
      owner: 'ann',
      kind: 'user',
    });
    expect(draft.bearerKeys?.[0]).toMatchObject({ tokenHash: 'x' });
    expect(() => change({ owner: 'x' })).toThrow(code('invalid_input', 'at least one'));
    deleteKey(draft, ann, 'k1');
    deleteKey(draft, admin, 'k2');
    expect(draft.bearerKeys).toEqual([]);
  });
});
