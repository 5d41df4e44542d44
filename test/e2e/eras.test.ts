import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { upstreamLimits } from '../../src/upstream/limits.ts';
import { dualHttp, dualStdio, eraHttp, type EraOptions, type EraServer, eraStdio } from '../kit/era-server.ts';
import { setLimits } from '../kit/limits.ts';
import { rpc } from '../kit/raw.ts';
import { testHub, type TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// How the hub finds out in which era a server speaks, remembers it, and notices when it is otherwise.

/** A busy machine may take longer to start a server than the hub waits for its answer before it tries a handshake. */
beforeEach(() => setLimits(upstreamLimits, { eraProbeMs: 50_000 }));

const places = {
  stdio: async (options: EraOptions) => eraStdio(options),
  http: (options: EraOptions) => eraHttp(options),
  auto: async (options: EraOptions) => eraHttp(options, { type: undefined }),
};

const start = async (server: EraServer, folder?: string, more: Record<string, unknown> = {}): Promise<TestHub> =>
  testHub({
    mcpServers: { s: { ...server.config, ...more } },
    ...(folder !== undefined && { folder }),
    env: { CONNECT_TIMEOUT_MS: '100000' },
  });

/** Starts a hub, waits for the server, stops it; what the server was asked, and the folder for the next start. */
async function oneRun(server: EraServer, folder?: string): Promise<{ asked: string[]; folder: string }> {
  const { asked, ...run } = await runOf({ s: server }, folder);
  return { asked: asked['s'] ?? [], ...run };
}

type Servers = Readonly<Record<string, EraServer>>;

/** The same with several servers. */
async function runOf(servers: Servers, folder?: string): Promise<{ asked: Record<string, string[]>; folder: string }> {
  const mcpServers = Object.fromEntries(Object.entries(servers).map(([name, { config }]) => [name, config]));
  const hub = await testHub({
    mcpServers,
    ...(folder !== undefined && { folder }),
    env: { CONNECT_TIMEOUT_MS: '100000' },
  });
  await hub.connected(Object.keys(servers).length);
  for (const name of Object.keys(servers)) expect(await callSeen(hub, name)).toBeDefined();
  await hub.close();
  const asked = Object.entries(servers).map(([name, server]) => [name, server.asked().filter(isNegotiating)] as const);
  return { asked: Object.fromEntries(asked), folder: hub.folder };
}

/** One such server over each transport. */
async function overEach(options: EraOptions): Promise<Servers> {
  return { stdio: await places.stdio(options), http: await places.http(options), auto: await places.auto(options) };
}

const each = (asked: string[]) => ({ stdio: asked, http: asked, auto: asked });

const isNegotiating = (method: string): boolean => method === 'server/discover' || method === 'initialize';

interface Seen {
  readonly meta?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
}

async function callSeen(hub: TestHub, name = 's'): Promise<Seen> {
  const { result, error } = await rpc(hub.mcp(), 'tools/call', { name: `${name}-seen`, arguments: {} });
  if (error) throw new Error(error.message);
  return JSON.parse(result?.content?.[0]?.text ?? '{}') as Seen;
}

const isNew = ({ meta }: Seen): boolean => meta?.['io.modelcontextprotocol/protocolVersion'] === '2026-07-28';

/** Makes everything that is remembered this much older. */
function age(folder: string, ms: number): void {
  const file = join(folder, 'data', 'eras.json');
  const saved = JSON.parse(readFileSync(file, 'utf8')) as { servers: Record<string, { at: number }> };
  for (const verdict of Object.values(saved.servers)) verdict.at -= ms;
  writeFileSync(file, JSON.stringify(saved));
}

test('the era of a server over any transport is asked once, and remembered over restarts', async () => {
  const old = await overEach({ speaks: ['session'] });
  const first = await runOf(old);
  expect(first.asked).toEqual(each(['server/discover', 'initialize']));
  expect((await runOf(old, first.folder)).asked).toEqual(each(['initialize']));
  // It may have learned the newer one meanwhile, and would not say so.
  age(first.folder, 2 * 24 * 60 * 60_000);
  expect((await runOf(old, first.folder)).asked).toEqual(each(['server/discover', 'initialize']));

  const now = await overEach({ speaks: ['stateless'] });
  const second = await runOf(now);
  expect(second.asked).toEqual(each(['server/discover']));
  expect((await runOf(now, second.folder)).asked).toEqual(each(['server/discover']));
});

test('a server over any transport that speaks both is spoken to without sessions', async () => {
  const servers = await overEach({ speaks: ['session', 'stateless'] });
  const mcpServers = Object.fromEntries(Object.entries(servers).map(([name, { config }]) => [name, config]));
  const hub = await testHub({ mcpServers, env: { CONNECT_TIMEOUT_MS: '100000' } });
  await hub.connected(3);
  for (const [name, server] of Object.entries(servers)) {
    expect(isNew(await callSeen(hub, name)), name).toBe(true);
    expect(server.asked().filter(isNegotiating), name).toEqual(['server/discover']);
  }
});

const eraOf = async (hub: TestHub, name: string) =>
  (await rpc(hub.mcp(name), 'tools/call', { name: 'seen', arguments: {} })).result?.content?.[0]?.text;

test('official servers of both eras are spoken to without sessions', async () => {
  const hub = await testHub({
    mcpServers: { stdio: dualStdio(), http: await dualHttp() },
    env: { CONNECT_TIMEOUT_MS: '100000' },
  });
  await hub.connected(2);
  expect([await eraOf(hub, 'stdio'), await eraOf(hub, 'http')]).toEqual(['stateless', 'stateless']);
});

test('an official server of both eras that answers late is spoken to without sessions from its next start on', async () => {
  setLimits(upstreamLimits, { eraProbeMs: 1 });
  const settings = { mcpServers: { slow: dualStdio() }, env: { CONNECT_TIMEOUT_MS: '100000' } };
  const first = await testHub(settings);
  await first.connected(1);
  expect(await eraOf(first, 'slow')).toBe('session');
  await first.close();
  const second = await testHub({ ...settings, folder: first.folder });
  await second.connected(1);
  expect(await eraOf(second, 'slow')).toBe('stateless');
});

test('a server over any transport that was replaced between two starts is found out', async () => {
  const servers = await overEach({ speaks: ['session'] });
  const become = (options: EraOptions) => Object.values(servers).forEach((server) => server.become(options));
  const { folder } = await runOf(servers);
  become({ speaks: ['stateless'] });
  expect((await runOf(servers, folder)).asked).toEqual(each(['initialize', 'server/discover']));
  expect((await runOf(servers, folder)).asked).toEqual(each(['server/discover']));
  become({ speaks: ['session'] });
  expect((await runOf(servers, folder)).asked).toEqual(each(['server/discover', 'initialize']));
  expect((await runOf(servers, folder)).asked).toEqual(each(['initialize']));
});

test.each(['http', 'auto'] as const)(
  'a server over %s whose refusals name no request is found out too',
  async (place) => {
    const server = await places[place]({ speaks: ['session'] });
    const { folder } = await oneRun(server);
    server.become({ speaks: ['stateless'], nameless: true });
    expect((await oneRun(server, folder)).asked.at(-1)).toBe('server/discover');
    expect((await oneRun(server, folder)).asked).toEqual(['server/discover']);
  },
);

test('a server that became one of both eras is found out as soon as its version is another', async () => {
  const server = eraStdio({ speaks: ['session'], info: '1' });
  const { folder } = await oneRun(server);
  server.become({ speaks: ['session', 'stateless'], info: '2' });
  expect((await oneRun(server, folder)).asked).toEqual(['initialize']);
  expect((await oneRun(server, folder)).asked).toEqual(['server/discover']);
});

test('a process that is silent at the question is used as it is, and not asked again', async () => {
  setLimits(upstreamLimits, { eraProbeMs: 100 });
  const server = eraStdio({ speaks: ['session'], discover: 'silent' });
  const { asked, folder } = await oneRun(server);
  expect(asked).toEqual(['server/discover', 'initialize']);
  expect(new Set(server.journal().map(({ pid }) => pid)).size).toBe(1);
  expect((await oneRun(server, folder)).asked).toEqual(['initialize']);
});

test('a process that ends at the question is started once more, and asked as it likes from then on', async () => {
  const server = eraStdio({ speaks: ['session'], discover: 'dies' });
  const starts = () => server.journal().filter(({ event }) => event === 'start').length;
  const { folder } = await oneRun(server);
  expect(starts()).toBe(2);
  expect((await oneRun(server, folder)).asked).toEqual(['initialize']);
  expect(starts()).toBe(3);
});

test('a process that ends whatever it is asked is not started twice each time', async () => {
  const server = eraStdio({ speaks: ['session'], exitAt: 'start' });
  const hub = await start(server);
  const starts = () => server.journal().filter(({ event }) => event === 'start').length;
  const attempts = () => hub.hub.servers()[0]?.attempts ?? 0;
  await until('it was tried again and again', () => attempts() >= 3);
  // One more for the question, and one that may be under way.
  expect(starts()).toBeLessThanOrEqual(attempts() + 2);
});

test('a process that starts slowly is met in its era, whatever it answers first', async () => {
  setLimits(upstreamLimits, { eraProbeMs: 1 });
  const now = eraStdio({ speaks: ['stateless'], startMs: 500 });
  const old = eraStdio({ speaks: ['session'], startMs: 500 });
  const hub = await testHub({ mcpServers: { now: now.config, old: old.config } });
  await hub.connected(2);
  for (const server of [now, old]) expect(new Set(server.journal().map(({ pid }) => pid)).size).toBe(1);
  const era = async (name: string) =>
    isNew(
      JSON.parse(
        (await rpc(hub.mcp(), 'tools/call', { name, arguments: {} })).result?.content?.[0]?.text ?? '{}',
      ) as Seen,
    );
  expect([await era('now-seen'), await era('old-seen')]).toEqual([true, false]);
});

const oddAnswers: [string, Exclude<EraOptions['discover'], undefined>][] = [
  ['a result that is none', { result: { hello: 'world' } }],
  ['a text', { result: 'yes' }],
  ['null', { result: null }],
  ['versions that are no list', { result: { supportedVersions: '2026-07-28' } }],
  ['only older versions', { result: { supportedVersions: ['2025-11-25'] } }],
  ['an error of its own', { error: { code: 17, message: 'what?' } }],
  ['an error that is no object', { error: 'what?' }],
  [
    'a refusal of the version that lists older ones',
    {
      error: { code: -32022, message: 'Unsupported', data: { supported: ['2025-11-25'], requested: '2026-07-28' } },
    },
  ],
];

test('a server is met with a handshake whatever it answers the question with', async () => {
  const servers: Record<string, EraServer> = {};
  for (const [i, [, discover]] of oddAnswers.entries()) {
    servers[`stdio${i}`] = eraStdio({ speaks: ['session'], discover });
    servers[`http${i}`] = await eraHttp({ speaks: ['session'], discover });
  }
  const { asked } = await runOf(servers);
  for (const [i, [what]] of oddAnswers.entries())
    for (const place of ['stdio', 'http'])
      expect(asked[`${place}${i}`], `${place}: ${what}`).toEqual(['server/discover', 'initialize']);
});

test('a server of a revision to come is refused with its name', async () => {
  const discover = { result: { supportedVersions: ['2031-01-01'], capabilities: {} } };
  const server = eraStdio({ speaks: ['stateless'], discover });
  const hub = await start(server);
  await until('the reason is told', () => hub.hub.servers()[0]?.error?.includes('2031-01-01'));
});

test.each([
  ['answers 404 with a web page', { html: true }],
  ['never answers the question', { discover: 'silent' }],
  ['closes the connection at the question', { discover: 'reset' }],
] as const)('an HTTP server that %s is met with a handshake', async (_, options) => {
  setLimits(upstreamLimits, { eraProbeMs: 1_000 });
  const server = await eraHttp({ speaks: ['session'], ...options });
  const hub = await start(server);
  await hub.connected(1);
  expect(isNew(await callSeen(hub))).toBe(false);
});

test.each([
  [['session'], ['stateless'], true],
  [['stateless'], ['session'], false],
] as const)(
  'an HTTP server that speaks %s and then %s is met again while the hub runs',
  async (before, after, isNewThen) => {
    const server = await eraHttp({ speaks: before });
    const hub = await start(server);
    await hub.connected(1);
    expect(isNew(await callSeen(hub))).toBe(!isNewThen);
    server.become({ speaks: after });
    await until('calls work again, in the other era', async () => isNew(await callSeen(hub)) === isNewThen);
  },
);

test('the settings can say the era, and then nothing else is tried', async () => {
  const both = { speaks: ['session', 'stateless'] } as const;
  const old = await eraHttp(both, { era: 'session' });
  const now = await eraHttp({ speaks: ['session'] }, { era: 'stateless' });
  const hub = await testHub({ mcpServers: { s: old.config, now: now.config } });
  await hub.connected(1);
  expect(isNew(await callSeen(hub))).toBe(false);
  expect(old.asked().filter(isNegotiating)).toEqual(['initialize']);
  await until('the reason is told', () =>
    hub.hub
      .servers()
      .find(({ name }) => name === 'now')
      ?.error?.includes('does not speak MCP 2026-07-28'),
  );
  expect(now.asked()).not.toContain('initialize');
});

test('a memory that cannot be read costs a question', async () => {
  const server = eraStdio({ speaks: ['session'] });
  const { folder } = await oneRun(server);
  writeFileSync(join(folder, 'data', 'eras.json'), '{"version":1,"servers":{"x":7}');
  expect((await oneRun(server, folder)).asked).toEqual(['server/discover', 'initialize']);
});

test('what is remembered names neither servers nor their addresses', async () => {
  const server = await eraHttp({ speaks: ['stateless'] }, { headers: { 'x-key': 'a-secret-key' } });
  const { folder } = await oneRun(server);
  const text = readFileSync(join(folder, 'data', 'eras.json'), 'utf8');
  expect(text).toContain('stateless');
  expect(text).not.toMatch(/127\.0\.0\.1|secret/);
});
