import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Activity } from '../../src/core/activity.ts';
import { databaseLimits } from '../../src/database/limits.ts';
import type { Health } from '../../src/http/open/health.ts';
import { api, login } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { setLimits } from '../kit/limits.ts';
import { sharedPostgres } from '../kit/shared-postgres.ts';
import { raw, rpc } from '../kit/raw.ts';
import { type HubProcess, hubProcess, type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// What was answered is in the activity, whatever becomes of the hub and its database.

const alpha = await hostileHttp({ name: 'alpha', tools: ['echo'] });
const databaseWaitMs = 60_000;

async function postgres() {
  const server = await sharedPostgres();
  return { ...server, url: await server.createDatabase() };
}

const health = async (hub: Pick<TestHub, 'url'>) =>
  JSON.parse((await raw(new URL('/health', hub.url).href, { method: 'GET' })).text) as Health;

let calls = 0;

/** A call with a trace id of its own; gives that once it was answered, undefined when it was not. */
async function call(hub: HubProcess): Promise<string | undefined> {
  const id = String((calls += 1)).padStart(32, '0');
  const _meta = { traceparent: `00-${id}-0000000000000001-01` };
  const answer = await rpc(hub.mcp(), 'tools/call', { name: 'alpha-echo', arguments: {}, _meta }).catch(
    () => undefined,
  );
  return answer?.status === 200 && answer.result !== undefined ? id : undefined;
}

/** The trace ids of all calls that the hub knows of, once it has written everything. */
async function recorded(hub: Pick<TestHub, 'url'>): Promise<string[]> {
  const isWritten = async (): Promise<boolean> => {
    const { database, logs, activity } = await health(hub);
    return database.state === 'ready' && logs.waiting + activity.waiting === 0;
  };
  await until('everything is written', isWritten, databaseWaitMs);
  const token = await login(hub);
  const found: string[] = [];
  for (let page = 1; ; page += 1) {
    const { body } = await api(hub, 'GET', `/activities?limit=100&page=${page}`, { token });
    const data = body.data as Activity[];
    if (data.length === 0) return found;
    found.push(...data.flatMap(({ traceId }) => traceId ?? []));
  }
}

test('every call that was answered is in the activity after kill -9, once', async () => {
  const { url } = await postgres();
  let folder: string | undefined;
  const answered: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    const hub = await hubProcess({
      mcpServers: { alpha: alpha.config },
      env: { DB_URL: url },
      ...(folder !== undefined && { folder }),
    });
    ({ folder } = hub);
    await hub.connected(1);
    const from = answered.length;
    const load = { isOver: false };
    const callers = Array.from({ length: 8 }, async () => {
      while (!load.isOver) {
        const id = await call(hub);
        if (id !== undefined) answered.push(id);
      }
    });
    await until('calls are under way', () => answered.length > from + 60, databaseWaitMs);
    await hub.stop('SIGKILL');
    load.isOver = true;
    await Promise.all(callers);
  }
  const hub = await testHub({
    ...(folder !== undefined && { folder }),
    mcpServers: { alpha: alpha.config },
    env: { DB_URL: url },
  });
  const found = await recorded(hub);
  expect(answered.filter((id) => !found.includes(id))).toEqual([]);
  expect(new Set(found).size).toBe(found.length);
  expect((await health(hub)).activity.dropped).toBe(0);
  await until('the journal is empty', () => journalOf(hub).length === 0, databaseWaitMs);
});

test('what was answered while PostgreSQL was away is kept over a stop, and written by the next start', async () => {
  setLimits(databaseLimits, { databaseRetryMaxMs: 1_000 });
  const server = await postgres();
  const env = { DB_URL: server.url, JWT_SECRET: 'a secret that outlives the first start' };
  const hub = await hubProcess({ mcpServers: { alpha: alpha.config }, env });
  await hub.connected(1);
  const token = await login(hub);
  await server.kill();
  await until('the loss is noticed', async () => (await health(hub)).database.state === 'down', databaseWaitMs);
  const answered: (string | undefined)[] = [];
  for (let n = 0; n < 30; n += 1) answered.push(await call(hub));
  expect(answered).not.toContain(undefined);
  expect((await hub.stop('SIGTERM')).code).toBe(0);
  expect(hub.output()).toMatch(/Some activity records are not in the database yet; the next start writes them/);
  expect(journalOf(hub).length).toBeGreaterThan(0);

  // It starts without the database too, and knows what waits.
  const between = await testHub({ folder: hub.folder, env });
  expect((await health(between)).activity.waiting).toBeGreaterThanOrEqual(30);
  // One hub's memory is not told as all there is.
  const ask = async (path: string) => (await api(between, 'GET', path, { token })).body as { incomplete?: boolean };
  const paths = ['/activities', '/activities/stats', '/activities/timeline', '/activities/filters', '/logs'];
  for (const path of paths) expect([path, (await ask(path)).incomplete]).toEqual([path, true]);
  const id = '00000000-0000-7000-8000-000000000000';
  expect((await api(between, 'GET', `/activities/${id}`, { token })).status).toBe(503);
  await server.start();
  const found = await recorded(between);
  expect(new Set(found)).toEqual(new Set(answered));
  expect(found).toHaveLength(answered.length);
  for (const path of paths) expect([path, (await ask(path)).incomplete]).toEqual([path, undefined]);
  expect((await api(between, 'GET', `/activities/${id}`, { token })).status).toBe(404);
});

function journalOf({ folder }: Pick<TestHub, 'folder'>): string[] {
  const path = join(folder, 'data', 'journal');
  return existsSync(path) ? readdirSync(path).filter((name) => name.startsWith('activity')) : [];
}
