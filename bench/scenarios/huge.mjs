// Results of 50 MB beside small calls of another server. Stretches with and without them take turns in one hub; who
// reads them is a process of its own. How late the main thread of the hub was says more than the p99 of the calls,
// which also wait for the core that their client shares with the server and the reader of the large results.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { delayFlags, delayOf } from '../lib/delay.mjs';
import { ready, startHub, stdioServer } from '../lib/contenders.mjs';
import { median, percentile } from '../lib/numbers.mjs';
import { cpuOf, onLoadCore } from '../lib/processes.mjs';
import { openSession } from '../lib/session.mjs';

export const about = 'small calls beside results of 50 MB, one and eight at once';

const mb = 50;
const turns = 6;
const calls = 400;
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const servers = { good: stdioServer(), huge: onLoadCore([here('../servers/huge.mjs')]) };

export async function run({ rounds, note, extra }) {
  const setup = { servers, flags: delayFlags, env: { DB_URL: 'off' } };
  const hubs = [await startHub('hub', setup)];
  for (const start of extra) hubs.push(await start(setup));
  try {
    for (const hub of hubs) await measure(hub, rounds, note);
  } finally {
    for (const hub of hubs) await hub.close();
  }
}

async function measure(hub, rounds, note) {
  const tools = await ready(hub, 6);
  const tool = tools.of('good', 'echo');
  const session = await openSession(hub.target);
  const reader = readerOf(hub, tools.of('huge', 'huge'));
  async function stretch() {
    await delayOf(hub.pid);
    const took = [];
    for (let i = 0; i < calls; i++) {
      const from = performance.now();
      await session.call(tool, `{"message":"m${i}."}`, `m${i}.`);
      took.push(performance.now() - from);
    }
    return {
      p50: percentile(took, 0.5),
      p99: percentile(took, 0.99),
      worst: Math.max(...took),
      late: await delayOf(hub.pid),
    };
  }
  await stretch();
  await reader.during(1, stretch);
  for (let round = 0; round < rounds; round++) {
    for (const atOnce of [1, 8]) {
      const alone = [];
      const there = [];
      let read = 0;
      let cpu = 0;
      for (let turn = 0; turn < turns; turn++) {
        alone.push(await stretch());
        const cpuFrom = cpuOf(hub.pid);
        const { result, count } = await reader.during(atOnce, stretch);
        there.push(result);
        read += count;
        cpu += cpuOf(hub.pid) - cpuFrom;
      }
      const mid = (list, pick) => median(list.map(pick));
      note(
        { contender: hub.name, atOnce },
        {
          aloneP50: mid(alone, ({ p50 }) => p50),
          p50: mid(there, ({ p50 }) => p50),
          aloneP99: mid(alone, ({ p99 }) => p99),
          p99: mid(there, ({ p99 }) => p99),
          worst: Math.max(...there.map(({ worst }) => worst)),
          aloneLateP99: mid(alone, ({ late }) => late.p99),
          lateP99: mid(there, ({ late }) => late.p99),
          lateWorst: mid(there, ({ late }) => late.max),
          hugeCpuMs: (cpu / read) * 1e3,
        },
      );
    }
  }
  await session.end();
  reader.close();
}

/** The reader of large results. `during` keeps so many on their way while `act` runs. */
function readerOf(hub, tool) {
  const { command, args } = onLoadCore([
    here('../lib/read-huge.mjs'),
    JSON.stringify({ target: hub.target, tool, mb }),
  ]);
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  let before = 0;
  return {
    async during(atOnce, act) {
      child.send(atOnce);
      const result = await act();
      const [read] = await new Promise((resolve) => {
        child.once('message', (count) => resolve([count]));
        child.send(0);
      });
      const count = read - before;
      before = read;
      return { result, count };
    },
    close: () => child.disconnect(),
  };
}
