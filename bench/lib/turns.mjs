// Turns of contenders, and the same tools/call at hubs that differ in one thing, which take them.
import { kinds, ready, stdioServer } from './contenders.mjs';
import { cpuOf } from './processes.mjs';
import { openSession } from './session.mjs';

/** They take turns this often: the speed of a machine changes within seconds by more than what is looked for. */
const turnMs = 100;
const inFlight = 64;
/** Calls of so many seconds come first and do not count: V8 compiles meanwhile what is called often. */
const warmSeconds = 6;

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
 * `kinds.hub` is given besides a server. Each round has processes of its own, started in another order: hubs that are
 * alike differed by several hundredths over 160 000 calls each, and more turns do not take that away.
 */
export async function compareHubs(cases, { rounds, seconds, note }) {
  const names = Object.keys(cases);
  const readings = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    const order = names.map((_, i) => names[(i + round) % names.length]);
    const spent = await spentBy(round % 2 === 0 ? order : order.reverse(), cases, seconds);
    const us = (name) => (spent.get(name).cpu / spent.get(name).calls) * 1e6;
    for (const name of names) readings.get(name).push({ cpuUs: us(name), toPlain: us(name) / us(names[0]) });
  }
  for (const name of names) {
    const ratios = readings.get(name).map(({ toPlain }) => toPlain);
    const isPlain = name === names[0];
    const spread = isPlain ? {} : { toPlainLeast: Math.min(...ratios), toPlainMost: Math.max(...ratios) };
    for (const { cpuUs, toPlain } of readings.get(name))
      note({ contender: name }, { cpuUs, ...(!isPlain && { toPlain }), ...spread });
  }
}

/** The CPU seconds and calls of new hubs, by name. */
async function spentBy(names, cases, seconds) {
  const contenders = [];
  try {
    for (const name of names) contenders.push(await contender(name, cases[name]));
    await takeTurns(contenders, warmSeconds);
    return await takeTurns(contenders, seconds);
  } finally {
    for (const { hub } of contenders) await hub.close();
  }
}

async function takeTurns(contenders, seconds) {
  const spent = new Map(contenders.map(({ name }) => [name, { cpu: 0, calls: 0 }]));
  for (let turn = 0; turn < Math.ceil((seconds * 1000) / turnMs); turn++) {
    // Each goes first as often as the others.
    for (let i = 0; i < contenders.length; i++) {
      const one = contenders[(turn + i) % contenders.length];
      one.meter.begin(spent.get(one.name));
      spent.get(one.name).calls += await callFor(turnMs, one.sessions, one.echo);
    }
  }
  for (const { meter } of contenders) meter.settle();
  return spent;
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
