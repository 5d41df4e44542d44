// Long results.
import { httpServer, kinds, ready, stdioServer } from '../lib/contenders.mjs';
import { percentile } from '../lib/numbers.mjs';
import { cpuOf } from '../lib/processes.mjs';
import { openSession } from '../lib/session.mjs';

export const about = 'tools/call with a result of 1 MB, 4 in flight';

export async function run({ rounds, seconds, extra, note, only }) {
  const web = await httpServer();
  const setup = { web, servers: { sio: stdioServer(), web: { type: 'streamable-http', url: web.url } } };
  const contenders = [];
  try {
    for (const name of ['minimal', 'hub']) if (!only || only.includes(name)) contenders.push(await kinds[name](setup));
    for (const start of extra) contenders.push(await start(setup));
    for (const one of contenders) {
      one.tools = await ready(one, 10);
      for (const way of ['sio', 'web']) await load(one, one.tools.of(way, 'big'), 60, seconds);
    }
    for (let round = 0; round < rounds; round++) {
      for (const way of ['sio', 'web']) {
        for (const one of contenders) {
          note(
            { over: way === 'sio' ? 'stdio' : 'http', contender: one.name },
            await load(one, one.tools.of(way, 'big'), 100, seconds),
          );
        }
      }
    }
  } finally {
    for (const one of contenders) await one.close();
    await web.close();
  }
}

async function load({ target, pid }, tool, most, seconds) {
  const took = [];
  const from = performance.now();
  const cpuFrom = pid && cpuOf(pid);
  const work = Array.from({ length: 4 }, async (_, worker) => {
    const session = await openSession(target);
    while (took.length < most && performance.now() - from < seconds * 1000) {
      const tag = `w${worker}n${took.length}.`;
      const begun = performance.now();
      const text = await session.call(tool, `{"kb":1024,"tag":"${tag}"}`, tag);
      if (text.length < 1024 * 1024) throw new Error(`cut to ${text.length}`);
      took.push(performance.now() - begun);
    }
    await session.end();
  });
  await Promise.all(work);
  const cpu = pid && cpuOf(pid) - cpuFrom;
  return { p50: percentile(took, 0.5), p99: percentile(took, 0.99), ...(pid && { cpuMs: (cpu / took.length) * 1e3 }) };
}
