// Calls that come when they come, whether or not the ones before were answered: each is timed from when it was due, so that a pause counts for all who waited in it.
import { httpServerHere, kinds, ready, stdioServer } from '../lib/contenders.mjs';
import { percentile } from '../lib/numbers.mjs';
import { openSession } from '../lib/session.mjs';
import { load } from './call.mjs';

export const about = 'calls at a steady rate, half of what the hub can do, timed from when each was due';

export async function run({ rounds, seconds, extra, note, only }) {
  const web = await httpServerHere();
  const setup = { web, servers: { web: { type: 'streamable-http', url: web.url } } };
  const contenders = [];
  try {
    for (const name of ['direct', 'minimal', 'hub', 'hub without database']) if (!only || only.includes(name)) contenders.push(await kinds[name](setup));
    for (const start of extra) contenders.push(await start(setup));
    for (const one of contenders) {
      one.tool = (await ready(one, 5)).of('web', 'echo');
      // Twice: what runs for the first time is not what it can do.
      for (let time = 0; time < 2; time++)
        one.capacity = (await load(one, one.tool, 64, { calls: 8_000, seconds: 5 })).perSecond;
    }
    const rate = contenders.find(({ name }) => name === 'hub').capacity / 2;
    for (let round = 0; round < rounds; round++) {
      for (const one of contenders) note({ contender: one.name }, { perSecond: rate, ...(await steady(one, rate, seconds)) });
    }
  } finally {
    for (const one of contenders) await one.close();
    await web.close();
  }
}

async function steady({ target, tool }, rate, seconds) {
  const idle = await Promise.all(Array.from({ length: 64 }, () => openSession(target)));
  const all = [...idle];
  const took = [];
  const due = [];
  const begin = performance.now();
  const total = Math.floor(rate * seconds);
  let planned = 0;
  let answered = 0;
  await new Promise((done, failed) => {
    const send = () => {
      while (due.length > 0 && idle.length > 0) {
        const session = idle.pop();
        const { n, at } = due.shift();
        session.call(tool, `{"message":"n${n}."}`, `n${n}.`).then(() => {
          took.push(performance.now() - at);
          idle.push(session);
          if (++answered === total) done();
          else if (due.length > 0) send();
        }, failed);
      }
    };
    const tick = () => {
      const now = performance.now();
      for (; planned < total && begin + (planned * 1000) / rate <= now; planned++) due.push({ n: planned, at: begin + (planned * 1000) / rate });
      send();
      if (planned < total) setTimeout(tick, 1);
    };
    tick();
  });
  await Promise.all(all.map((session) => session.end()));
  return { p50: percentile(took, 0.5), p99: percentile(took, 0.99) };
}
