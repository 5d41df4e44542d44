// Many calls that take long: they must not wait for one another.
import { httpServer, kinds, ready, stdioServer } from '../lib/contenders.mjs';
import { openSession } from '../lib/session.mjs';

/** Bursts of calls that are answered at once: what runs for the first time is not what is looked for. */
const warmUps = 20;

export const about = '200 calls at once that take a second each: when the last of them is answered';

export async function run({ rounds, extra, note, only }) {
  const web = await httpServer();
  const setup = { web, servers: { sio: stdioServer(), web: { type: 'streamable-http', url: web.url } } };
  const contenders = [];
  try {
    for (const name of ['direct', 'minimal', 'hub'])
      if (!only || only.includes(name)) contenders.push(await kinds[name](setup));
    for (const start of extra) contenders.push(await start(setup));
    for (const one of contenders) one.tools = await ready(one, one.name === 'direct' ? 5 : 10);
    for (let round = 0; round < rounds; round++) {
      for (const way of ['sio', 'web']) {
        for (const one of contenders) {
          if (one.name === 'direct' && way === 'sio') continue;
          const tool = one.tools.of(way, 'sleep');
          if (round === 0) for (let burst = 0; burst < warmUps; burst++) await sleep(one.target, tool, 1);
          note({ over: way === 'sio' ? 'stdio' : 'http', contender: one.name }, await sleep(one.target, tool, 1_000));
        }
      }
    }
  } finally {
    for (const one of contenders) await one.close();
    await web.close();
  }
}

async function sleep(target, tool, ms) {
  const sessions = await Promise.all(Array.from({ length: 200 }, () => openSession(target)));
  const from = performance.now();
  await Promise.all(sessions.map((session, i) => session.call(tool, `{"ms":${ms},"tag":"s${i}."}`, `s${i}.`)));
  const allMs = performance.now() - from;
  await Promise.all(sessions.map((session) => session.end()));
  return { allMs };
}
