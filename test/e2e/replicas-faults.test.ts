import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { databaseLimits } from '../../src/database/limits.ts';
import { replicaLimits } from '../../src/replicas/limits.ts';
import { api, login } from '../kit/api.ts';
import { askable, askingHttp, begin, filled, reply } from '../kit/asking.ts';
import { type AnyClient, connect } from '../kit/clients.ts';
import { sharedPostgres } from '../kit/databases.ts';
import { hostileHttp, temporaryFolder } from '../kit/hostile.ts';
import { setLimits } from '../kit/limits.ts';
import { freePort } from '../kit/processes.ts';
import { balancer, type Balancer } from '../kit/balancer.ts';
import { reachableAt, replicaSecret } from '../kit/replicas.ts';
import { raw, stream } from '../kit/raw.ts';
import { type Session, session } from '../kit/sessions.ts';
import { hubProcess, type HubProcess, testHub, type TestHub } from '../kit/test-hub.ts';
import { tcpLink, type TcpLink } from '../kit/tcp-link.ts';
import { until } from '../kit/until.ts';

// Hubs on one PostgreSQL, while hubs come, go and die, and networks break: official clients behind a plain balancer see
// no error, and nothing that was acknowledged is lost. `npm run chaos` does the same for longer.

interface Placed {
  readonly hub: TestHub;
  /** The way to it from other hubs. */
  readonly link: TcpLink;
}

let databaseLink: TcpLink;
let databaseUrl: string;
let front: Balancer;
let settings: object;
const hubs: Placed[] = [];

beforeAll(async () => {
  setLimits(replicaLimits, { helloEveryMs: 200, heartbeatMs: 500, goneMs: 8_000 });
  setLimits(databaseLimits, { databasePingMs: 500, databaseRetryMaxMs: 500 });
  const postgres = await sharedPostgres();
  databaseLink = await tcpLink(() => postgres.port);
  databaseUrl = (await postgres.createDatabase()).replace(`:${postgres.port}/`, `:${databaseLink.port}/`);
  const slow = await hostileHttp({ name: 'slow' });
  settings = {
    systemConfig: { routing: { enableBearerAuth: false } },
    mcpServers: { ask: await askingHttp(), slow: slow.config },
  };
  front = await balancer([]);
  for (let i = 0; i < 3; i++) await addHub();
  await allReach(3);
});

const env = (): Record<string, string> => ({ DB_URL: databaseUrl, JWT_SECRET: replicaSecret });

async function addHub(): Promise<Placed> {
  const port = await freePort();
  const link = await tcpLink(() => port);
  const own = { ...env(), PORT: String(port), INTERNAL_URL: `http://127.0.0.1:${link.port}` };
  const hub = await testHub({ ...settings, env: own });
  await hub.connected(2);
  const placed = { hub, link };
  hubs.push(placed);
  front.targets = [...front.targets, hub.url];
  return placed;
}

async function removeHub(placed: Placed): Promise<void> {
  front.targets = front.targets.filter((url) => url !== placed.hub.url);
  hubs.splice(hubs.indexOf(placed), 1);
  await placed.hub.close();
}

const allReach = (count: number) =>
  until(`${count} hubs reach each other`, async () => {
    const counts = await Promise.all(hubs.map(({ hub }) => reachableAt(hub)));
    return counts.every((reachable) => reachable === count);
  });

/** Clients that call without a pause until they are stopped. */
function load(clients: readonly AnyClient[]) {
  const failures: string[] = [];
  let done = 0;
  const stop = new AbortController();
  const running = clients.map(async (client, i) => {
    for (let turn = 0; !stop.signal.aborted; turn++) {
      const text = `${i} ${turn}`;
      try {
        const { content } = await client.callTool('slow-echo', { text });
        if (content[0]?.text?.includes(text) !== true) failures.push(`another answer: ${content[0]?.text}`);
      } catch (error) {
        failures.push(String(error));
      }
      done++;
    }
  });
  return {
    failures,
    /** Waits for so many more calls. */
    more: (count: number) => {
      const goal = done + count;
      return until(`${count} more calls`, () => done >= goal);
    },
    async end() {
      stop.abort();
      await Promise.all(running);
    },
  };
}

/** A question in the middle of a call, answered through the balancer. */
async function asks(own: Session, label: string): Promise<unknown> {
  const call = await begin(own, 'ask-form', { label }, label);
  const { id } = await call.asked();
  const { status } = await reply(front.mcp(), own, id, filled(label));
  return status === 202 ? (await call.told()).result : status;
}

test('PostgreSQL is away: calls, and answers across hubs, go on; what was acknowledged is there afterwards', async () => {
  const [first] = hubs;
  if (!first) throw new Error('There is no hub.');
  const token = await login(first.hub);
  const put = (description: string) =>
    api(first.hub, 'POST', '/groups', { token, body: { name: description, servers: ['slow'] } });
  expect((await put('before')).status).toBe(201);
  const own = await session(front.mcp(), { capabilities: askable });
  const clients = [await connect('v1 http', front.url), await connect('v2 stateless', front.url)];
  const calls = load(clients);
  databaseLink.cut();
  await until('the hubs notice', async () => (await first.hub.health()).database.state === 'down');
  expect((await put('meanwhile')).status).toBe(503);
  await calls.more(30);
  for (const turn of ['one', 'two', 'three']) expect(await asks(own, turn)).toEqual(filled(turn).result);
  databaseLink.heal();
  await until('the database is back', async () => {
    const states = await Promise.all(hubs.map(async ({ hub }) => (await hub.health()).database.state));
    return states.every((state) => state === 'ready');
  });
  expect((await put('after')).status).toBe(201);
  await calls.end();
  expect(calls.failures).toEqual([]);
  const last = hubs.at(-1)?.hub;
  if (!last) throw new Error('There is no hub.');
  await until('another hub has both', async () => {
    const { text } = await api(last, 'GET', '/groups', { token });
    return text.includes('"before"') && text.includes('"after"') && !text.includes('"meanwhile"');
  });
  for (const client of clients) await client.close();
});

test('PostgreSQL is slow: the hubs say so, and calls are not', async () => {
  const [first] = hubs;
  setLimits(databaseLimits, { databaseSlowMs: 100 });
  databaseLink.slow(150);
  await until('the hubs say so', async () => (await first?.hub.health())?.status === 'degraded');
  const clients = [await connect('v1 http', front.url)];
  const calls = load(clients);
  await calls.more(30);
  await calls.end();
  expect(calls.failures).toEqual([]);
  databaseLink.heal();
  await until('the hubs say so', async () => (await first?.hub.health())?.status === 'healthy');
  for (const client of clients) await client.close();
});

test('hubs do not reach each other: each serves, what is elsewhere is refused in words, and found again afterwards', async () => {
  setLimits(replicaLimits, { helloMs: 300 });
  const own = await Promise.all(hubs.map(({ hub }) => session(hub.mcp(), { capabilities: askable })));
  const waiting = await Promise.all(own.map((one, i) => begin(one, 'ask-form', { label: `kept ${i}` }, i)));
  const ids = await Promise.all(waiting.map(async (call) => (await call.asked()).id));
  for (const { link } of hubs) link.silence();
  await allReach(1);
  expect((await hubs[0]?.hub.health())?.status).toBe('degraded');
  for (const [i, one] of own.entries()) {
    const { hub } = hubs[(i + 1) % hubs.length] ?? {};
    const answer = await reply(hub?.mcp() ?? '', one, ids[i], filled('x'));
    expect({ status: answer.status, text: answer.error?.message }).toEqual({
      status: 503,
      text: 'The hub that asked this cannot be reached right now. Send the answer again in a moment.',
    });
    expect((await one.call('slow-echo', { text: 'here' })).status).toBe(200);
  }
  setLimits(replicaLimits, { helloMs: 5_000 });
  for (const { link } of hubs) link.heal();
  await allReach(hubs.length);
  for (const [i, one] of own.entries()) {
    const { hub } = hubs[(i + 1) % hubs.length] ?? {};
    expect((await reply(hub?.mcp() ?? '', one, ids[i], filled(`${i}`))).status).toBe(202);
    expect((await waiting[i]?.told())?.result).toEqual(filled(`${i}`).result);
  }
});

test('a hub is killed: what ran there fails, its sessions go on elsewhere, and it is no hub any more', async () => {
  const killed: HubProcess = await hubProcess({ ...settings, env: env() });
  await killed.connected(2);
  await allReach(hubs.length + 1);
  const own = await session(killed.mcp(), { capabilities: askable });
  front.targets = [...front.targets, killed.url];
  const message = (name: string, args: object, id: string) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: args },
  });
  // Through another hub: it waits for an answer that cannot come.
  const { hub } = hubs[0] ?? {};
  const asking = { method: 'POST', headers: own.headers, body: message('ask-form', { label: 'lost' }, 'lost') };
  const running = await stream(hub?.mcp() ?? '', asking);
  const asked = await running.message('the question', ({ method }) => method === 'elicitation/create');
  await killed.stop('SIGKILL');
  await until('its stream has ended', () => running.ended());
  const calls = hubs.map(({ hub }, i) =>
    raw(hub.mcp(), { headers: own.headers, body: message('slow-echo', { text: `turn ${i}` }, `${i}`) }),
  );
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(hubs.map(() => 200));
  const behind = {
    ...own,
    begin: (method: string, params?: unknown, { id = 'on' }: { id?: string | number } = {}) =>
      stream(front.mcp(), { method: 'POST', headers: own.headers, body: { jsonrpc: '2.0', id, method, params } }),
  };
  expect(await asks(behind, 'goes on')).toEqual(filled('goes on').result);
  expect((await reply(front.mcp(), own, asked.id, filled('late'))).status).toBeGreaterThanOrEqual(400);
  await until('it is no hub any more', async () => (await hub?.health())?.status === 'healthy');
});

test('a hub that stops can be reached while a call runs there: what the call asks is answered at it', async () => {
  setLimits(replicaLimits, { lastRequestsMs: 0, lastAnswersMs: 60_000 });
  const gate = join(temporaryFolder(), 'gate');
  writeFileSync(gate, '');
  const [other] = hubs;
  if (!other) throw new Error('There is no hub.');
  const leaving = await addHub();
  await allReach(hubs.length);
  const own = await session(leaving.hub.mcp());
  const params = { name: 'slow-progress', arguments: { steps: 2, ms: 1, gate }, _meta: { progressToken: 'p' } };
  const call = await own.begin('tools/call', params, { id: 'call' });
  await call.message('progress', ({ method }) => method === 'notifications/progress');
  const stopped = removeHub(leaving);
  for (let turn = 0; turn < 20; turn++) {
    const answer = await raw(`${leaving.hub.url}/health/ready`, { method: 'GET', headers: { connection: 'close' } });
    expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('stopping')]);
  }
  // That it stops in order is no fault of the others.
  const told: (string | undefined)[] = [];
  await until('the others count it no more', async () => {
    const { hubs: counted, message } = await other.hub.health();
    told.push(message);
    return counted?.known === hubs.length && counted.reachable === hubs.length;
  });
  expect(told.filter((message) => message?.startsWith('Another hub'))).toEqual([]);
  rmSync(gate);
  await call.message('the answer', ({ id }) => id === 'call');
  await stopped;
});

// Last: what takes their places ends with the test.
test('all hubs are replaced under load: no client sees an error, sessions go on', async () => {
  const clients = await Promise.all(
    (['v1 http', 'v1 http', 'v2 http', 'v2 http', 'v2 stateless'] as const).map((kind) => connect(kind, front.url)),
  );
  const own = await session(front.mcp(), { capabilities: askable });
  const calls = load(clients);
  for (const old of hubs.slice()) {
    await addHub();
    await allReach(hubs.length);
    await calls.more(20);
    await removeHub(old);
    await calls.more(20);
    await allReach(3);
    expect(await asks(own, `after ${old.hub.url}`)).toEqual(filled(`after ${old.hub.url}`).result);
  }
  await calls.end();
  expect(calls.failures).toEqual([]);
  for (const client of clients) await client.close();
});
