import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silent } from '../../../test/kit/databases.ts';
import { server, settings, user } from '../../../test/kit/snapshots.ts';
import { HubError } from '../../core/errors.ts';
import { reasonWords } from '../../core/reasons.ts';
import { createFullDiskRetry } from '../../disk/full-disk-retry.ts';
import { openDataDir } from '../../settings/data-dir.ts';
import type { Check } from './check.ts';
import { checkCommands, type ReadyServer } from './commands.ts';
import { checkDataFolder, checkDiskSpace } from './data-folder.ts';
import { checkExposure } from './exposure.ts';
import { checkNodeVersion } from './node-version.ts';
import { checkPasswords } from './passwords.ts';
import { checkPort } from './port.ts';
import { checkSecrets } from './secrets.ts';
import { checkServers } from './servers.ts';
import { checkSettings, settingsPlace } from './settings.ts';
import { checkWorkers } from './workers.ts';
import { checkVariables } from './variables.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolhub-doctor-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const program = (name: string, text = '#!/bin/sh\nexit 0\n') => {
  writeFileSync(join(folder, name), text);
  chmodSync(join(folder, name), 0o755);
};

const stdio = (name: string, command: string, env: Record<string, string> = {}): ReadyServer => {
  return { name, transport: { type: 'stdio', command, args: [], env, cwd: undefined } };
};

test('workers: as many as there are cores', () => {
  expect(checkWorkers(1, 1)).toEqual([]);
  expect(checkWorkers(2, 2)).toMatchObject([{ status: 'ok' }]);
  expect(checkWorkers(3, 2)).toMatchObject([{ status: 'warn', fix: expect.stringContaining('WORKERS to 2') }]);
});

describe('Node.js', () => {
  test.each([
    ['18.20.8', 'fail'],
    ['20.18.9', 'fail'],
    ['20.19.0', 'warn'],
    ['22.1.0', 'ok'],
    ['25.0.0', 'ok'],
  ])('%s: %s', (running, status) => {
    expect(checkNodeVersion(running).status).toBe(status);
  });
});

describe('commands', () => {
  const find = async (servers: ReadyServer[], command: string): Promise<Check | undefined> =>
    (await checkCommands(servers, folder)).find(({ name }) => name === command);

  test('that no server needs may be missing', async () => {
    expect(await find([], 'uvx')).toEqual({ name: 'uvx', status: 'ok', detail: 'uvx not found; no server needs it' });
  });

  test('that are missing name the servers that need them, and how to get them', async () => {
    const found = await find([stdio('fetch', 'uvx'), stdio('time', 'uvx'), stdio('other', 'npx')], 'uvx');
    expect(found).toMatchObject({ status: 'fail', detail: 'uvx not found; needed by fetch, time' });
    expect(found?.fix).toContain('Install uv');
  });

  test('are looked for where the server would look', async () => {
    program('mine');
    expect(await find([stdio('a', 'mine')], 'mine')).toMatchObject({
      status: 'ok',
      detail: `${join(folder, 'mine')}; needed by a`,
    });
    expect(await find([stdio('a', 'mine', { PATH: '/nowhere' })], 'mine')).toMatchObject({ status: 'fail' });
    expect(await find([stdio('a', join(folder, 'mine'))], 'mine')).toMatchObject({ status: 'ok' });
  });

  test('that may not be executed are not found', async () => {
    writeFileSync(join(folder, 'data'), '', { mode: 0o644 });
    mkdirSync(join(folder, 'sub'));
    expect(await find([stdio('a', 'data')], 'data')).toMatchObject({ status: 'fail' });
    expect(await find([stdio('a', 'sub')], 'sub')).toMatchObject({ status: 'fail' });
  });

  test('docker needs an engine that answers, when a server needs docker', async () => {
    program('docker', '#!/bin/sh\necho 28.1.0\n');
    expect(await find([stdio('a', 'docker')], 'docker')).toMatchObject({
      status: 'ok',
      detail: 'engine 28.1.0 answers; needed by a',
    });
    program('docker', '#!/bin/sh\nexit 1\n');
    expect(await find([stdio('a', 'docker')], 'docker')).toMatchObject({ status: 'fail' });
    expect(await find([], 'docker')).toMatchObject({ status: 'ok' });
  });
});

describe('the port', () => {
  const listen = async (answer: string) => {
    const server = createServer((_, response) => response.end(answer));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    return { port, close: () => new Promise((done) => server.close(done)) };
  };

  test('that is free is fine', async () => {
    const { port, close } = await listen('');
    await close();
    expect(await checkPort('127.0.0.1', port)).toMatchObject({ status: 'ok', detail: `127.0.0.1:${port} is free` });
    expect(await checkPort('127.0.0.1', 0)).toMatchObject({ status: 'ok' });
  });

  test('that a hub holds says which', async () => {
    const health = { status: 'degraded', version: '9.9.9', servers: { total: 3, connected: 2, disconnected: 1 } };
    const { port, close } = await listen(JSON.stringify(health));
    const found = await checkPort('127.0.0.1', port);
    await close();
    expect(found).toMatchObject({
      status: 'ok',
      detail: `127.0.0.1:${port} is held by a hub: version 9.9.9, degraded, 2 of 3 servers connected`,
    });
  });

  test('that something else holds is a failure, with what to do', async () => {
    const { port, close } = await listen('<html>');
    const found = await checkPort('127.0.0.1', port);
    await close();
    expect(found.status).toBe('fail');
    expect(found.fix).toContain('--port');
  });

  test('on an address that is not ours is a failure', async () => {
    expect(await checkPort('203.0.113.7', 3000)).toMatchObject({
      status: 'fail',
      detail: '203.0.113.7 is no address of this machine',
    });
  });
});

describe('the data folder', () => {
  test('is written to, left as it was, and not made by looking', async () => {
    expect(await checkDataFolder(folder)).toMatchObject({
      status: 'ok',
      detail: `${folder} can be written to; no hub uses it now`,
    });
    const later = join(folder, 'a', 'b');
    expect(await checkDataFolder(later)).toMatchObject({
      status: 'ok',
      detail: `${later} will be made at the first start`,
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  test('says which hub uses it', async () => {
    const dataDir = await openDataDir(folder, silent, createFullDiskRetry(silent));
    dataDir.announce('http://127.0.0.1:3999');
    const { detail } = await checkDataFolder(folder);
    dataDir.close();
    expect(detail).toContain(`process id ${process.pid}`);
    expect(detail).toContain('at http://127.0.0.1:3999 uses it now');
  });

  test('that is a file cannot be used', async () => {
    writeFileSync(join(folder, 'file'), '');
    for (const path of [join(folder, 'file'), join(folder, 'file', 'data')]) {
      expect(await checkDataFolder(path)).toMatchObject({
        status: 'fail',
        fix: expect.stringContaining('DATA_DIR') as string,
      });
    }
  });

  test('cannot be where the kernel shows what is no file', async () => {
    expect(await checkDataFolder('/proc/toolhub')).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('file system of the kernel') as string,
    });
  });

  test('has room, said in whole numbers', async () => {
    expect((await checkDiskSpace(join(folder, 'later'))).detail).toMatch(/^\d+ [MG]B free at /);
  });
});

const fileIn = (name: string) =>
  settingsPlace({ settingsPath: join(folder, name), dataDir: folder, database: { kind: 'off' } });

describe('settings', () => {
  const check = async (text: string) => {
    writeFileSync(join(folder, 'settings.json'), text);
    return checkSettings(await fileIn('settings.json'), { SET: 'yes' });
  };

  test('are those of the database that hubs share, as this one last had them', async () => {
    writeFileSync(join(folder, 'old.json'), '{ "mcpServers": no');
    const env = {
      settingsPath: join(folder, 'old.json'),
      dataDir: mkdtempSync(join(folder, 'data-')),
      database: { kind: 'postgres', url: 'postgres://db/hub' },
    } as const;
    // Before there are any the file counts, because the database is filled from it.
    expect(await checkSettings(await settingsPlace(env), {})).toMatchObject({ invalid: true });
    const document = { mcpServers: { kept: { command: 'x' } } };
    writeFileSync(join(env.dataDir, 'settings-copy.json'), JSON.stringify({ revision: '7', document }));
    expect(await checkSettings(await settingsPlace(env), {})).toMatchObject({
      invalid: false,
      servers: [{ name: 'kept' }],
      checks: [{ status: 'ok', detail: expect.stringContaining('in the database (DB_URL)') }],
    });
  });

  test('may be missing before the first start', async () => {
    expect(await checkSettings(await fileIn('none.json'), {})).toMatchObject({
      invalid: false,
      servers: [],
      checks: [{ status: 'ok' }],
    });
  });

  test('that are wrong give every problem with its path', async () => {
    const { checks, invalid } = await check('{"mcpServers": {"a": {"command": 7}, "b": {"args": []}}}');
    expect(invalid).toBe(true);
    expect(checks.filter(({ status }) => status === 'fail').length).toBeGreaterThanOrEqual(2);
    expect(checks.map(({ detail }) => detail).join('\n')).toMatch(/mcpServers\.a\.command[\s\S]*mcpServers\.b/);
  });

  test('that are no JSON say where', async () => {
    const { checks, invalid } = await check('{\n  "mcpServers": }');
    expect(invalid).toBe(true);
    expect(checks[0]?.detail).toContain('line 2');
  });

  test('give the enabled servers, and the variables that are not set', async () => {
    const { servers, checks } = await check(
      JSON.stringify({
        mcpServers: {
          one: { command: 'x', env: { A: '${SET}', B: '${UNSET}' } },
          off: { command: 'y', enabled: false },
        },
      }),
    );
    expect(checks[0]).toMatchObject({ status: 'ok' });
    expect(servers.map(({ name }) => name)).toEqual(['one']);
    expect(checkVariables(servers)).toEqual([
      {
        name: '${UNSET}',
        status: 'warn',
        detail: 'not set; used by one',
        fix: expect.stringContaining('Set UNSET') as string,
      },
    ]);
    expect(checkVariables([])).toMatchObject([{ status: 'ok' }]);
  });
});

describe('servers', () => {
  test('are all tried, also when one fails, and reported in the order of the file', async () => {
    const { servers } = await (async () => {
      const mcpServers = { a: { command: 'x' }, b: { command: 'y' }, c: { command: 'z' } };
      writeFileSync(join(folder, 'settings.json'), JSON.stringify({ mcpServers }));
      return checkSettings(await fileIn('settings.json'), {});
    })();
    const checks = await checkServers(servers, ({ name }) =>
      name === 'b'
        ? Promise.reject(new HubError('upstream_unavailable', 'Cannot start server "b": try this.'))
        : Promise.resolve({ tools: name === 'a' ? 1 : 9, prompts: 0, resources: name === 'a' ? 2 : 0, ms: 412 }),
    );
    expect(checks).toEqual([
      { name: 'server a', status: 'ok', detail: '1 tool, 2 resources (0.4 s)' },
      { name: 'server b', status: 'fail', detail: 'Cannot start server "b": try this.' },
      { name: 'server c', status: 'ok', detail: '9 tools (0.4 s)' },
    ]);
  });

  test('are started for it also where the hub starts them on demand, which is said', async () => {
    const servers = [{ settings: server('a', { onDemand: { idleMs: 1 } }) }];
    const checks = await checkServers(servers, () => Promise.resolve({ tools: 1, prompts: 0, resources: 0, ms: 412 }));
    expect(checks).toEqual([
      { name: 'server a', status: 'ok', detail: '1 tool (0.4 s); the hub starts it when it is called' },
    ]);
  });

  test('are told by name why they fail, with what to do apart from it', async () => {
    const reason = { code: 'command_misspelled', values: { command: 'ndoe', suggestion: 'node' } } as const;
    const { text, advice } = reasonWords(reason);
    const failed = new HubError('upstream_unavailable', `${text} ${advice}`, { reason });
    const checks = await checkServers([{ settings: server('b') }], () => Promise.reject(failed));
    expect(checks).toEqual([
      {
        name: 'server b',
        status: 'fail',
        detail: 'The command "ndoe" was not found on PATH.',
        fix: 'Did you mean "node"? Otherwise install it, or give an absolute path.',
      },
    ]);
  });
});

describe('what others can do', () => {
  const shown = server('shown', { visibility: 'public' });
  const plain = settings({ servers: [shown, server('plain')] });
  const local = { host: '127.0.0.1', installBaseUrl: undefined, allowedHosts: [] };
  const place = { ...local, installBaseUrl: 'https://hub.example.com' };

  test('is warned of, each with how to close it, on a hub that they can reach', () => {
    const open = {
      ...plain,
      system: { ...plain.system, routing: { ...plain.system.routing, enableBearerAuth: false } },
    };
    const found = checkExposure(place, open);
    expect(found.map(({ status, detail }) => [status, detail])).toEqual([
      ['warn', expect.stringContaining('call the tools of shown')],
      ['warn', expect.stringContaining('use everything of shown, plain over MCP')],
    ]);
    for (const { fix } of found) expect(fix).toMatch(/openApiAccess.*enableBearerAuth/);
  });

  test('is fine where it is nothing, and not spoken of where no other machine reaches the hub', () => {
    expect(checkExposure(place, settings({ servers: [server('plain')] }))).toMatchObject([{ status: 'ok' }]);
    expect(checkExposure(local, plain)).toEqual([]);
    expect(checkExposure(place, undefined)).toEqual([]);
  });

  test('is what the settings say of the address, too', () => {
    const named = { ...plain, system: { ...plain.system, baseUrl: 'https://hub.example.com' } };
    expect(checkExposure(local, named)).toHaveLength(1);
  });
});

describe('weak passwords', () => {
  const isWeak = { passwordIsWeak: true };
  const known = settings({ users: [user('ann', isWeak), user('bob', { passwordIsWeak: false }), user('cid', isWeak)] });

  test('that are known are named, as a warning where others can reach the hub', () => {
    const [here] = checkPasswords(known, undefined, false);
    expect(here).toMatchObject({ status: 'ok', detail: 'weak: ann, cid' });
    const [exposed] = checkPasswords(known, undefined, true);
    expect(exposed).toMatchObject({ status: 'warn', detail: 'weak: ann, cid, and others can reach this hub' });
  });

  test('are that of a first start where ADMIN_PASSWORD is one', () => {
    expect(checkPasswords(undefined, 'password', true)).toMatchObject([
      { status: 'warn', detail: expect.stringContaining('admin (ADMIN_PASSWORD)') },
    ]);
    for (const [some, given] of [
      [undefined, 'correct horse battery'],
      [undefined, undefined],
      [settings({}), undefined],
    ] as const)
      expect(checkPasswords(some, given, true)).toEqual([]);
  });
});

test('secrets that another process shows are named where the hub starts programs', () => {
  const readable = [{ names: ['JWT_SECRET'], process: 'process 7 (npm start)' }];
  expect(checkSecrets(readable, [stdio('a', 'x')])).toMatchObject([
    { status: 'warn', detail: expect.stringMatching(/JWT_SECRET in the environment of process 7 \(npm start\)/) },
  ]);
  expect(checkSecrets(readable, [{ transport: { type: 'sse' } }])).toEqual([]);
  expect(checkSecrets([], [stdio('a', 'x')])).toEqual([]);
});
