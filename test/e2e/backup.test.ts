import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, keyToken, login, passwordOf, userToken } from '../kit/api.ts';
import { type Person, person } from '../kit/command.ts';
import { copyOfEmbedded } from '../kit/embedded-template.ts';
import { hostileHttp, temporaryFolder } from '../kit/hostile.ts';
import { raw } from '../kit/raw.ts';
import { failedStart, type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// `toolhub backup` and `restore` (CONTRACT §12): the real program, beside a real hub with its embedded database.

const server = await hostileHttp({ name: 'mail', tools: ['echo'] });

let hub: TestHub;
let admin: string;
let ann: string;
let key: string;
let operator: Person;
let backup: string;
let answered = 0;

/** How the program finds a hub in its folder. */
const at = (folder: string) => ({
  TOOLHUB_URL: '',
  DATA_DIR: join(folder, 'data'),
  SETTINGS_PATH: join(folder, 'mcp_settings.json'),
});

const call = async (url: string, token: string) => {
  const asked = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'mail-echo', arguments: {} } };
  return raw(`${url}/mcp`, { body: asked, headers: { authorization: `Bearer ${token}` } });
};

const callCount = async (of: { url: string }, token: string) => {
  const { body } = await api(of, 'GET', '/activities/stats', { token });
  return (body.data as { totalCalls: number }).totalCalls;
};

beforeAll(async () => {
  const folder = temporaryFolder();
  await copyOfEmbedded(join(folder, 'data'));
  hub = await testHub({
    folder,
    mcpServers: { mail: server.config },
    systemConfig: { routing: { enableBearerAuth: true }, pins: { mode: 'hold' } },
    env: { DB_URL: '' },
  });
  await hub.connected(1);
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann', { servers: ['mail'] });
  key = await keyToken(hub, admin);
  await until('the database is ready', async () => (await hub.health()).database.state === 'ready');
  operator = person(hub);
  backup = join(operator.home, 'backup.zip');
  // Calls go on while the backup is made.
  const calls = { go: true };
  const calling = (async () => {
    while (calls.go) {
      expect((await call(hub.url, key)).status).toBe(200);
      answered += 1;
    }
  })();
  await until('some calls were answered', () => answered > 5);
  const before = answered;
  const made = await operator.run(['backup', backup], { env: at(hub.folder) });
  calls.go = false;
  await calling;
  expect(made.code, made.stderr).toBe(0);
  expect(made.stderr).toContain('all secrets');
  answered = before;
});

describe('a backup that is made while calls run', () => {
  test('is a file for its owner alone, and in the audit log', async () => {
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    const { body } = await api(hub, 'GET', '/audit?action=backup', { token: admin });
    expect(body.data).toMatchObject([{ action: 'backup.make', via: 'cli', after: { secrets: 'include' } }]);
  });

  test('is the same hub in another folder: users, keys, pins, calls and the audit log', async () => {
    const folder = temporaryFolder();
    const restored = await operator.run(['restore', backup], { env: at(folder) });
    expect(restored.code, restored.stderr).toBe(0);
    expect(readdirSync(folder).toSorted()).toEqual(['data', 'mcp_settings.json']);
    const pinned = (await api(hub, 'GET', '/pins', { token: admin })).body.data;

    const again = await testHub({ folder, env: { DB_URL: '' } });
    await again.connected(1);
    const token = await login(again);
    await login(again, 'ann', passwordOf('ann'));
    // The logins of before hold too: the secret that signed them is in the backup.
    expect((await api(again, 'GET', '/auth/user', { token: ann })).status).toBe(200);
    expect((await call(again.url, key)).status).toBe(200);
    expect((await api(again, 'GET', '/pins', { token })).body.data).toEqual(pinned);

    await until('the database is ready', async () => (await again.health()).database.state === 'ready');
    await until(
      'all calls that were answered before are there',
      async () => (await callCount(again, token)) >= answered,
    );
    expect(await callCount(again, token)).toBeLessThanOrEqual(await callCount(hub, admin));
    expect((await api(again, 'GET', '/audit/check', { token })).body.data).toMatchObject({ whole: true });
    const actions = (await api(again, 'GET', '/audit?action=backup', { token })).body.data as { action: string }[];
    expect(actions.map(({ action }) => action)).toEqual(['backup.restore', 'backup.make']);
  });

  test('goes to a file that is not there yet, and nothing is left of one that fails', async () => {
    const kept = readFileSync(backup);
    const refused = await operator.run(['backup', backup], { env: at(hub.folder) });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('is there already')]);
    expect(readFileSync(backup).equals(kept)).toBe(true);
    const nowhere = await operator.run(['backup', 'x.zip'], { env: at(temporaryFolder()) });
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining('there is neither a data folder')]);
    expect(readdirSync(operator.home).filter((name) => name.includes('x.zip'))).toEqual([]);
  });
});

describe('who may make a backup', () => {
  test('an admin with a fresh login may, at any hub', async () => {
    const boss = person(hub);
    await boss.run(['login', '--username', 'admin', '--password-stdin'], { input: 'correct horse' });
    const made = await boss.run(['backup', 'far.zip']);
    expect(made.code, made.stderr).toBe(0);
    expect(made.stderr).toMatch(/\b1 key,/);
    const { body } = await api(hub, 'GET', '/audit?action=backup&limit=1', { token: admin });
    expect(body.data).toMatchObject([{ actor: { name: 'admin' }, after: { secrets: 'include' } }]);
  });

  test('a user, an access key, a caller without a login and the secret of another hub are refused', async () => {
    expect((await api(hub, 'GET', '/backup', { token: ann })).status).toBe(403);
    expect((await api(hub, 'GET', '/backup', { token: key })).status).toBe(403);
    expect((await api(hub, 'GET', '/backup?local=true')).status).toBe(401);
    const env = { ...at(hub.folder), JWT_SECRET: 'another secret, which is long enough' };
    const refused = await operator.run(['backup', 'y.zip'], { env });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('JWT_SECRET')]);
  });

  test('where the hub alone has JWT_SECRET, the refusal says that it is to be set', async () => {
    const other = await testHub({ env: { JWT_SECRET: 'a secret of the environment, long enough' } });
    const refused = await operator.run(['backup', 'z.zip'], { env: at(other.folder) });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('JWT_SECRET in its environment')]);
  });

  test('a request for the headers alone keeps no others from one', async () => {
    // More than is on its way without a reader.
    const large = join(hub.folder, 'data', 'large.bin');
    writeFileSync(large, randomBytes(8_000_000));
    expect((await api(hub, 'HEAD', '/backup', { token: admin })).status).toBe(200);
    await until('another can be made', async () => (await api(hub, 'GET', '/backup', { token: admin })).status === 200);
    rmSync(large);
  });
});

describe('a restore', () => {
  test('is refused while a hub runs on the folder, and into a folder with data', async () => {
    const running = await operator.run(['restore', backup, '--replace'], { env: at(hub.folder) });
    expect([running.code, running.stderr]).toEqual([1, expect.stringMatching(/the hub with process id \d+ .*has it/)]);

    const folder = temporaryFolder();
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data', 'jwt.secret'), `${'0'.repeat(64)}\n`);
    writeFileSync(join(folder, 'mcp_settings.json'), '{"mcpServers":{}}');
    const full = await operator.run(['restore', backup], { env: at(folder) });
    expect([full.code, full.stderr]).toEqual([2, expect.stringContaining('there is data already')]);
    expect(readFileSync(join(folder, 'mcp_settings.json'), 'utf8')).toBe('{"mcpServers":{}}');

    const replaced = await operator.run(['restore', backup, '--replace'], { env: at(folder) });
    expect(replaced.code, replaced.stderr).toBe(0);
    const aside = readdirSync(join(folder, 'data')).find((name) => name.startsWith('before-restore-')) ?? '';
    expect(readFileSync(join(folder, 'data', aside, 'jwt.secret'), 'utf8')).toBe(`${'0'.repeat(64)}\n`);
    expect(readFileSync(join(folder, 'mcp_settings.json'), 'utf8')).toContain('mail');
  });

  test('that was interrupted keeps the hub from starting, until it is undone', async () => {
    const folder = temporaryFolder();
    const dataDir = join(folder, 'data');
    mkdirSync(join(dataDir, 'before-restore-2026'), { recursive: true });
    writeFileSync(join(folder, 'mcp_settings.json'), '{"mcpServers":{}}');
    writeFileSync(join(dataDir, 'before-restore-2026', 'jwt.secret'), 'of before');
    writeFileSync(join(dataDir, 'jwt.secret'), 'of the backup');
    const settingsPath = join(folder, 'mcp_settings.json');
    const state = { version: 1, aside: 'before-restore-2026', old: ['jwt.secret'], settingsPath, settings: 'kept' };
    writeFileSync(join(dataDir, 'restore.json'), JSON.stringify(state));

    const { code, output } = await failedStart({ folder, env: { DB_URL: 'off' } });
    expect([code, output]).toEqual([2, expect.stringContaining('toolhub restore --undo')]);
    const undone = await operator.run(['restore', '--undo'], { env: at(folder) });
    expect(undone.code, undone.stderr).toBe(0);
    expect(readFileSync(join(dataDir, 'jwt.secret'), 'utf8')).toBe('of before');
    expect(existsSync(join(dataDir, 'restore.json'))).toBe(false);
  });
});
