// What a call costs as a hub grows: more servers, tools, sessions, keys and users, records. One table, with the slope
// of each line: 0 is a cost that stays, 1 one that grows as its cause does.
import { httpServerHere, ready, startHub } from '../lib/contenders.mjs';
import { after } from '../lib/numbers.mjs';
import { cpuOf } from '../lib/processes.mjs';
import { openSession } from '../lib/session.mjs';

export const about =
  'CPU time of a call with up to 1 000 servers, 100 000 tools, 10 000 sessions, 10 000 keys and users, 1 000 000 records; minutes';
/** It takes minutes and gigabytes. */
export const byName = true;

const inFlight = 16;
const calls = 4_000;
const sizes = {
  servers: [1, 10, 100, 1_000],
  tools: [10, 1_000, 10_000, 100_000],
  sessions: [1, 100, 10_000],
  'keys and users': [10, 10_000],
  records: [1_000, 1_000_000],
};
/** Of one server at most: a list has its bounds. */
const toolsOfServer = 5_000;

export async function run({ rounds, only, note }) {
  for (const [growing, counts] of Object.entries(sizes)) {
    if (only && !only.includes(growing)) continue;
    const before = new Map();
    for (const count of counts) {
      const readings = await measure(growing, count, rounds);
      for (const cpuUs of readings) note({ growing, count }, { cpuUs, ...slopeFrom(before, count, cpuUs) });
      before.set(count, Math.min(...readings));
    }
  }
}

/** From the smallest on. */
function slopeFrom(before, count, cpuUs) {
  const [first] = before;
  return first && { slope: Math.log(cpuUs / first[1]) / Math.log(count / first[0]) };
}

async function measure(growing, count, rounds) {
  const webs = [];
  const web = async (options) => {
    const one = await httpServerHere(options);
    webs.push(one);
    return { type: 'streamable-http', url: one.url };
  };
  const hub = await startHub('hub', await setupOf(growing, count, web));
  try {
    const expected = growing === 'tools' ? count : growing === 'servers' ? 5 * count : 5;
    const tools = await ready(hub, Math.min(expected, 100_000), 300_000);
    await searchReady({ ...hub.target, url: `${hub.url}/mcp/$smart` });
    const names =
      growing === 'servers'
        ? Array.from({ length: count }, (_, i) => tools.of(`s${i}-`, 'echo'))
        : [tools.of('s0-', 'echo')];
    const sessions = await Promise.all(Array.from({ length: inFlight }, () => openSession(hub.target)));
    const idle = growing === 'sessions' ? await opened(hub, count) : [];
    await callAll(sessions, names, growing === 'records' ? count : calls);
    const readings = [];
    for (let round = 0; round < rounds; round++) {
      const from = cpuOf(hub.pid);
      await callAll(sessions, names, calls);
      readings.push(((cpuOf(hub.pid) - from) / calls) * 1e6);
    }
    for (const session of [...sessions, ...idle]) session.wire.close();
    return readings;
  } finally {
    await hub.close();
    for (const one of webs) one.close();
  }
}

/** Waits until the search has read all tools, which takes a core for as long as there are many. */
async function searchReady(smart) {
  const session = await openSession(smart);
  const given = '{"name":"search_tools","arguments":{"query":"echo"}}';
  while ((await session.ask('tools/call', given)).includes('still being read into the index')) await after(200);
  await session.end();
}

async function setupOf(growing, count, web) {
  const env = growing === 'records' ? {} : { DB_URL: 'off' };
  if (growing === 'servers') {
    const one = await web();
    return { env, servers: Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${i}`, one])) };
  }
  if (growing === 'tools') {
    const each = Math.min(count, toolsOfServer);
    const one = await web({ tools: each });
    return { env, servers: Object.fromEntries(Array.from({ length: count / each }, (_, i) => [`s${i}`, one])) };
  }
  const servers = { s0: await web() };
  if (growing !== 'keys and users') return { env, servers };
  const hash = '$2b$10$abcdefghijklmnopqrstuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu';
  return {
    env,
    servers,
    users: Array.from({ length: count }, (_, i) => ({ username: `user${i}`, password: hash, isAdmin: false })),
    keys: Array.from({ length: count }, (_, i) => ({
      id: `key${i}`,
      name: `key${i}`,
      token: `bench_${String(i).padStart(32, '0')}`,
      enabled: true,
      accessType: 'all',
    })),
  };
}

async function opened(hub, count) {
  const sessions = [];
  while (sessions.length < count) {
    const some = Array.from({ length: Math.min(50, count - sessions.length) }, async () => {
      const session = await openSession(hub.target);
      // The session is kept, its connection is not.
      session.wire.close();
      return session;
    });
    sessions.push(...(await Promise.all(some)));
  }
  return sessions;
}

async function callAll(sessions, names, count) {
  let begun = 0;
  await Promise.all(
    sessions.map(async (session) => {
      while (begun < count) {
        const n = begun++;
        await session.call(names[n % names.length], `{"message":"n${n}."}`, `n${n}.`);
      }
    }),
  );
}
