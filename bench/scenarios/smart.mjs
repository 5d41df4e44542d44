// Finding a tool by what it does: `search_tools` of the smart endpoint, as a client asks it.
import { ready, startHub, stdioServer } from '../lib/contenders.mjs';
import { percentile } from '../lib/numbers.mjs';
import { cpuOf } from '../lib/processes.mjs';
import { openSession } from '../lib/session.mjs';

export const about = 'search_tools at 1 and 64 in flight over 500, 5 000 and 50 000 tools, and calls beside it';

const perServer = 10_000;
const queries = [
  ['remove a contact that nobody needs', 'contact'],
  ['what is the state of the shipment', 'shipment'],
  ['archive invoices of a project', 'invoice'],
  ['open a ticket for the team', 'ticket'],
  ['change the time of the meeting', 'meeting'],
  ['create a branch', 'branch'],
];

export async function run({ rounds, note }) {
  for (const tools of [500, 5_000, 50_000]) {
    const servers = { echo: stdioServer() };
    for (let left = tools; left > 0; left -= perServer)
      servers[`s${left}`] = stdioServer({ tools: Math.min(left, perServer) });
    const hub = await startHub('hub', { servers });
    try {
      const echo = (await ready(hub, tools + 5)).of('echo', 'echo');
      const smart = { ...hub.target, url: `${hub.url}/mcp/$smart` };
      await search(hub, smart, 1, 50);
      for (let round = 0; round < rounds; round++) {
        for (const at of [1, 64]) note({ tools, at }, await search(hub, smart, at, tools > 5_000 ? 300 : 1_000, echo));
      }
    } finally {
      await hub.close();
    }
  }
}

/** So many searches, and beside them one caller of a tool after the other, which must not be held up. */
async function search(hub, smart, at, times, echo) {
  const took = [];
  const calls = [];
  let left = times;
  const cpuFrom = cpuOf(hub.pid);
  const from = performance.now();
  await Promise.all(
    Array.from({ length: at }, async () => {
      const session = await openSession(smart);
      while (left-- > 0) {
        const [query, thing] = queries[left % queries.length];
        const asked = performance.now();
        await session.call('search_tools', JSON.stringify({ query: `${query} ${unlike(left)}` }), `${thing}_`);
        took.push(performance.now() - asked);
      }
      await session.end();
    }).concat(echo ? callMeanwhile(hub, echo, calls, () => left > 0) : []),
  );
  const seconds = (performance.now() - from) / 1_000;
  return {
    perSecond: times / seconds,
    p50: percentile(took, 0.5),
    p99: percentile(took, 0.99),
    cpuMs: ((cpuOf(hub.pid) - cpuFrom) / times) * 1e3,
    besideP50: percentile(calls, 0.5),
    besideP99: percentile(calls, 0.99),
  };
}

/** A word that no tool has, so that no two searches are the same. */
const unlike = (n) => [...String(n)].map((digit) => 'qwxzvkjyfh'[digit]).join('');

async function callMeanwhile(hub, echo, took, goOn) {
  const session = await openSession(hub.target);
  for (let i = 0; goOn(); i++) {
    const from = performance.now();
    await session.call(echo, `{"message":"b${i}."}`, `b${i}.`);
    took.push(performance.now() - from);
  }
  await session.end();
}
