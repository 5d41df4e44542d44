import { describe, expect, test } from 'vitest';
import type { OidcProvider } from '../../core/settings/login.ts';
import type { Draft, Entry } from '../document/document.ts';
import { logInFrom, type ProviderPerson } from './provider-login.ts';

const at = '2026-01-01T00:00:00.000Z';
const issuer = 'https://id.example';

const provider = (more: Partial<OidcProvider> = {}): OidcProvider => ({
  id: 'corp',
  name: 'Corp',
  issuer,
  clientId: 'toolhub',
  clientSecret: undefined,
  scopes: ['openid'],
  usernameClaim: 'preferred_username',
  groupsClaim: 'groups',
  groups: undefined,
  adminGroups: undefined,
  signUp: 'invited',
  ...more,
});

const person = (more: Partial<ProviderPerson> = {}): ProviderPerson => ({
  issuer,
  subject: 's1',
  username: undefined,
  email: undefined,
  values: [],
  ...more,
});

const bound: Entry = { username: 'ann', identities: [{ issuer, subject: 's1' }] };
const draftOf = (...users: Entry[]): Draft => ({ users, groups: [{ id: 'g1', name: 'dev' }] });
const named = (draft: Draft, name: string) => draft.users?.find(({ username }) => username === name);

describe('a login at a provider', () => {
  test.each<[string, Entry[]]>([
    [
      'two accounts wait for it',
      [
        { username: 'a', email: 'x@y.z' },
        { username: 'b', email: 'X@y.z' },
      ],
    ],
    ['the account has a password', [{ username: 'a', email: 'x@y.z', password: '$argon2id$' }]],
    ['the account is bound to another', [{ ...bound, email: 'x@y.z', identities: [{ issuer, subject: 'other' }] }]],
  ])('binds no account by an address if %s', (_, users) => {
    const draft = draftOf(...users);
    expect(() => logInFrom(draft, provider(), person({ email: 'x@y.z' }), at)).toThrow('no account');
    expect(draft.users).toEqual(users);
  });

  test('with the subject of another issuer is another person', () => {
    const draft = draftOf(bound);
    expect(() => logInFrom(draft, provider(), person({ issuer: 'https://other.example' }), at)).toThrow('no account');
  });

  test.each(['admin', 'keeper', 'owner', 'friend', 'leader', 'configured'])(
    'gives no new account the name %s, to which the settings give a right already',
    (name) => {
      const draft: Draft = {
        users: [],
        groups: [{ id: 'g1', name: 'dev', owner: 'leader' }],
        mcpServers: { a: { command: 'x', owner: 'owner', sharedWithUsers: ['friend'] } },
        systemConfig: { auth: { breakGlass: 'keeper' } },
        userConfigs: { configured: {} },
      };
      const who = person({ username: name.toUpperCase() });
      expect(logInFrom(draft, provider({ signUp: 'auto' }), who, at)).toMatchObject({
        username: `${name.toUpperCase()}-2`,
        done: ['created'],
      });
    },
  );

  test('that signs up makes an account with a name that is free, and no rights', () => {
    const draft = draftOf({ username: 'Admin', isAdmin: true }, { username: 'user' });
    const auto = provider({ signUp: 'auto' });
    const names = ['admin', '../x y', 'system', undefined].map(
      (username, i) => logInFrom(draft, auto, person({ username, subject: `n${i}` }), at).username,
    );
    expect(new Set(names).size).toBe(4);
    expect(names[0]).toBe('admin-2');
    for (const name of names) {
      expect(name).toMatch(/^[\w.-]+$/);
      expect(named(draft, name)).toMatchObject({
        role: 'user',
        isAdmin: false,
        servers: [],
        groups: [],
        createdAt: at,
      });
    }
  });

  test('takes the groups that the settings map, and leaves the others', () => {
    const draft = draftOf({ ...bound, groups: ['dev', 'by hand'] });
    const mapping = provider({ groups: new Map([['eng', ['dev']]]) });
    logInFrom(draft, mapping, person(), at);
    expect(named(draft, 'ann')?.['groups']).toEqual(['by hand']);
    logInFrom(draft, mapping, person({ values: ['eng', 'by hand'] }), at);
    expect(named(draft, 'ann')?.['groups']).toEqual(['by hand', 'g1']);
  });

  test('says what it did to the account', () => {
    const mapping = provider({ signUp: 'auto', groups: new Map([['eng', ['dev']]]), adminGroups: ['admins'] });
    const draft = draftOf({ username: 'root', role: 'admin' }, { username: 'ann', email: 'ann@x.y' });
    const done = (values: string[], email?: string) =>
      logInFrom(draft, mapping, person({ email, values, subject: email ?? 'new' }), at).done;
    expect(done(['eng'])).toEqual(['created', 'groups changed']);
    expect(done(['eng'])).toEqual([]);
    expect(done(['admins'], 'ann@x.y')).toEqual(['bound', 'made an admin']);
    expect(done([], 'ann@x.y')).toEqual(['no longer an admin']);
  });

  test('decides the role where the settings say so, and leaves the last admin one', () => {
    const draft = draftOf({ ...bound, role: 'admin' });
    const deciding = provider({ adminGroups: ['admins'] });
    logInFrom(draft, deciding, person(), at);
    expect(named(draft, 'ann')).toMatchObject({ role: 'admin' });
    draft.users?.push({ username: 'root', role: 'admin' });
    logInFrom(draft, provider(), person(), at);
    expect(named(draft, 'ann')).toMatchObject({ role: 'admin' });
    logInFrom(draft, deciding, person(), at);
    expect(named(draft, 'ann')).toMatchObject({ role: 'user', isAdmin: false });
    logInFrom(draft, deciding, person({ values: ['admins'] }), at);
    expect(named(draft, 'ann')).toMatchObject({ role: 'admin', isAdmin: true });
  });
});

describe('a name that a provider says', () => {
  test.each([
    ['in wide letters', 'ａｄｍｉｎ'],
    ['with a letter that is not seen', 'ad\u200bmin'],
    ['with a filler', 'admin\u3164'],
    ['with a mark that is not seen', 'adm\u034fin\ufe0f'],
    ['with a dotless i', 'adm\u0131n'],
    ['with Latin alpha', '\u0251dmin'],
    ['with one Cyrillic letter', '\u0430dmin'],
    ['with one Armenian letter', 'admi\u0578'],
    ['with Greek alpha', '\u03b1dmin'],
  ])('makes no account that looks like admin: %s', (_, username) => {
    const draft = draftOf({ username: 'admin', isAdmin: true });
    const login = logInFrom(draft, provider({ signUp: 'auto' }), person({ username }), at);
    expect(['admin-2', 'user']).toContain(login.username);
  });

  test('makes no account that looks like one in another script, and keeps names of one script', () => {
    const auto = provider({ signUp: 'auto' });
    const nameOf = (username: string, taken: string) =>
      logInFrom(draftOf({ username: taken }), auto, person({ username }), at).username;
    expect(nameOf('\u0440\u043e\u0440', 'pop')).toBe('user');
    for (const name of ['Öznur', 'анна', '李雷', 'さくら木', '김철수', 'jürgen.müller+1'])
      expect(nameOf(name, 'pop')).toBe(name.normalize('NFKC'));
  });
});
