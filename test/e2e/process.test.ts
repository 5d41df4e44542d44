import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { verify } from '@node-rs/argon2';
import { beforeAll, describe, expect, test } from 'vitest';
import { hubLimits } from '../../src/hub/limits.ts';
import { atEnd } from '../kit/at-end.ts';
import { hostileStdio, temporaryFolder } from '../kit/hostile.ts';
import { setLimits } from '../kit/limits.ts';
import { descendants, freePort, isAlive } from '../kit/processes.ts';
import { raw, rpc } from '../kit/raw.ts';
import { legacySession, session } from '../kit/sessions.ts';
import { failedStart, hubProcess, refusedStart, testHub } from '../kit/test-hub.ts';
import type { HubProcess, TestHub } from '../kit/test-hub.ts';
import { until, within } from '../kit/until.ts';

// The hub as a process: how it starts, how it refuses to, and that nothing survives it. Where a test is about what one
// has left on disk, the hub that finds it is in the process of the tests.

const tools = async (hub: Pick<TestHub, 'mcp'>) =>
  ((await rpc(hub.mcp(), 'tools/list', {})).result?.tools ?? []).map((tool) => tool.name);

describe.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)('%s', (signal) => {
  test('leaves no child, not even one that ignores every hint', async () => {
    const servers = {
      plain: hostileStdio({ name: 'plain' }),
      stubborn: hostileStdio({ name: 'stubborn', ignoreSigterm: true, ignoreEof: true }),
      parent: hostileStdio({ name: 'parent', grandchild: true }),
      stubbornParent: hostileStdio({ name: 'stubbornParent', grandchild: true, ignoreSigterm: true, ignoreEof: true }),
      hangs: hostileStdio({ name: 'hangs', silentOn: ['initialize'], ignoreSigterm: true, ignoreEof: true }),
    };
    const hub = await hubProcess({
      mcpServers: Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, server.config])),
    });
    await hub.connected(4);
    await until('the hanging one runs too', () => servers.hangs.pids().length === 1);
    const family = [
      ...descendants(hub.pid).map((one) => one.pid),
      ...Object.values(servers).flatMap((server) =>
        server.journal().flatMap((entry) => [entry.pid, ...(entry.child === undefined ? [] : [entry.child])]),
      ),
    ];
    expect(new Set(family).size).toBeGreaterThanOrEqual(7);
    const exit = await hub.stop(signal);
    if (signal !== 'SIGKILL') expect(exit, hub.output()).toEqual({ code: 0, signal: null });
    await until('everybody is gone', () => family.every((pid) => !isAlive(pid)));
  });

  test('leaves settings and sessions as they were, and the next start goes on with both', async () => {
    const server = hostileStdio({ name: 's' });
    const hub = await hubProcess({ mcpServers: { s: server.config }, custom: { kept: true } });
    await hub.connected(1);
    const before = readFileSync(hub.settingsPath, 'utf8');
    const own = await session(hub.mcp());
    await hub.stop(signal);
    expect(JSON.parse(readFileSync(hub.settingsPath, 'utf8'))).toMatchObject(JSON.parse(before) as object);
    const again = await testHub({ folder: hub.folder });
    await again.connected(1);
    const headers = own.headers;
    const listed = await rpc(again.mcp(), 'tools/list', {}, { headers });
    expect([listed.status, listed.result?.tools?.length]).toEqual([200, (await tools(again)).length]);
    const answer = await rpc(
      again.mcp(),
      'tools/call',
      { name: 's-delay', arguments: { tag: 'same session' } },
      { headers },
    );
    expect(answer.result?.content?.[0]?.text).toBe('same session');
    const events = await raw(again.mcp(), { method: 'DELETE', headers });
    expect([200, 202, 204]).toContain(events.status);
  });
});

test('a kill at any moment of a first start leaves settings that are whole', async () => {
  const server = hostileStdio({ name: 's', tools: ['echo'] });
  const document = { mcpServers: { s: server.config }, unknown: { kept: ['x'.repeat(100_000)] } };
  for (const afterMs of [120, 200, 260, 320, 400, 550]) {
    const folder = temporaryFolder();
    const child = startHub(folder, document);
    await sleep(afterMs);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(
      JSON.parse(readFileSync(join(folder, 'mcp_settings.json'), 'utf8')),
      `killed after ${afterMs} ms`,
    ).toMatchObject(document);
    const hub = await testHub({ folder });
    await until('it works', async () => (await tools(hub)).join() === 's-echo');
    expect(JSON.parse(readFileSync(hub.settingsPath, 'utf8'))).toMatchObject(document);
    await hub.close();
    expect(readdirSync(folder).filter((name) => name.startsWith('mcp_settings')).length).toBeLessThanOrEqual(2);
  }
});

test('running calls are finished before the end, new ones are not begun', async () => {
  const server = hostileStdio({ name: 's' });
  const hub = await hubProcess({ mcpServers: { s: server.config } });
  await hub.connected(1);
  const running = rpc(hub.mcp(), 'tools/call', { name: 's-delay', arguments: { tag: 'finished', ms: 1_500 } });
  await until('the call arrived', () => server.received('tools/call').length === 1);
  const ending = hub.stop('SIGTERM');
  await until('nothing new is begun', async () => {
    try {
      return (await rpc(hub.mcp(), 'tools/list', {}, { timeoutMs: 1_000 })).status >= 500;
    } catch {
      return true;
    }
  });
  expect((await running).result?.content?.[0]?.text).toBe('finished');
  expect(await ending).toEqual({ code: 0, signal: null });
});

test('a call that never ends, an open stream and an idle connection delay the end by ten seconds at most', async () => {
  const server = hostileStdio({ name: 's' });
  const hub = await hubProcess({ mcpServers: { s: server.config } });
  await hub.connected(1);
  const own = await session(hub.mcp());
  await own.listen();
  await legacySession(hub.sse());
  const idle = (await import('node:net')).connect(Number(new URL(hub.url).port), '127.0.0.1');
  idle.on('error', () => {});
  atEnd(() => void idle.destroy());
  const stuck = own.call('s-hang', {}, { timeoutMs: 110_000 });
  stuck.catch(() => {});
  await until('the call arrived', () => server.received('tools/call').length === 1);
  // Waits for a minute, which a hub that waits for any of them exceeds.
  expect((await hub.stop('SIGTERM')).code).toBe(0);
});

test('open streams and idle connections alone do not delay the end', async () => {
  const hub = await testHub({ mcpServers: {} });
  // Longer than this test may take.
  setLimits(hubLimits, { drainMs: 600_000 });
  const own = await session(hub.mcp());
  await own.listen();
  await legacySession(hub.sse());
  await within('the end of the hub', hub.close(), 60_000);
});

describe('a start that cannot be', () => {
  const shouldName = (failed: Awaited<ReturnType<typeof refusedStart>>, code: number, ...words: string[]) => {
    expect(failed.code, failed.output).toBe(code);
    for (const word of words) expect(failed.output).toContain(word);
    expect(failed.output).not.toMatch(/\n\s+at .*:\d+:\d+/); // no stack: it is not a bug
    expect(failed.output.trim().split('\n').length, failed.output).toBeLessThanOrEqual(4);
  };

  test.each([
    ['PORT', 'abc'],
    ['PORT', '70000'],
    ['PORT', '-1'],
    ['PORT', '3000x'],
    ['REQUEST_TIMEOUT_MS', 'soon'],
    ['REQUEST_TIMEOUT_MS', '-5'],
    ['CONNECT_TIMEOUT_MS', '1e99'],
    ['LOG_LEVEL', 'loud'],
    ['LOG_FORMAT', 'xml'],
    ['READONLY', 'perhaps'],
  ])('%s=%s is refused by name, with exit code 2', async (name, value) => {
    shouldName(await refusedStart({ env: { [name]: value } }), 2, name, value);
  });

  test.each([
    ['{"mcpServers": []}', 'mcpServers'],
    ['{"groups": [{"servers": []}]}', 'groups'],
    ['{"mcpServers": ', 'mcp_settings.json'],
    ['[]', 'mcp_settings.json'],
  ])('settings of %s are refused by path, with exit code 2', async (text, path) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'mcp_settings.json'), text);
    shouldName(await refusedStart({ folder }), 2, path);
    expect(readFileSync(join(folder, 'mcp_settings.json'), 'utf8')).toBe(text);
  });

  test('settings that are a folder, and a data folder that is a file, are named', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'mcp_settings.json'));
    const failed = await refusedStart({ folder });
    expect(failed.code).toBeGreaterThan(0);
    expect(failed.output).toContain('mcp_settings.json');
    const other = temporaryFolder();
    writeFileSync(join(other, 'data'), 'not a folder');
    const second = await refusedStart({ folder: other });
    expect(second.code).toBeGreaterThan(0);
    expect(second.output).toContain(join(other, 'data'));
  });

  test('a port in use is named, with exit code 1, and no child is left', async () => {
    const first = await testHub({ mcpServers: {} });
    const { port } = new URL(first.url);
    const server = hostileStdio({ name: 's', ignoreSigterm: true, ignoreEof: true });
    shouldName(await failedStart({ mcpServers: { s: server.config }, env: { PORT: port } }), 1, port);
    await until('no child is left', () => server.pids().every((pid) => !isAlive(pid)));
    expect((await first.health()).status).toBe('healthy');
  });
});

test('two hubs on one data folder: the second is refused or both work, and the first is never harmed', async () => {
  const server = hostileStdio({ name: 's', tools: ['delay'] });
  const hub = await hubProcess({ mcpServers: { s: server.config } });
  await hub.connected(1);
  const own = await session(hub.mcp());
  const second = await hubProcess({ folder: hub.folder }).catch((error: unknown) => String(error));
  if (typeof second === 'string') expect(second).toContain(hub.folder);
  else {
    await second.connected(1);
    expect(await tools(second)).toEqual(['s-delay']);
    await second.stop('SIGTERM');
  }
  expect((await own.call('s-delay', { tag: 'unharmed' })).result?.content?.[0]?.text).toBe('unharmed');
  hub.write({ mcpServers: { s: server.config }, groups: [{ id: 'g', name: 'g', servers: ['s'] }] });
  await until(
    'the first still follows its file',
    async () => (await rpc(hub.mcp('g'), 'tools/list', {})).result?.tools?.length === 1,
  );
  await hub.stop('SIGTERM');
  const again = await testHub({ folder: hub.folder });
  await again.connected(1);
  expect((await rpc(again.mcp(), 'tools/list', {}, { headers: own.headers })).status).toBe(200);
});

test('many starts and kills one after the other never need a hand', async () => {
  const server = hostileStdio({ name: 's', tools: ['echo'] });
  let folder: string | undefined;
  for (let i = 0; i < 4; i++) {
    const hub: HubProcess = await hubProcess(folder === undefined ? { mcpServers: { s: server.config } } : { folder });
    folder = hub.folder;
    await hub.stop('SIGKILL');
  }
  const hub = await testHub({ folder: folder ?? '' });
  await until('it works', async () => (await tools(hub)).join() === 's-echo');
  await until('one child is left', () => server.pids().filter(isAlive).length === 1);
});

describe('a first start without settings', () => {
  let hub: HubProcess;
  beforeAll(async () => {
    hub = await hubProcess({ firstStart: true });
    await hub.connected(3);
  });

  test('has three servers to try', async () => {
    const servers = new Set((await tools(hub)).map((name) => name.slice(0, name.indexOf('-'))));
    expect([...servers].sort()).toEqual(['everything', 'filesystem', 'memory']);
  });

  test('has a log without a warning, and nothing in it failed', async () => {
    // The sample server asks for the folders of its client once it is connected, and says what became of it.
    await until('the file server has asked for folders', () => /roots?\b/i.test(hub.output()));
    const lines = hub.output().trim().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as { level: string; message: string });
    expect(entries.filter(({ level, message }) => level !== 'info' || /fail|error|-32/i.test(message))).toEqual([]);
  });
});

test('the first password of a hub whose log is JSON is in one file, works, and can be read nowhere else', async () => {
  const env = { ADMIN_PASSWORD: '' };
  const hub = await hubProcess({ env });
  const file = join(hub.folder, 'data', 'first-admin-password');
  const password = (await until('the file is there', () => existsSync(file) && readFileSync(file, 'utf8'))).trim();
  expect(password).toMatch(/^[A-Za-z0-9_-]{12,}$/);
  await hub.stop('SIGTERM');
  const { users } = JSON.parse(readFileSync(hub.settingsPath, 'utf8')) as {
    users: { username: string; password: string }[];
  };
  expect(users.map((user) => user.username)).toEqual(['admin']);
  expect(await verify(users[0]?.password ?? '', password)).toBe(true);
  const again = await hubProcess({ folder: hub.folder, env });
  for (const output of [hub.output(), again.output()]) expect(output).not.toContain(password);
  const everything = readdirSync(hub.folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const holding = everything.map(({ parentPath, name }) => join(parentPath, name));
  expect(holding.filter((path) => readFileSync(path).includes(password))).toEqual([file]);
});

test('a closed standard output does not end the hub', async () => {
  const port = await freePort();
  const child = startHub(temporaryFolder(), {}, { PORT: String(port), LOG_LEVEL: 'debug', DB_URL: 'off' });
  child.stdout.destroy();
  child.stderr.destroy();
  const url = `http://127.0.0.1:${port}`;
  await until('it answers', async () => (await raw(`${url}/health`, { method: 'GET' })).status === 200);
  for (let i = 0; i < 20; i++) expect((await rpc(`${url}/mcp`, 'tools/list', {})).status).toBe(200);
  expect(child.exitCode).toBeNull();
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  expect(await within('its end', ended)).toBe(0);
});

test.skipIf(process.platform !== 'linux')(
  'a hub that is started again lists tools before it has loaded what people need, code for passwords included',
  async () => {
    const folder = temporaryFolder();
    // Or it would load that as soon as no server connects any more.
    const hangs = hostileStdio({ name: 'hangs', silentOn: ['initialize'] });
    const document = { mcpServers: { hangs: hangs.config } };
    const first = startHub(folder, document);
    const settings = () => JSON.parse(readFileSync(join(folder, 'mcp_settings.json'), 'utf8')) as object;
    await until('the first admin is made', () => 'users' in settings());
    first.kill('SIGKILL');
    await once(first, 'exit');

    // It waits five seconds for servers that connect: on a busy machine a try may come later.
    for (let tries = 1; ; tries++) {
      const seen = await startedAgain(folder, settings());
      if (tries < 5 && (seen.passwords || seen.answers[0] !== 'tools')) continue;
      expect(seen).toEqual({ passwords: false, answers: ['tools', 'health'], passwordsAfterLogin: true });
      return;
    }
  },
);

/** Whether passwords can be hashed, and who is answered first where both ask at once. */
async function startedAgain(folder: string, document: object) {
  const port = await freePort();
  const child = startHub(folder, document, { PORT: String(port) });
  const hasPasswords = () => readFileSync(`/proc/${child.pid}/maps`, 'utf8').includes('argon2');
  const url = `http://127.0.0.1:${port}`;
  await until('it is ready', async () => {
    const asked = raw(`${url}/health/ready`, { method: 'GET' });
    return (await asked.catch(() => undefined))?.status === 200;
  });
  const passwords = hasPasswords();
  const answers: string[] = [];
  await Promise.all([
    raw(`${url}/health`, { method: 'GET' }).then(() => answers.push('health')),
    rpc(`${url}/mcp`, 'tools/list', {}).then(() => answers.push('tools')),
  ]);
  const login = { username: 'admin', password: 'correct horse' };
  expect((await raw(`${url}/api/auth/login`, { body: login })).status).toBe(200);
  const passwordsAfterLogin = hasPasswords();
  child.kill('SIGKILL');
  await once(child, 'exit');
  return { passwords, answers, passwordsAfterLogin };
}

/** A start that is not waited for. */
function startHub(folder: string, document: object, env: Record<string, string> = {}) {
  writeFileSync(join(folder, 'mcp_settings.json'), JSON.stringify(document));
  const child = spawn(process.execPath, [fileURLToPath(new URL('../../dist/cli.js', import.meta.url)), 'serve'], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      PORT: '0',
      ADMIN_PASSWORD: 'correct horse',
      SETTINGS_PATH: join(folder, 'mcp_settings.json'),
      DATA_DIR: join(folder, 'data'),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.resume();
  child.stderr.resume();
  atEnd(() => void child.kill('SIGKILL'));
  return child;
}
