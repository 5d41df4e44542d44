// Calls that come when they come, whether or not the ones before were answered: each is timed from when it was due, so
// that a pause counts for all who waited in it.
import { httpServerHere, kinds, ready } from '../lib/contenders.mjs';
import { after, median, percentile } from '../lib/numbers.mjs';
import { cpuOf } from '../lib/processes.mjs';
import { openSession } from '../lib/session.mjs';
import { load } from './call.mjs';

export const about = 'calls at a steady rate, a quarter and half of what the hub can do, timed from when each was due';

/** What was put off under full load is done then. */
const restMs = 2_000;
const names = ['direct', 'minimal', 'hub', 'hub without database'];

export async function run({ rounds, seconds, extra, note, only }) {
  const web = await httpServerHere();
  const setup = { web, servers: { web: { type: 'streamable-http', url: web.url } } };
  const starts = [...names.filter((name) => !only || only.includes(name)).map((name) => kinds[name]), ...extra];
  try {
    const hub = await warm(await kinds.hub(setup));
    await hub.close();
    for (let round = 0; round < rounds; round++) {
      for (const start of starts) {
        // It is alone on its core: what another collects while it is idle would be its p99.
        const one = await warm(await start(setup));
        for (const share of [0.25, 0.5]) {
          const before = one.pid && cpuOf(one.pid);
          const { p50, p99, elapsed } = await steady(one, hub.capacity * share, seconds);
          const busy = one.pid && (cpuOf(one.pid) - before) / elapsed;
          note({ share, contender: one.name }, { perSecond: hub.capacity * share, p50, p99, ...(one.pid && { busy }) });
        }
        await one.close();
      }
    }
  } finally {
    web.close();
  }
}

/**
 * `one`, with its `tool` and its `capacity` in calls per second: neither of its first moments, nor of one whose records
 * are still to be written.
 */
async function warm(one) {
  one.tool = (await ready(one, 5)).of('web', 'echo');
  const readings = [];
  for (let time = 0; time < 3; time++)
    readings.push((await load(one, one.tool, 64, { calls: Infinity, seconds: 3 })).perSecond);
  one.capacity = median(readings.slice(1));
  await after(restMs);
  return one;
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
          answered += 1;
          // oxlint-disable-next-line promise/no-callback-in-promise -- of many calls, the last one ends the wait
          if (answered === total) done();
          else if (due.length > 0) send();
        }, failed);
      }
    };
    const tick = () => {
      const now = performance.now();
      for (; planned < total && begin + (planned * 1000) / rate <= now; planned++)
        due.push({ n: planned, at: begin + (planned * 1000) / rate });
      send();
      if (planned < total) setTimeout(tick, 1);
    };
    tick();
  });
  const elapsed = (performance.now() - begin) / 1000;
  await Promise.all(all.map((session) => session.end()));
  return { elapsed, p50: percentile(took, 0.5), p99: percentile(took, 0.99) };
}
