import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sharedPostgres } from '../kit/databases.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { raw } from '../kit/raw.ts';
import { reachableAt, replicaSecret } from '../kit/replicas.ts';
import { session } from '../kit/sessions.ts';
import { hubProcess, type HubProcess } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';
import { keepTable } from './table.ts';

// What a call costs that arrives at another hub than its session began at: CPU of both hubs, which others on a busy
// machine do not change much. Prints a table.

const calls = Number(process.env['CHAOS_CALLS'] ?? 3_000);

/** Milliseconds of CPU since the start of a process. */
function cpuMs({ pid }: HubProcess): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) * 10;
}

test('what passing a call on costs', async () => {
  const url = await (await sharedPostgres()).createDatabase();
  const server = await hostileHttp({ name: 's' });
  const settings = { systemConfig: { routing: { enableBearerAuth: false } }, mcpServers: { s: server.config } };
  const env = { DB_URL: url, JWT_SECRET: replicaSecret };
  const home = await hubProcess({ ...settings, env });
  const other = await hubProcess({ mcpServers: {}, env });
  const hubs = [home, other];
  for (const hub of hubs) await hub.connected(1);
  await until('they reach each other', async () => (await Promise.all(hubs.map(reachableAt))).every((n) => n === 2));
  const own = await session(home.mcp('s'));
  const rows: string[] = [];

  async function measure(name: string, hub: HubProcess): Promise<void> {
    const run = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        const params = { name: 'echo', arguments: { text: 'x' } };
        const body = { jsonrpc: '2.0', id: i, method: 'tools/call', params };
        const { status, text } = await raw(hub.mcp('s'), { headers: own.headers, body });
        expect(status, text).toBe(200);
      }
    };
    await run(calls / 2);
    const before = hubs.map(cpuMs);
    await run(calls);
    const [atHome = 0, atOther = 0] = hubs.map((one, i) => (cpuMs(one) - (before[i] ?? 0)) / calls);
    rows.push(`| ${name} | ${atHome.toFixed(2)} | ${atOther.toFixed(2)} |`);
  }

  await measure('at the hub of its session', home);
  await measure('at another hub', other);
  keepTable(
    'passing',
    `\n| a call arrives | CPU ms at the hub of its session | CPU ms at the other |\n|---|---|---|\n${rows.join('\n')}\n`,
  );
});
