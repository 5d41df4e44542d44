// Sessions that come and go: initialize, initialized, tools/list, DELETE.
import { kinds, ready, stdioServer } from '../lib/contenders.mjs';
import { percentile } from '../lib/numbers.mjs';
import { cpuOf } from '../lib/processes.mjs';
import { openSession } from '../lib/session.mjs';

export const about = 'sessions that are opened, list their tools and end, 8 at once';

export async function run({ rounds, calls, seconds, extra, note, only }) {
  const setup = { servers: { sio: stdioServer() } };
  const contenders = [];
  try {
    for (const name of ['minimal', 'hub']) if (!only || only.includes(name)) contenders.push(await kinds[name](setup));
    for (const start of extra) contenders.push(await start(setup));
    for (const one of contenders) {
      await ready(one, 5);
      await visits(one, calls / 4, seconds);
    }
    for (let round = 0; round < rounds; round++) {
      for (const one of contenders) note({ contender: one.name }, await visits(one, calls / 4, seconds));
    }
  } finally {
    for (const one of contenders) await one.close();
  }
}

async function visits({ target, pid }, most, seconds) {
  const took = [];
  const from = performance.now();
  const cpuFrom = pid && cpuOf(pid);
  const work = Array.from({ length: 8 }, async () => {
    while (took.length < most && performance.now() - from < seconds * 1000) {
      const begun = performance.now();
      const session = await openSession(target);
      await session.ask('tools/list', '{}');
      await session.end();
      took.push(performance.now() - begun);
    }
  });
  await Promise.all(work);
  const elapsed = (performance.now() - from) / 1000;
  const cpu = pid && cpuOf(pid) - cpuFrom;
  return {
    perSecond: took.length / elapsed,
    p50: percentile(took, 0.5),
    p99: percentile(took, 0.99),
    ...(pid && { cpuMs: (cpu / took.length) * 1e3 }),
  };
}
