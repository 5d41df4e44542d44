import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { askingHttp } from '../kit/asking.ts';
import { balancer } from '../kit/balancer.ts';
import { type AnyClient, connect } from '../kit/clients.ts';
import { sharedPostgres, tempFolder } from '../kit/databases.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { freePort } from '../kit/processes.ts';
import { reachableAt, replicaSecret } from '../kit/replicas.ts';
import { hasSmallDisks, smallDisk } from '../kit/small-disk.ts';
import { hubProcess, type HubProcess } from '../kit/test-hub.ts';
import { type TcpLink, tcpLink } from '../kit/tcp-link.ts';
import { until } from '../kit/until.ts';
import { keepTable } from './table.ts';

// What `replicas-faults.test.ts` does, for minutes and with processes: three hubs behind a balancer that sends each
// request to any of them, twenty official clients, settings that are changed all the time. Prints a table.

/** How long each fault lasts; PostgreSQL is away for three times as long. */
const seconds = Number(process.env['CHAOS_SECONDS'] ?? 20);
/** Only the faults whose names have this in them. */
const only = process.env['CHAOS_ONLY'] ?? '';
const clientCount = 20;
const pauseMs = 100;

interface Placed {
  readonly hub: HubProcess;
  readonly link: TcpLink;
}

const percentile = (times: number[], part: number): string => {
  const at = times.toSorted((a, b) => a - b)[Math.floor((times.length - 1) * part)] ?? 0;
  return at < 10 ? at.toFixed(1) : at.toFixed(0);
};

/** Calls, questions and changes of one scenario. */
class Counts {
  readonly times: number[] = [];
  readonly errors = new Map<string, number>();
  questions = 0;
  answered = 0;
  changes = 0;
  refused = 0;

  failed(error: unknown): void {
    const text = String(error).slice(0, 160);
    this.errors.set(text, (this.errors.get(text) ?? 0) + 1);
  }
}

test('three hubs through faults', async () => {
  const postgres = await sharedPostgres();
  const databaseLink = await tcpLink(() => postgres.port);
  const created = await postgres.createDatabase();
  const databaseUrl = created.replace(`:${postgres.port}/`, `:${databaseLink.port}/`);
  const slow = await hostileHttp({ name: 'slow' });
  const settings = {
    systemConfig: { routing: { enableBearerAuth: false } },
    mcpServers: { ask: await askingHttp(), slow: slow.config },
  };
  const front = await balancer([]);
  front.choose = (_, targets) => Math.floor(Math.random() * targets.length);
  const hubs: Placed[] = [];
  const clocks = tempFolder();

  async function addHub({
    clockAheadMs = 0,
    folder,
  }: { clockAheadMs?: number; folder?: string } = {}): Promise<Placed> {
    const port = await freePort();
    const link = await tcpLink(() => port);
    const env: Record<string, string> = {
      DB_URL: databaseUrl,
      JWT_SECRET: replicaSecret,
      PORT: String(port),
      INTERNAL_URL: `http://127.0.0.1:${link.port}`,
    };
    if (clockAheadMs !== 0) env['NODE_OPTIONS'] = `--import=${otherClock(clocks, clockAheadMs)}`;
    const hub = await hubProcess({ ...settings, env, ...(folder !== undefined && { folder }) });
    await hub.connected(2);
    const placed = { hub, link };
    hubs.push(placed);
    await allReach();
    front.targets = hubs.map(({ hub }) => hub.url);
    return placed;
  }

  const take = (placed: Placed): void => {
    hubs.splice(hubs.indexOf(placed), 1);
    front.targets = hubs.map(({ hub }) => hub.url);
  };
  const allReach = () =>
    until('all hubs reach each other', async () => {
      const counts = await Promise.all(hubs.map(({ hub }) => reachableAt(hub)));
      return counts.every((count) => count >= hubs.length);
    });

  for (let i = 0; i < 3; i++) await addHub();
  const token = await login(hubs[0]?.hub ?? (await addHub()).hub);
  const answers = {
    elicit: () => ({ action: 'accept' as const, content: { word: 'x' } }),
    sample: () => ({ role: 'assistant' as const, model: 'm', content: { type: 'text' as const, text: 'x' } }),
    roots: () => ({ roots: [] }),
  };
  const kinds = ['v1 http', 'v2 http', 'v1 http', 'v2 stateless'] as const;
  const clients: AnyClient[] = [];
  for (let i = 0; i < clientCount; i++)
    clients.push(await connect(kinds[i % kinds.length] ?? 'v1 http', front.url, '', {}, answers));

  let counts = new Counts();
  const stop = new AbortController();
  const acknowledged: string[] = [];

  async function calling(client: AnyClient, i: number): Promise<void> {
    for (let turn = i; !stop.signal.aborted; turn++) {
      const own = counts;
      const from = performance.now();
      const isQuestion = turn % 10 === 0;
      if (isQuestion) own.questions++;
      try {
        const text = `${i} ${turn}`;
        const result = isQuestion
          ? await client.callTool('ask-form', { label: text })
          : await client.callTool('slow-echo', { text });
        const told = result.content[0]?.text ?? '';
        if (!told.includes(isQuestion ? 'accept' : text)) own.failed(`another answer: ${told}`);
        else if (isQuestion) own.answered++;
        own.times.push(performance.now() - from);
      } catch (error) {
        own.failed(error);
      }
      await sleep(pauseMs);
    }
  }

  async function changing(): Promise<void> {
    for (let turn = 0; !stop.signal.aborted; turn++) {
      const own = counts;
      const name = `group ${turn}`;
      const sent = await api(front, 'POST', '/groups', { token, body: { name, servers: ['slow'] } }).catch(
        () => undefined,
      );
      if (sent?.status === 201) {
        acknowledged.push(name);
        own.changes++;
      } else own.refused++;
      await sleep(500);
    }
  }

  const rows: string[] = [];
  async function scenario(name: string, work: () => Promise<void>): Promise<void> {
    if (!name.includes(only)) return;
    counts = new Counts();
    const own = counts;
    await work();
    await sleep(1_000);
    const errors = [...own.errors.values()].reduce((sum, count) => sum + count, 0);
    const { times } = own;
    rows.push(
      `| ${name} | ${times.length} | ${errors} | ${own.answered}/${own.questions} | ${percentile(times, 0.5)} | ${percentile(times, 0.99)} | ${percentile(times, 1)} | ${own.changes} (${own.refused}) |`,
    );
    for (const [text, count] of own.errors) rows.push(`<!-- ${name}: ${count} × ${text} -->`);
  }

  const running = Promise.all([...clients.map(calling), changing()]);
  const lasting = (ms = seconds * 1_000) => sleep(ms);
  await scenario('nothing', lasting);
  await scenario('each hub replaced', async () => {
    for (const old of hubs.slice()) {
      await addHub();
      take(old);
      await old.hub.stop('SIGTERM');
      await lasting(2_000);
    }
  });
  await scenario('one hub killed (SIGKILL)', async () => {
    const [killed] = hubs;
    if (!killed) return;
    await killed.hub.stop('SIGKILL');
    // Until its probes would fail the balancer goes on with it.
    await lasting(3_000);
    take(killed);
    await lasting(3_000);
    await addHub();
  });
  await scenario(`PostgreSQL away for ${seconds * 3} s`, async () => {
    databaseLink.cut();
    await lasting(seconds * 3_000);
    databaseLink.heal();
    await lasting(10_000);
  });
  await scenario('PostgreSQL 2 s slow', async () => {
    databaseLink.slow(1_000);
    await lasting();
    databaseLink.heal();
    await lasting(5_000);
  });
  await scenario('one hub cut off from the others', async () => {
    hubs[0]?.link.silence();
    await lasting();
    hubs[0]?.link.heal();
    await allReach();
  });
  await scenario('clocks 10 min ahead and behind', async () => {
    for (const ahead of [600_000, -600_000]) {
      const [old] = hubs;
      await addHub({ clockAheadMs: ahead });
      if (!old) continue;
      take(old);
      await old.hub.stop('SIGTERM');
    }
    await lasting();
  });
  if (hasSmallDisks) {
    const disk = smallDisk();
    const onDisk = await addHub({ folder: disk.folder });
    await scenario('the disk of one hub is full', async () => {
      disk.fill();
      await lasting();
      disk.free();
      await lasting(5_000);
    });
    take(onDisk);
    await onDisk.hub.stop('SIGTERM');
  }
  stop.abort();
  await running;
  // By the clock of the hub that is asked: the tokens of others may be from its future.
  const last = hubs[0]?.hub ?? (await addHub()).hub;
  const { text } = await api(last, 'GET', '/groups', { token: await login(last) });
  const lost = acknowledged.filter((name) => !text.includes(`"${name}"`));
  keepTable(
    'replicas',
    `\n| | calls | errors | questions answered | p50 ms | p99 ms | max ms | changes acknowledged (refused) |\n|---|---|---|---|---|---|---|---|\n${rows.join('\n')}\n\nAcknowledged changes: ${acknowledged.length}, lost: ${lost.length}\n`,
  );
  expect(rows, `no fault has "${only}" in its name`).not.toEqual([]);
  expect(lost).toEqual([]);
  for (const client of clients) await client.close().catch(() => undefined);
});

/** A module that sets the clock of a process off: the wall clock alone, as on a machine whose clock is wrong. */
function otherClock(folder: string, aheadMs: number): string {
  const path = join(folder, `clock${aheadMs}.mjs`);
  writeFileSync(
    path,
    `const Real = Date; globalThis.Date = class extends Real { constructor(...args) { args.length ? super(...args) : super(Real.now() + ${aheadMs}); } static now() { return Real.now() + ${aheadMs}; } };`,
  );
  return pathToFileURL(path).href;
}
