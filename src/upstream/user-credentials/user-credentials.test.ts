import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/kit/hostile.ts';
import { server, settings, user } from '../../../test/kit/snapshots.ts';
import { createSealer } from '../../core/seal.ts';
import type { CredentialSlot, ServerSettings } from '../../core/settings/server.ts';
import { openFileBindings } from './bindings-in-file.ts';
import type { Binding } from './bindings.ts';
import { createUserCredentials } from './user-credentials.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const sealer = createSealer(new Uint8Array(32).fill(1), 'credentials');
const another = createSealer(new Uint8Array(32).fill(2), 'credentials');
const binding = (username: string): Binding => ({
  server: 'tickets',
  username,
  place: 'there',
  values: { 'env.TOKEN': username },
  updatedAt: 1,
});

describe('the file of credentials', () => {
  const names = (bindings: { all(): readonly Binding[] }) => bindings.all().map(({ username }) => username);

  test('keeps lines that this hub cannot open', async () => {
    const path = join(temporaryFolder(), 'credentials.sealed');
    await (await openFileBindings(path, another, log)).change({ put: [binding('ann')] });
    await (await openFileBindings(path, sealer, log)).change({ put: [binding('bob')] });
    expect(names(await openFileBindings(path, sealer, log))).toEqual(['bob']);
    expect(names(await openFileBindings(path, another, log))).toEqual(['ann']);
  });

  test('that cannot be read is not written', async () => {
    const path = join(temporaryFolder(), 'credentials.sealed');
    mkdirSync(path);
    const bindings = await openFileBindings(path, sealer, log);
    rmdirSync(path);
    writeFileSync(path, 'readable again');
    await expect(bindings.change({ put: [binding('ann')] })).rejects.toThrow('Cannot read the credentials of users');
    expect([readFileSync(path, 'utf8'), bindings.all()]).toEqual(['readable again', []]);
  });
});

describe('what was set for a server', () => {
  const slots: CredentialSlot[] = [{ target: 'env', name: 'TOKEN' }];
  const program = (command: string, ...args: string[]): Partial<ServerSettings> => ({
    transport: { type: 'stdio', command, args, env: {}, cwd: undefined },
  });
  const api = (openapi: Record<string, unknown>): Partial<ServerSettings> => ({
    transport: { type: 'openapi', openapi, headers: {}, env: {} },
  });
  const at = (url: string) => ({ openapi: '3.0.0', servers: [{ url }] });

  test.each<[string, Partial<ServerSettings>, Partial<ServerSettings>, boolean]>([
    ['the same program', program('npx', '-y', 'a'), program('npx', '-y', 'a'), true],
    ['another version', program('npx', '-y', '@x/a@1.2.3'), program('npx', '-y', '@x/a@2.0.0'), true],
    ['another tag', program('docker', 'run', 'x/a:1'), program('docker', 'run', 'x/a:2'), true],
    ['another image', program('docker', 'run', '-i', 'x/a:1'), program('docker', 'run', '-i', 'x/b:1'), false],
    [
      'another registry',
      program('npx', '--registry', 'https://a.example', 'a'),
      program('npx', '--registry', 'https://b.example', 'a'),
      false,
    ],
    ['another scope', program('npx', '@x/a'), program('npx', '@y/a'), false],
    [
      'another host in its document',
      api({ schema: at('https://a.example') }),
      api({ schema: at('https://b.example') }),
      false,
    ],
    [
      'another variable of its document',
      api({ schema: at('https://{host}'), serverVariables: { host: 'a' } }),
      api({ schema: at('https://{host}'), serverVariables: { host: 'b' } }),
      false,
    ],
  ])('at %s', async (_, before, after, isSent) => {
    const ann = user('ann', { role: 'admin' });
    const shape = { credentialTemplate: slots };
    const [one, other] = [server('tickets', { ...shape, ...before }), server('tickets', { ...shape, ...after })];
    const bindings = await openFileBindings(join(temporaryFolder(), 'credentials.sealed'), sealer, log);
    const credentials = createUserCredentials({
      bindings,
      settings: () => settings({ servers: [other], users: [ann] }),
      page: () => '/',
      changed: () => undefined,
      log: () => log,
    });
    await credentials.set(one, ann, { 'env.TOKEN': 'secret' });
    expect(credentials.of(one, ann)?.env).toEqual({ TOKEN: 'secret' });
    expect(credentials.of(other, ann) !== undefined).toBe(isSent);
    expect(credentials.state(other, ann).configured).toBe(isSent);
  });
});
