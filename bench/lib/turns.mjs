// Turns of contenders, and the same tools/call at hubs that differ in one thing, which take them.
import { kinds, ready, stdioServer } from './contenders.mjs';
import { cpuOf } from './processes.mjs';
import { openSession } from './session.mjs';

/** They take turns this often: the speed of a machine changes within seconds by more than what is looked for. */
const turnMs = 100;
const inFlight = 64;

/**
 * The CPU time of a process, by turns. What it does while others have theirs counts for its turn before: a hub writes
 * records that wait, and collects garbage, when it has nothing else to do.
 */
export function meterOf(pid) {
  let read = cpuOf(pid);
  let current;
  const settle = () => {
    const now = cpuOf(pid);
    if (current) current.cpu += now - read;
    read = now;
  };
  return {
    /** From now on its CPU seconds are added to `spent.cpu`. */
    begin(spent) {
      settle();
      current = spent;
    },
    /** Adds what came since. */
    settle,
  };
}

/**
 * Notes the CPU time of a call at each of these hubs, and its ratio to that of the first. `cases` is by name what
 * `kinds.hub` is given besides a server.
 */
export async function compareHubs(cases, { rounds, seconds, note }) {
  const contenders = [];
  try {
    for (const [name, setup] of Object.entries(cases)) contenders.push(await contender(name, setup));
    const turns = Math.ceil((seconds * 1000) / turnMs);
    const [plain] = contenders;
    const readings = new Map(contenders.map((one) => [one, []]));
    for (let round = -1; round < rounds; round++) {
      const spent = new Map(contenders.map((one) => [one, { cpu: 0, calls: 0 }]));
      for (let turn = 0; turn < turns; turn++) {
        // Each goes first as often as the others.
        for (let i = 0; i < contenders.length; i++) {
          const one = contenders[(turn + i) % contenders.length];
          one.meter.begin(spent.get(one));
          spent.get(one).calls += await callFor(turnMs, one.sessions, one.echo);
        }
      }
      for (const { meter } of contenders) meter.settle();
      // The first warms up.
      if (round < 0) continue;
      const us = (one) => (spent.get(one).cpu / spent.get(one).calls) * 1e6;
      for (const one of contenders) readings.get(one).push({ cpuUs: us(one), toPlain: us(one) / us(plain) });
    }
    for (const one of contenders) {
      const ratios = readings.get(one).map(({ toPlain }) => toPlain);
      const spread = one === plain ? {} : { toPlainLeast: Math.min(...ratios), toPlainMost: Math.max(...ratios) };
      for (const { cpuUs, toPlain } of readings.get(one))
        note({ contender: one.name }, { cpuUs, ...(one !== plain && { toPlain }), ...spread });
    }
  } finally {
    for (const { hub } of contenders) await hub.close();
  }
}

async function contender(name, setup) {
  const hub = await kinds.hub({ servers: { sio: stdioServer() }, ...setup });
  const tools = await ready(hub, 5);
  const sessions = await Promise.all(Array.from({ length: inFlight }, () => openSession(hub.target)));
  return { name, hub, sessions, echo: tools.of('sio', 'echo'), meter: meterOf(hub.pid) };
}

/** Keeps a call of each session in flight for so long. Answers how many there were. */
export async function callFor(ms, sessions, tool) {
  let calls = 0;
  const end = performance.now() + ms;
  const work = sessions.map(async (session, at) => {
    for (let n = 0; performance.now() < end; n++) {
      const tag = `w${at}n${n}t${calls}.`;
      await session.call(tool, `{"message":"${tag}${performance.now()}"}`, tag);
      calls++;
    }
  });
  await Promise.all(work);
  return calls;
}
