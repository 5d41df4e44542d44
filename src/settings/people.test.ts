import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { HubError } from '../core/errors.ts';
import type { Problem } from '../core/errors.ts';
import { parseSettings } from './schema.ts';

const parse = (document: unknown) => parseSettings(document);

function problems(document: unknown): Problem[] {
  try {
    parse(document);
  } catch (error) {
    if (error instanceof HubError && error.code === 'invalid_input') return [...error.problems];
    throw error;
  }
  throw new Error('accepted');
}
const lines = (document: unknown) => problems(document).map(({ path, message }) => `${path}: ${message}`);
const warnings = (document: unknown) => parse(document).warnings.map(({ path, message }) => `${path}: ${message}`);

describe('groups', () => {
  test('without an id a group has one that depends on its name alone, in any spelling', () => {
    const id = (name: string, before: object[] = []) =>
      parse({ groups: [...before, { name }] }).settings.groups.at(-1)?.id;
    expect(id('Dev')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(id('Dev')).toBe(id('dev', [{ name: 'other' }]));
    expect(id('Dev')).not.toBe(id('Dev2'));
  });

  test('an unknown server is kept, with a warning; a disabled or listed one is known', () => {
    const document = {
      mcpServers: { a: { command: 'x', enabled: false } },
      groups: [{ name: 'g', servers: ['a', 'b'] }],
    };
    expect(parse(document).settings.groups[0]?.servers.map((s) => s.name)).toEqual(['a', 'b']);
    expect(warnings(document)).toEqual(['groups[0].servers[1]: there is no server "b"; kept for when there is one']);
  });

  test('names of tools as clients see them are kept, with a warning what to write', () => {
    const document = {
      mcpServers: { a: { command: 'x' }, b: { command: 'x' } },
      groups: [
        {
          name: 'g',
          servers: [
            { name: 'a', tools: ['a-echo', 'add'] },
            { name: 'b', alias: 'c', prompts: ['c-x'] },
          ],
        },
      ],
    };
    expect(warnings(document)).toEqual([
      'groups[0].servers[0].tools[0]: has the server\'s name in front; if the server itself calls it "echo", write that',
      'groups[0].servers[1].prompts[0]: has the server\'s name in front; if the server itself calls it "x", write that',
    ]);
  });

  test('two servers of a group cannot have one prefix', () => {
    const servers = [{ name: 'a' }, { name: 'b', alias: 'a' }];
    expect(lines({ groups: [{ name: 'g', servers }] })[0]).toContain(
      'groups[0].servers[1].alias: is the same as groups[0].servers[0]',
    );
  });

  test('a selection is "all" or names', () => {
    const servers = [{ name: 'a', tools: 'some', prompts: [1] }];
    expect(lines({ groups: [{ name: 'g', servers }] })).toEqual([
      'groups[0].servers[0].tools: expected "all" or an array of names, found a string',
      'groups[0].servers[0].prompts: expected "all" or an array of names, found an array',
    ]);
  });

  test('a group whose ids meet another one is refused', () => {
    expect(
      lines({
        groups: [
          { id: 'x', name: 'a' },
          { id: 'x', name: 'b' },
        ],
      })[0],
    ).toContain('groups[1].id: is the same as groups[0].id');
  });
});

describe('users and keys', () => {
  test.each([
    [{ isAdmin: true }, 'admin'],
    [{ role: 'admin' }, 'admin'],
    [{}, 'user'],
    [{ role: 'user', isAdmin: true }, 'user'],
    [{ role: 'admin', isAdmin: false }, 'user'],
  ])('%j is %s', (said, role) => {
    expect(parse({ users: [{ username: 'u', password: '$2b$x', ...said }] }).settings.users[0]?.role).toBe(role);
  });

  test('a key is kept by the hash of its token, however the file has it', () => {
    const hash = createHash('sha256').update('tok').digest('hex');
    const keys = (...list: object[]) => parse({ bearerKeys: list }).settings.keys;
    expect(keys({ token: ' tok\n' })).toMatchObject([
      { tokenHash: hash, accessType: 'all', kind: 'system', enabled: true },
    ]);
    expect(keys({ tokenHash: hash.toUpperCase() })[0]?.tokenHash).toBe(hash);
    expect(keys({ token: 'tok', allowedServers: ['a'] })[0]?.accessType).toBe('custom');
    expect(keys({ token: 'tok' })[0]?.id).toBe(keys({ token: 'tok', name: 'n' })[0]?.id);
    expect(lines({ bearerKeys: [{ token: 'tok', tokenHash: '0'.repeat(64) }] })[0]).toContain(
      'bearerKeys[0].tokenHash: is not the hash of "token"',
    );
    expect(lines({ bearerKeys: [{ token: 'tok' }, { tokenHash: hash, id: 'b' }] })[0]).toContain(
      'bearerKeys[1].tokenHash: is the same as bearerKeys[0].token',
    );
    expect(lines({ bearerKeys: [{ token: 'tok', kind: 'user' }] })[0]).toContain('bearerKeys[0].owner');
  });

  test('a key that names what is not there is kept, and a warning says so', () => {
    const { settings, warnings } = parse({
      mcpServers: { s: { command: 'x' } },
      groups: [{ id: 'g', name: 'dev' }],
      bearerKeys: [{ token: 'tok', allowedGroups: ['g', 'dev', 'ops'], allowedServers: ['s', 'gone'] }],
    });
    expect(settings.keys[0]).toMatchObject({ allowedGroups: ['g', 'dev', 'ops'], allowedServers: ['s', 'gone'] });
    expect(warnings).toEqual([
      { path: 'bearerKeys[0].allowedGroups[2]', message: 'there is no group "ops"; kept for when there is one' },
      { path: 'bearerKeys[0].allowedServers[1]', message: 'there is no server "gone"; kept for when there is one' },
    ]);
  });

  test('the one key of old files opens everything, but only where a key is asked for', () => {
    const keys = (enableBearerAuth?: boolean) =>
      parse({ systemConfig: { routing: { enableBearerAuth, bearerAuthKey: 'old' } } }).settings.keys;
    expect(keys(true)).toMatchObject([
      { accessType: 'all', kind: 'system', enabled: true, tokenHash: createHash('sha256').update('old').digest('hex') },
    ]);
    expect(keys(false)).toEqual([]);
    expect(keys()).toEqual([]);
  });
});
