// The same tools/call at the hub, at the minimal hub and at the bare proxy, in turns that are short beside what changes
// the speed of a machine.
import { httpServer, kinds, ready, stdioServer } from '../lib/contenders.mjs';
import { machineTime, noiseBetween } from '../lib/processes.mjs';
import { openSession } from '../lib/session.mjs';
import { callFor, meterOf } from '../lib/turns.mjs';

export const about = 'CPU time of a call as a ratio to the minimal hub, and calls per second to the bare proxy';

const inFlight = 64;
/**
 * Each way has its core for so long at a time, whatever the machine: all of them together are below the second after
 * which a hub that is no longer called so often writes the records that wait (`logLimits.writeBatchMs`). In turns of so
 * many calls a slow machine measured another work than a quick one.
 */
const turnMs = 60;

/** Of each way; they come first and do not count: V8 compiles again what is called often, for seconds. */
const warmSeconds = 6;

/** Each round has processes of its own: hubs that are alike differ by some hundredths, however many turns they take. */
export async function run({ rounds, seconds, only, extra, note }) {
  const web = await httpServer();
  const servers = { sio: stdioServer(), web: { type: 'streamable-http', url: web.url } };
  const names = ['minimal', 'proxy', 'hub', 'hub without database'];
  const kept = names.filter((name) => !only || name === 'minimal' || only.includes(name)).map((name) => kinds[name]);
  try {
    for (let round = 0; round < rounds; round++) await runRound([...kept, ...extra], { web, servers }, seconds, note);
  } finally {
    await web.close();
  }
}

async function runRound(starts, setup, seconds, note) {
  const contenders = [];
  try {
    for (const start of starts) contenders.push(await start(setup));
    const ways = [];
    for (const one of contenders) {
      const tools = await ready(one, one.name === 'proxy' ? 5 : 10);
      const sessions = await Promise.all(Array.from({ length: inFlight }, () => openSession(one.target)));
      one.meter = meterOf(one.pid);
      for (const over of one.name === 'proxy' ? ['http'] : ['stdio', 'http'])
        ways.push({ over, one, sessions, tool: tools.of(over === 'http' ? 'web' : 'sio', 'echo') });
    }
    await takeTurns(ways, warmSeconds);
    const before = machineTime(contenders.map(({ pid }) => pid));
    const spent = await takeTurns(ways, seconds);
    const noise = noiseBetween(before, machineTime(contenders.map(({ pid }) => pid)));
    noteRound(ways, spent, (cell, reading) => note(cell, { ...reading, noise }));
  } finally {
    for (const one of contenders) await one.close();
  }
}

/** What each way spends in so many seconds of its own. */
async function takeTurns(ways, seconds) {
  const spent = new Map(ways.map((way) => [way, { cpu: 0, calls: 0, ms: 0 }]));
  for (let cycle = 0; cycle < Math.ceil((seconds * 1_000) / turnMs); cycle++) {
    // Each goes first as often as the others.
    for (let i = 0; i < ways.length; i++) {
      const way = ways[(cycle + i) % ways.length];
      await turn(way, spent.get(way));
    }
  }
  for (const { one } of ways) one.meter.settle();
  return spent;
}

/** One turn of a way: `{one, sessions, tool}`. Adds to what it has spent: CPU seconds, calls, milliseconds. */
async function turn({ one, sessions, tool }, spent) {
  const from = performance.now();
  one.meter.begin(spent);
  spent.calls += await callFor(turnMs, sessions, tool);
  spent.ms += performance.now() - from;
}

function noteRound(ways, spent, note) {
  const of = (over, name) => spent.get(ways.find((way) => way.over === over && way.one.name === name));
  const us = ({ cpu, calls }) => (cpu / calls) * 1e6;
  const perSecond = ({ calls, ms }) => (calls / ms) * 1_000;
  for (const way of ways) {
    const own = spent.get(way);
    const minimal = of(way.over, 'minimal');
    const proxy = of(way.over, 'proxy');
    note(
      { over: way.over, contender: way.one.name },
      {
        perSecond: perSecond(own),
        cpuUs: us(own),
        toMinimal: us(own) / us(minimal),
        ...(proxy && { toProxy: perSecond(own) / perSecond(proxy) }),
      },
    );
  }
}
