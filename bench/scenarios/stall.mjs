// How long the main thread of the hub is held up at most, beside one client who makes a call every few milliseconds.
import { fileURLToPath } from 'node:url';
import { delayFlags, delayOf } from '../lib/delay.mjs';
import { ready, startHub, stdioServer } from '../lib/contenders.mjs';
import { after, percentile } from '../lib/numbers.mjs';
import { onLoadCore } from '../lib/processes.mjs';
import { openSession, toolNames } from '../lib/session.mjs';

export const about =
  'the longest stop of the main thread beside large bodies, large lists, large results and many calls';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const servers = {
  good: stdioServer(),
  many: stdioServer({ tools: 10_000 }),
  huge: onLoadCore([here('../servers/huge.mjs')]),
};
/** Seven megabytes of small values, which take a parser the longest. */
const small = Array.from({ length: 300_000 }, () => '{"a":1,"b":[true,"x"]}').join(',');

export async function run({ rounds, note, extra }) {
  const hubs = [await startHub('hub', { servers, flags: delayFlags })];
  for (const start of extra) hubs.push(await start({ servers, flags: delayFlags }));
  try {
    for (const hub of hubs) await measure(hub, rounds, note);
  } finally {
    for (const hub of hubs) await hub.close();
  }
}

async function measure(hub, rounds, note) {
  const tools = await ready(hub, 10_006);
  const echo = tools.of('good', 'echo');
  const huge = tools.of('huge', 'huge');
  const session = await openSession(hub.target);
  const post = (body) =>
    fetch(hub.target.url, {
      method: 'POST',
      headers: {
        ...hub.target.headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body,
    }).then((answer) => answer.text());
  const call = (items) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${echo}","arguments":{"message":"m","x":[${items}]}}}`;
  const works = {
    'nothing else': () => after(300),
    'a body of 7 MB that is no JSON': () => post(call(`${small},`)),
    'a call with 7 MB of arguments': () => post(call(small)),
    'a list of 10 000 tools': () => toolNames(hub.target),
    'a result of 50 MB': () =>
      post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${huge}","arguments":{"mb":50}}}`),
    '5 000 calls of 64 clients': () => many(hub, echo),
  };
  for (let round = -1; round < rounds; round++) {
    for (const [beside, work] of Object.entries(works)) {
      const [worst, late] = await during(hub, session, echo, work);
      // The first warms up.
      if (round >= 0) note({ contender: hub.name, beside }, { lateP99: late.ownP99, lateWorst: late.ownMax, worst });
    }
  }
  await session.end();
}

/** The longest that a call took, and how late the main thread was, while `work` ran. */
async function during(hub, session, echo, work) {
  await delayOf(hub.pid);
  let over = false;
  const took = [];
  const calls = (async () => {
    // oxlint-disable-next-line eslint/no-unmodified-loop-condition -- changed below, when the work is done
    while (!over) {
      const from = performance.now();
      await session.call(echo, '{"message":"beside"}', 'beside');
      took.push(performance.now() - from);
      await after(5);
    }
  })();
  await work();
  over = true;
  await calls;
  return [percentile(took, 1), await delayOf(hub.pid)];
}

async function many(hub, echo) {
  const sessions = await Promise.all(Array.from({ length: 64 }, () => openSession(hub.target)));
  await Promise.all(
    sessions.map(async (session) => {
      for (let n = 0; n < 78; n++) await session.call(echo, `{"message":"n${n}."}`, `n${n}.`);
      await session.end();
    }),
  );
}
