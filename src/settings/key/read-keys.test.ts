import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { HubError } from '../../core/errors.ts';
import type { Problem } from '../../core/errors.ts';
import { parseSettings } from '../document/parse-settings.ts';

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
