import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { balancer } from '../kit/balancer.ts';
import { type AnyClient, connect } from '../kit/clients.ts';
import { type Collector, collector } from '../kit/collector.ts';
import { sharedPostgres } from '../kit/databases.ts';
import { type Hostile, hostileHttp } from '../kit/hostile.ts';
import { freePort } from '../kit/processes.ts';
import { replicaSecret } from '../kit/replicas.ts';
import { until } from '../kit/until.ts';
import { type Deployed, type Place, place, type Release, releases } from './deployed.ts';
import { keepTable } from './table.ts';

// A company's hub: three of them as deploy/ starts them, with PostgreSQL and 200 servers, 150 of which sleep, are
// upgraded one after the other while official clients call tools. Prints what the clients saw, how long each
// replacement took, what the hubs need, and the trace of a call.

const count = { http: 30, stdio: 20, asleep: 150 };
const serverCount = count.http + count.stdio + count.asleep;
const clientCount = 20;
const pauseMs = 150;
/** Load before the upgrade and after it. */
const steadyMs = Number(process.env['CHAOS_SECONDS'] ?? 20) * 500;
/** As deploy/kubernetes has it: `preStop`, and `minReadySeconds`. */
const preStopMs = 5_000;
const minReadyMs = 5_000;

const key = `mcphub_${randomBytes(32).toString('hex')}`;
const authorization = `Bearer ${key}`;
const kinds = ['v1 http', 'v2 http', 'v2 stateless', 'v2 http'] as const;

/** A server that is light: its tool `echo` says what it was given. */
const program = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const results = {
    initialize: () => ({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'light', version: '1' } }),
    'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }),
    'tools/call': () => ({ content: [{ type: 'text', text: params.arguments.text }] }),
  };
  const answer = results[method];
  const said = answer ? { result: answer() } : { error: { code: -32601, message: 'Method not found' } };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...said }));
})`;
const stdio = { command: 'node', args: ['-e', program] };

async function servers(): Promise<{ config: Record<string, Record<string, unknown>>; traced: Hostile }> {
  const config: Record<string, Record<string, unknown>> = {};
  const http = await Promise.all(
    Array.from({ length: count.http }, (_, i) => hostileHttp({ name: `http-${i}`, tools: ['echo'] })),
  );
  for (const [i, server] of http.entries()) config[`http-${i}`] = server.config;
  for (let i = 0; i < count.stdio; i++) config[`stdio-${i}`] = stdio;
  for (let i = 0; i < count.asleep; i++)
    config[`asleep-${i}`] = { ...stdio, startOnDemand: true, idleTimeoutMs: 3_000 };
  const [traced] = http;
  if (!traced) throw new Error('There is no server over HTTP.');
  return { config, traced };
}

test('three hubs of a company are upgraded while they are used', async () => {
  const { config, traced } = await servers();
  const telemetry = await collector();
  const places = await threePlaces(config, telemetry);
  const { now, next } = releases('0.1.1-next');
  const hubs = await startAll(places, now);
  const front = await balancer(hubs.map(({ url }) => url));
  const load = await startLoad(front.url);
  const lines: string[] = [`Hubs: ${now.how}.`, ''];

  lines.push('| hub | MB of the hub | processes below it | MB of these |', '|---|---|---|---|');
  for (const [i, hub] of hubs.entries()) lines.push(memoryRow(places[i]?.name ?? '', hub));
  await sleep(steadyMs);

  lines.push('', '| replaced | until SIGTERM | SIGTERM to its end | start to ready | all |', '|---|---|---|---|---|');
  for (const [i, where] of places.entries()) {
    const old = hubs[i];
    if (!old) continue;
    const begun = performance.now();
    front.targets = front.targets.filter((url) => url !== old.url);
    await sleep(preStopMs);
    const told = performance.now();
    const code = await old.stop();
    expect(code).toBe(0);
    const ended = performance.now();
    const started = next.start(where);
    await started.ready();
    const ready = performance.now();
    hubs[i] = started;
    front.targets = hubs.map(({ url }) => url);
    await sleep(minReadyMs);
    const { version } = await started.health();
    expect(version).toBe('0.1.1-next');
    lines.push(
      `| ${where.name} | ${s(told - begun)} | ${s(ended - told)} | ${s(ready - ended)} | ${s(ready - begun)} |`,
    );
  }
  const tree = await traceOfOneCall(front.url, telemetry, traced);
  await sleep(steadyMs);
  const { calls, woken, lists, errors, slowestMs } = await load.stop();

  lines.push('', '| hub, upgraded | MB of the hub | processes below it | MB of these |', '|---|---|---|---|');
  for (const [i, hub] of hubs.entries()) lines.push(memoryRow(places[i]?.name ?? '', hub));
  lines.push(
    '',
    `${clientCount} official clients: ${calls} calls, ${woken} of them to servers that were asleep or had been woken, ${lists} lists of ${serverCount} tools; errors: ${errors.size}; the slowest took ${slowestMs.toFixed(0)} ms.`,
  );
  for (const [text, times] of errors) lines.push(`- ${times} × ${text}`);
  lines.push('', 'A call, from the trace of its client to its server:', '', '```', ...tree, '```', '');
  keepTable('upgrade', `\n${lines.join('\n')}`);
  expect([...errors]).toEqual([]);
});

async function threePlaces(
  mcpServers: Record<string, Record<string, unknown>>,
  telemetry: Collector,
): Promise<Place[]> {
  const secrets = {
    db_url: await (await sharedPostgres()).createDatabase(),
    jwt_secret: replicaSecret,
    admin_password: 'correct horse',
  };
  const env = {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${telemetry.url}/v1/traces`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.01',
  };
  const settings = {
    mcpServers,
    systemConfig: { routing: { enableBearerAuth: true } },
    bearerKeys: [{ id: 'company', name: 'company', token: key, enabled: true, accessType: 'all' }],
  };
  const places: Place[] = [];
  for (let i = 0; i < 3; i++) places.push(place(`toolhub-${i}`, await freePort(), secrets, env));
  // It fills the database, once.
  writeFileSync(join(places[0]?.volume ?? '', 'mcp_settings.json'), JSON.stringify(settings), { mode: 0o644 });
  return places;
}

/** All that run are connected, all that may sleep do, and all hubs reach each other. */
async function startAll(places: readonly Place[], release: Release): Promise<Deployed[]> {
  const hubs: Deployed[] = [];
  for (const where of places) {
    const hub = release.start(where);
    await hub.ready();
    hubs.push(hub);
  }
  const running = count.http + count.stdio;
  const isSettled = async (hub: Deployed): Promise<boolean> => {
    const { servers, hubs: known } = await hub.health();
    return servers.connected === running && servers.asleep === count.asleep && known?.reachable === places.length;
  };
  await until(
    'every hub has all servers',
    async () => (await Promise.all(hubs.map(isSettled))).every(Boolean),
    240_000,
  );
  return hubs;
}

interface Seen {
  readonly calls: number;
  readonly woken: number;
  readonly lists: number;
  readonly errors: ReadonlyMap<string, number>;
  readonly slowestMs: number;
}

/** Official clients that call and list until they are stopped, and try nothing again. */
async function startLoad(url: string): Promise<{ stop(): Promise<Seen> }> {
  const clients: AnyClient[] = [];
  for (let i = 0; i < clientCount; i++)
    clients.push(await connect(kinds[i % kinds.length] ?? 'v1 http', url, '', { authorization }));
  const stopping = new AbortController();
  const errors = new Map<string, number>();
  let [calls, woken, lists, slowestMs] = [0, 0, 0, 0];

  async function use(client: AnyClient, i: number, turn: number): Promise<void> {
    if (turn % 40 === 0) {
      const { tools } = await client.listTools();
      if (tools.length !== serverCount) throw new Error(`A list had ${tools.length} tools`);
      lists++;
      return;
    }
    const toAsleep = turn % 20 === 1;
    const running = i + turn * 7;
    const server = toAsleep
      ? `asleep-${running % count.asleep}`
      : running % 5 < 3
        ? `http-${running % count.http}`
        : `stdio-${running % count.stdio}`;
    const text = `${i} ${turn}`;
    const { content } = await client.callTool(`${server}-echo`, { text });
    if (!content[0]?.text?.includes(text)) throw new Error(`A call had another answer: ${JSON.stringify(content)}`);
    calls++;
    if (toAsleep) woken++;
  }

  const working = clients.map(async (client, i) => {
    for (let turn = i; !stopping.signal.aborted; turn++) {
      const from = performance.now();
      try {
        await use(client, i, turn);
      } catch (error) {
        const text = String(error).slice(0, 200);
        errors.set(text, (errors.get(text) ?? 0) + 1);
      }
      slowestMs = Math.max(slowestMs, performance.now() - from);
      await sleep(pauseMs);
    }
  });
  return {
    async stop() {
      stopping.abort();
      await Promise.all(working);
      for (const client of clients) await client.close();
      return { calls, woken, lists, errors, slowestMs };
    },
  };
}

/** A call whose client has a trace: the spans of the hub, and what the server was told, as a tree. */
async function traceOfOneCall(url: string, telemetry: Collector, server: Hostile): Promise<string[]> {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const headers = { authorization, traceparent: `00-${traceId}-${spanId}-01` };
  const client = await connect('v2 http', url, '', headers);
  await client.callTool('http-0-echo', { text: 'traced' });
  await client.close();
  const entry = await telemetry.span({ traceId, name: 'tools/call http-0-echo', kind: 'server' });
  const exit = await telemetry.span({ traceId, name: 'tools/call echo', kind: 'client' });
  expect([entry.parent, exit.parent]).toEqual([spanId, entry.spanId]);
  const received = server
    .received('tools/call')
    .map(({ params }) => (params['_meta'] as Record<string, unknown> | undefined)?.['traceparent']);
  const told = `00-${traceId}-${exit.spanId}-01`;
  expect(received).toContain(told);
  const line = (depth: number, text: string): string => `${'  '.repeat(depth)}${text}`;
  return [
    `trace ${traceId}`,
    line(1, `${spanId} the client's span (its traceparent)`),
    line(2, `${entry.spanId} ${entry.name}, kind server, ${entry.ms.toFixed(1)} ms, hub ${entry.instance}`),
    line(3, `${exit.spanId} ${exit.name}, kind client, ${exit.ms.toFixed(1)} ms, ${JSON.stringify(exit.attributes)}`),
    line(4, `the server got traceparent ${told}`),
  ];
}

const s = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

function memoryRow(name: string, hub: Deployed): string {
  const { hub: own, below, belowCount } = hub.memory();
  return `| ${name} | ${own} | ${belowCount} | ${below} |`;
}
