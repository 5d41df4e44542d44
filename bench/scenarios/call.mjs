// tools/call: how many a second, how long each takes, and what CPU time each costs the one that is measured.
import { httpServer, kinds, ready, stdioServer } from '../lib/contenders.mjs';
import { percentile } from '../lib/numbers.mjs';
import { cpuOf, machineTime, noiseBetween } from '../lib/processes.mjs';
import { openSession } from '../lib/session.mjs';

export const about = 'tools/call of an echo, 1, 16 and 64 in flight, over stdio and over HTTP';

export async function run({ rounds, calls, seconds, extra, note, only, inFlight }) {
  const web = await httpServer();
  const servers = { sio: stdioServer(), web: { type: 'streamable-http', url: web.url } };
  const setup = { web, servers };
  const contenders = [];
  try {
    for (const name of ['direct', 'proxy', 'minimal', 'hub', 'hub without database']) {
      if (only && !only.includes(name)) continue;
      contenders.push(await kinds[name](setup));
    }
    for (const start of extra) contenders.push(await start(setup));
    for (const one of contenders) {
      const isOneServer = one.name === 'direct' || one.name === 'proxy';
      one.tools = await ready(one, isOneServer ? 5 : 10);
      one.ways = isOneServer ? ['web'] : ['sio', 'web'];
      for (const way of one.ways) await load(one, one.tools.of(way, 'echo'), 16, { calls: 8_000, seconds: 8 });
    }
    const pids = contenders.flatMap(({ pid }) => pid ?? []);
    for (let round = 0; round < rounds; round++) {
      for (const at of inFlight) {
        for (const way of ['sio', 'web']) {
          for (const one of contenders) {
            if (!one.ways.includes(way)) continue;
            const before = machineTime(pids);
            const reading = await load(one, one.tools.of(way, 'echo'), at, {
              calls: at === 1 ? calls / 4 : calls,
              seconds,
            });
            note(
              { at, over: way === 'sio' ? 'stdio' : 'http', contender: one.name },
              { ...reading, noise: noiseBetween(before, machineTime(pids)) },
            );
          }
        }
      }
    }
  } finally {
    for (const one of contenders) await one.close();
    await web.close();
  }
}

/** Keeps so many calls in flight until there were so many, or for so long. */
export async function load({ target, pid }, tool, workers, { calls, seconds }) {
  const sessions = await Promise.all(Array.from({ length: workers }, () => openSession(target)));
  const times = [];
  let over = false;
  const work = sessions.map(async (session, worker) => {
    // oxlint-disable-next-line eslint/no-unmodified-loop-condition -- the timer below changes it
    for (let n = 0; !over && times.length + workers <= calls; n++) {
      const tag = `w${worker}n${n}.`;
      const from = performance.now();
      await session.call(tool, `{"message":"${tag}"}`, tag);
      times.push(performance.now() - from);
    }
  });
  const from = performance.now();
  const cpuFrom = pid && cpuOf(pid);
  const end = setTimeout(() => (over = true), seconds * 1000);
  await Promise.all(work);
  clearTimeout(end);
  const cpu = pid && cpuOf(pid) - cpuFrom;
  const elapsed = (performance.now() - from) / 1000;
  await Promise.all(sessions.map((session) => session.end()));
  return {
    perSecond: times.length / elapsed,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    ...(pid && { cpuUs: (cpu / times.length) * 1e6 }),
  };
}
