// One server that does not do its work, beside one that does: the good one must not notice. Two hubs run at a time,
// with the bad server and without it, and take turns in short rounds, since what else happens on the machine moves a
// p99 by more than what is looked for.
import { ready, startHub, stdioServer } from '../lib/contenders.mjs';
import { median, percentile } from '../lib/numbers.mjs';
import { onLoadCore } from '../lib/processes.mjs';
import { openSession } from '../lib/session.mjs';

export const about = 'calls of a healthy server while another one hangs, floods, is slow or ends again and again';

const others = {
  'deaf to initialize': stdioServer({ deaf: 'initialize' }),
  'deaf to tools/list': stdioServer({ deaf: 'tools/list' }),
  'flooding stderr': stdioServer({ flood: 'stderr' }),
  'flooding messages': stdioServer({ flood: 'messages' }),
  slow: stdioServer({ lateMs: 2_000 }),
  flapping: onLoadCore(['-e', 'setTimeout(() => process.exit(1), 50)']),
};
const turns = 10;
const calls = 500;

export async function run({ rounds, note }) {
  for (const [beside, other] of Object.entries(others)) {
    const hubs = [];
    let ended = false;
    try {
      for (const servers of [{ good: stdioServer() }, { good: stdioServer(), other }])
        hubs.push(await callerOf(await startHub('hub', { servers, env: { DB_URL: 'off' } })));
      const waiting = beside === 'slow' ? callAllTheTime(hubs[1].hub, 20, () => ended) : undefined;
      for (const one of hubs) await one.calls(calls);
      for (let round = 0; round < rounds; round++) {
        const readings = hubs.map(() => []);
        for (let turn = 0; turn < turns; turn++)
          for (const i of turn % 2 === 0 ? [0, 1] : [1, 0]) readings[i].push(await hubs[i].calls(calls));
        const [alone, there] = readings.map((list) => ({
          p50: median(list.map(({ p50 }) => p50)),
          p99: median(list.map(({ p99 }) => p99)),
        }));
        note(
          { beside },
          {
            listedMs: hubs[1].listedMs,
            aloneP50: alone.p50,
            p50: there.p50,
            aloneP99: alone.p99,
            p99: there.p99,
            p99Ratio: there.p99 / alone.p99,
          },
        );
      }
      ended = true;
      await waiting;
    } finally {
      for (const { hub } of hubs) await hub.close();
    }
  }
}

/** One client of the good server. */
async function callerOf(hub) {
  // The other one may be there first.
  let tool;
  while (tool === undefined) tool = (await ready(hub, 5)).of('good', 'echo');
  const listedMs = performance.now() - hub.startedAt;
  const session = await openSession(hub.target);
  return {
    hub,
    listedMs,
    async calls(count) {
      const took = [];
      for (let i = 0; i < count; i++) {
        const from = performance.now();
        await session.call(tool, `{"message":"m${i}."}`, `m${i}.`);
        took.push(performance.now() - from);
      }
      return { p50: percentile(took, 0.5), p99: percentile(took, 0.99) };
    },
  };
}

/** So many clients of the slow server, each of which waits for its answer and calls again. */
async function callAllTheTime(hub, clients, isEnded) {
  await ready(hub, 10);
  const work = Array.from({ length: clients }, async () => {
    const session = await openSession(hub.target);
    while (!isEnded()) await session.call('other-echo', '{"message":"late"}', 'late');
  });
  return Promise.all(work);
}
