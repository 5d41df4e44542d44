// tools/call at a hub of one process and at one of two (`WORKERS`), on one PostgreSQL each.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../scripts/bundle.mjs';
import { httpServer, ready, startHub } from '../lib/contenders.mjs';
import { after } from '../lib/numbers.mjs';
import { childrenOf, cores, cpuOf, machineTime, noiseBetween } from '../lib/processes.mjs';
import { load } from './call.mjs';

export const about =
  'tools/call of an echo, 64 in flight, at hubs of one and two processes: CPU time of all of them and of the busiest, calls per second beside the load, and those that two cores of its own would do';
/** It needs the programs of PostgreSQL 15. */
export const byName = true;

const inFlight = 64;

export async function run({ rounds, calls, seconds, note, only }) {
  await bundle({ records: 'bench/records.ts' }, '.built-bench');
  const { startPostgres } = createRequire(import.meta.url)('../../.built-bench/records.js');
  const postgres = await startPostgres();
  const web = await httpServer();
  const program = fileURLToPath(new URL('../servers/stdio.mjs', import.meta.url));
  const servers = {
    sio: { command: process.execPath, args: [program, '{}'] },
    web: { type: 'streamable-http', url: web.url },
  };
  const hubs = [];
  try {
    for (const workers of [1, 2]) {
      const env = { DB_URL: await postgres.createDatabase(), WORKERS: String(workers) };
      const hub = await startHub(`${workers}`, { servers, env, on: cores?.all });
      const tools = await ready(hub, 10);
      while (!(await allThere(hub, workers))) await after(50);
      hubs.push({ ...hub, workers, tools });
      for (const way of ['sio', 'web']) await load(hub, tools.of(way, 'echo'), inFlight, { calls, seconds });
    }
    for (let round = 0; round < rounds; round++) {
      for (const way of ['sio', 'web']) {
        if (only && !only.includes(way)) continue;
        for (const hub of hubs) {
          const pids = [hub.pid, ...childrenOf(hub.pid).filter(isHub)];
          const before = machineTime(pids);
          const from = pids.map(cpuOf);
          const began = performance.now();
          const { perSecond, p50, p99 } = await load(hub, hub.tools.of(way, 'echo'), inFlight, { calls, seconds });
          const done = (perSecond * (performance.now() - began)) / 1_000;
          const spent = pids.map((pid, i) => ((cpuOf(pid) - from[i]) / done) * 1e6);
          const cpuUs = spent.reduce((sum, us) => sum + us, 0);
          const busiestUs = Math.max(...spent);
          note(
            { over: way === 'sio' ? 'stdio' : 'http', workers: hub.workers },
            {
              perSecond,
              p50,
              p99,
              cpuUs,
              busiestUs,
              // A process is at work on one core; all of them have two.
              ownCores: 1e6 / Math.max(busiestUs, cpuUs / 2),
              noise: noiseBetween(before, machineTime(pids)),
            },
          );
        }
      }
    }
  } finally {
    for (const hub of hubs) await hub.close();
    await web.close();
    await postgres.close();
  }
}

/** Of the children of a hub those that serve, and not the tool servers. */
function isHub(pid) {
  return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('cli.js');
}

async function allThere({ url }, workers) {
  const { hubs } = await (await fetch(`${url}/health`)).json();
  return (hubs?.reachable ?? 1) === workers;
}
