// The same call over stdio at the minimal hub, at this hub as it is shipped, and at other hubs that run already and
// have the tool server of this bench (`bench/servers/stdio.mjs`): --peer 'name and version,mcp endpoint,pid' for each.
import { kinds, ready, stdioServer } from '../lib/contenders.mjs';
import { cpuOf } from '../lib/processes.mjs';
import { openSession } from '../lib/session.mjs';
import { callFor } from '../lib/turns.mjs';

export const about =
  'calls of a stdio server at other hubs that run already (--peer), CPU time as a ratio to the minimal hub';
/** Without peers it says nothing new. */
export const byName = true;

/** Some start a process for each session. */
const inFlight = 8;

export async function run({ rounds, seconds, extra, note }) {
  if (extra.length === 0) throw new Error("Name the other hubs: --peer 'name and version,mcp endpoint,pid'");
  const servers = { sio: stdioServer() };
  const contenders = [];
  try {
    for (const start of [kinds.minimal, kinds.hub, ...extra]) contenders.push(await start({ servers }));
    for (const one of contenders) one.tool = (await ready(one, 1)).of('', 'echo');
    // The first round warms up.
    for (let round = -1; round < rounds; round++) {
      const spent = new Map();
      for (const one of contenders) spent.set(one, await stretch(one, round < 0 ? 1 : seconds));
      if (round >= 0) noteRound(spent, note);
    }
  } finally {
    for (const one of contenders) await one.close();
  }
}

/** Calls of so many sessions for some seconds. The sessions are new: others close connections that are idle. */
async function stretch(one, seconds) {
  const sessions = [];
  while (sessions.length < inFlight) sessions.push(await openSession(one.target));
  const from = performance.now();
  const cpuFrom = cpuOf(one.pid);
  const calls = await callFor(seconds * 1_000, sessions, one.tool);
  const spent = { cpu: cpuOf(one.pid) - cpuFrom, calls, ms: performance.now() - from };
  for (const session of sessions) await session.end();
  return spent;
}

function noteRound(spent, note) {
  const us = ({ cpu, calls }) => (cpu / calls) * 1e6;
  const perSecond = ({ calls, ms }) => (calls / ms) * 1_000;
  const [minimal] = spent.values();
  for (const [one, own] of spent)
    note(
      { contender: one.name },
      {
        perSecond: perSecond(own),
        cpuUs: us(own),
        toMinimal: us(own) / us(minimal),
        perSecondToMinimal: perSecond(own) / perSecond(minimal),
      },
    );
}
