import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { upstreamLimits } from '../../src/upstream/limits.ts';
import { api, login } from '../kit/api.ts';
import { fakeNpx } from '../kit/fake-npx.ts';
import { hostileStdio, temporaryFolder } from '../kit/hostile.ts';
import { setLimits } from '../kit/limits.ts';
import { isAlive, processes } from '../kit/processes.ts';
import { hubProcess, type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Servers whose launcher installs their package first (decisions/0030).

interface Shown {
  readonly status: string;
  readonly phase?: string;
  readonly phaseSince?: string;
  readonly waiting?: boolean;
  readonly error: string | null;
  readonly reason?: { readonly code: string };
  readonly attempts: number;
}

async function watching(hub: Pick<TestHub, 'url'>) {
  const token = await login(hub);
  const shown = async (name: string): Promise<Shown> => {
    const { body, text } = await api(hub, 'GET', `/servers/${name}`, { token });
    expect(body.data, text).toBeDefined();
    return body.data as Shown;
  };
  return {
    token,
    shown,
    phase: (name: string, phase: string) =>
      until(`${name} is in phase ${phase}`, async () => {
        const state = await shown(name);
        return state.status === 'connecting' && state.phase === phase && state;
      }),
  };
}

const short = { CONNECT_TIMEOUT_MS: '1000' };

test('an installation that takes longer than the connect timeout is no failed attempt, and its phases are shown', async () => {
  const npx = fakeNpx();
  const { go } = npx.hold('slow');
  const lists = join(temporaryFolder(), 'lists');
  writeFileSync(lists, '');
  const server = npx.server('slow', { gate: lists, stderrBytes: 3 });
  const hub = await testHub({ mcpServers: { slow: server }, env: { CONNECT_TIMEOUT_MS: '30000' } });
  const { phase, shown } = await watching(hub);
  const { phaseSince } = await phase('slow', 'installing');
  // Past any timeout that the launcher's start would have.
  await until('it took a second', () => Date.now() - Date.parse(phaseSince ?? '') > 1_000);
  expect((await hub.health()).servers).toMatchObject({ connected: 0, disconnected: 1, installing: 1 });
  npx.install('slow');
  await phase('slow', 'starting');
  go();
  await phase('slow', 'handshake');
  rmSync(lists);
  await hub.connected(1);
  await until('it is connected', async () => (await shown('slow')).status === 'connected');
  expect((await shown('slow')).attempts).toBe(0);
  expect(npx.count('slow', 'install')).toBe(1);
});

test('an installation that fails without a word is told from a program that does', async () => {
  const npx = fakeNpx();
  npx.fail('broken');
  npx.install('silent');
  const hub = await testHub({
    mcpServers: { b: npx.server('broken'), s: npx.server('silent', { exitAt: 'initialize' }) },
  });
  const { shown } = await watching(hub);
  const code = (name: string) => until(`${name} has failed`, async () => (await shown(name)).reason?.code);
  expect(await code('b')).toBe('install_failed_silently');
  expect(await code('s')).toBe('exited_silently');
});

test('a program of a launcher that does not answer in time is told as a program, not as an address', async () => {
  const npx = fakeNpx();
  npx.hold('late');
  npx.install('late');
  const hub = await testHub({ mcpServers: { late: npx.server('late') }, env: short });
  const { shown } = await watching(hub);
  const error = await until('an attempt failed', async () => (await shown('late')).error);
  expect(error).toContain('did not answer within 1 s, and said nothing');
});

test('a launcher may install for as long as it takes when the program connects in time', async () => {
  const npx = fakeNpx();
  const hub = await testHub({ mcpServers: { slow: npx.server('slow') }, env: short });
  const { phase, shown } = await watching(hub);
  const { phaseSince } = await phase('slow', 'installing');
  await until('it installs', () => npx.count('slow', 'install') === 1);
  await until('twice the timeout is over', () => Date.now() - Date.parse(phaseSince ?? '') > 2_000);
  expect(await shown('slow')).toMatchObject({ status: 'connecting', phase: 'installing', attempts: 0 });
  expect(npx.events('slow').map(({ event }) => event)).toEqual(['install']);
});

for (const [what, act] of [
  ['switched off', (hub, token) => api(hub, 'POST', '/servers/s/toggle', { token, body: { enabled: false } })],
  ['deleted', (hub, token) => api(hub, 'DELETE', '/servers/s', { token })],
  ['reloaded', (hub, token) => api(hub, 'POST', '/servers/s/reload', { token })],
] satisfies [string, (hub: TestHub, token: string) => Promise<{ status: number }>][]) {
  test(`a server that is ${what} while it is being installed does not have its installation ended half-way`, async () => {
    const npx = fakeNpx();
    const hub = await testHub({ mcpServers: { s: npx.server('pkg') } });
    const { token, phase, shown } = await watching(hub);
    await phase('s', 'installing');
    await until('it installs', () => npx.count('pkg', 'install') === 1);
    expect((await act(hub, token)).status).toBe(200);
    if (what === 'reloaded') await until('it waits for the first one', async () => (await shown('s')).waiting === true);
    npx.install('pkg');
    await until('the installation came to its end', () => npx.count('pkg', 'installed') === 1);
    expect(npx.isWhole('pkg')).toBe(true);
    if (what === 'reloaded') await hub.connected(1);
    const [first] = npx.events('pkg');
    await until('what it started has ended', () => !isAlive(first?.pid ?? 0));
    expect(npx.events('pkg').filter(({ event }) => event.startsWith('SIG'))).toEqual([]);
    expect(npx.count('pkg', 'install')).toBe(1);
  });
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
  test(`a hub that ends by ${signal} leaves the installation to its end, and nothing of the server runs on`, async () => {
    const npx = fakeNpx();
    // A server that does not care that its stdin ends.
    const hub = await hubProcess({ mcpServers: { s: npx.server('pkg', { ignoreEof: true }) } });
    await until('it installs', () => npx.count('pkg', 'install') === 1);
    // An answer comes when the hub is done with starting it: what is killed in the middle of that has noted nothing.
    await hub.health();
    const { code } = await hub.stop(signal);
    if (signal !== 'SIGKILL') expect(code).toBe(0);
    const [first] = npx.events('pkg');
    expect(isAlive(first?.pid ?? 0)).toBe(true);
    npx.install('pkg');
    await until('the installation came to its end', () => npx.count('pkg', 'installed') === 1);
    await until('nothing of it runs', () => !processes().some(({ command }) => command.includes(npx.home)));
    expect(npx.events('pkg').filter(({ event }) => event.startsWith('SIG'))).toEqual([]);
    expect(npx.isWhole('pkg')).toBe(true);
  });
}

test('a hub that is started again waits for the installation that the last one left, and makes no second one', async () => {
  const npx = fakeNpx();
  const mcpServers = { s: npx.server('pkg') };
  const hub = await hubProcess({ mcpServers });
  await until('it installs', () => npx.count('pkg', 'install') === 1);
  await hub.stop('SIGTERM');
  const again = await testHub({ folder: hub.folder });
  const { phase } = await watching(again);
  expect(await phase('s', 'installing')).toMatchObject({ waiting: true });
  expect(npx.count('pkg', 'install')).toBe(1);
  npx.install('pkg');
  await again.connected(1);
  expect(npx.count('pkg', 'install')).toBe(1);
  expect(npx.events('pkg').filter(({ event }) => event.startsWith('SIG'))).toEqual([]);
});

test('doctor waits for an installation that the running hub makes, and says so', async () => {
  const npx = fakeNpx();
  const servers = { s: npx.server('pkg') };
  await testHub({ mcpServers: servers });
  await until('it installs', () => npx.count('pkg', 'install') === 1);
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'mcp_settings.json'), JSON.stringify({ mcpServers: servers }));
  const doctor = spawn(process.execPath, [resolve('dist/cli.js'), 'doctor', '--port', '0'], {
    cwd: folder,
    env: npx.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void doctor.kill('SIGKILL'));
  let told = '';
  doctor.stderr.setEncoding('utf8').on('data', (chunk: string) => (told += chunk));
  const report = text(doctor.stdout);
  await until('it says so', () => told.includes('server s: its package has to be installed'));
  const waitsSince = Date.now();
  await until('it has looked again', () => Date.now() - waitsSince > 2 * upstreamLimits.installElsewhereMs);
  npx.install('pkg');
  expect(await report).toContain('✓ server s');
  expect(npx.count('pkg', 'install')).toBe(1);
});

test('few packages are installed at a time, and what needs no installation is not behind them', async () => {
  const npx = fakeNpx();
  const names = Array.from({ length: upstreamLimits.installsAtOnce + 3 }, (_, i) => `pkg${i}`);
  // One that is in the cache from an earlier run.
  npx.install('cached');
  const before = await testHub({ mcpServers: { cached: npx.server('cached') } });
  await before.connected(1);
  await before.close();
  const hub = await testHub({
    mcpServers: {
      ...Object.fromEntries(names.map((name) => [name, npx.server(name)])),
      plain: hostileStdio({ name: 'plain' }).config,
      cached: npx.server('cached'),
    },
  });
  const atWork = () => names.filter((name) => npx.count(name, 'install') > 0 && npx.count(name, 'installed') === 0);
  const installing = () => atWork().length;
  await hub.connected(2);
  await until('as many install as may', () => installing() === upstreamLimits.installsAtOnce);
  const { shown } = await watching(hub);
  const states = await Promise.all(names.map(shown));
  expect(states.filter(({ waiting }) => waiting === true)).toHaveLength(3);
  for (let left = names.length; left > 0; left--) {
    // In which order they come to their turn is not promised.
    const name = await until('one installs', () => atWork()[0]);
    expect(installing()).toBeLessThanOrEqual(upstreamLimits.installsAtOnce);
    npx.install(name);
    await until(`${name} is installed`, () => npx.count(name, 'installed') === 1);
  }
  await hub.connected(names.length + 2);
});

test('two servers of one package do not install it side by side', async () => {
  const npx = fakeNpx();
  const hub = await testHub({ mcpServers: { one: npx.server('pkg'), two: npx.server('pkg', { name: 'other' }) } });
  const { shown } = await watching(hub);
  await until('one waits for the other', async () => {
    const states = await Promise.all([shown('one'), shown('two')]);
    return npx.count('pkg', 'install') === 1 && states.filter(({ waiting }) => waiting === true).length === 1;
  });
  npx.install('pkg');
  await hub.connected(2);
  expect(npx.count('pkg', 'install')).toBe(1);
});

test('a cache that lacks files of a package is mended once, with a line in the log that says so', async () => {
  const npx = fakeNpx();
  npx.install('pkg');
  const before = await testHub({ mcpServers: { s: npx.server('pkg') } });
  await before.connected(1);
  await before.close();
  npx.breakCache('pkg');
  // A link inside leads elsewhere: only the link is removed.
  const elsewhere = temporaryFolder();
  writeFileSync(join(elsewhere, 'precious'), '');
  symlinkSync(elsewhere, join(npx.folder('pkg'), 'node_modules/linked'));
  const hub = await testHub({ folder: before.folder, env: { LOG_LEVEL: 'info' } });
  const { token } = await watching(hub);
  await hub.connected(1);
  expect(npx.count('pkg', 'install')).toBe(2);
  const logs = await until('the log says so', async () => {
    const { text } = await api(hub, 'GET', '/logs?service=server:s', { token });
    return text.includes('npx cache of its package was incomplete') && text;
  });
  expect(logs.split('npx cache of its package was incomplete')).toHaveLength(2);
  expect(existsSync(join(elsewhere, 'precious'))).toBe(true);
});

test('a package that is broken also when it was installed a second time is not installed again and again', async () => {
  setLimits(upstreamLimits, { backOffFirstMs: 50 });
  const npx = fakeNpx();
  npx.install('pkg');
  const before = await testHub({ mcpServers: { s: npx.server('pkg') } });
  await before.connected(1);
  await before.close();
  // The installed package always lacks what it needs.
  const server = npx.server('pkg');
  const broken = { ...server, env: { ...npx.env, FAKE_SERVER: join(npx.folder('pkg'), 'node_modules/none.mjs') } };
  const hub = await testHub({ mcpServers: { s: broken } });
  const { shown } = await watching(hub);
  await until('it failed several times', async () => (await shown('s')).attempts >= 3);
  expect(npx.count('pkg', 'install')).toBe(2);
});

test('a folder of the cache that is a link is not removed', async () => {
  setLimits(upstreamLimits, { backOffFirstMs: 50 });
  const npx = fakeNpx();
  npx.install('pkg');
  const before = await testHub({ mcpServers: { s: npx.server('pkg') } });
  await before.connected(1);
  await before.close();
  npx.breakCache('pkg');
  const real = temporaryFolder();
  mkdirSync(join(real, 'moved'));
  renameSync(npx.folder('pkg'), join(real, 'moved/pkg'));
  symlinkSync(join(real, 'moved/pkg'), npx.folder('pkg'));
  const hub = await testHub({ folder: before.folder });
  const { shown } = await watching(hub);
  await until('it failed several times', async () => (await shown('s')).attempts >= 3);
  expect(existsSync(join(real, 'moved/pkg/package.json'))).toBe(true);
  expect(npx.count('pkg', 'install')).toBe(1);
});
