// tools/list of few and of many tools: one client that asks again and again.
import { kinds, ready, stdioServer } from '../lib/contenders.mjs';
import { percentile } from '../lib/numbers.mjs';
import { cpuOf } from '../lib/processes.mjs';
import { openSession } from '../lib/session.mjs';

export const about = 'tools/list of 100, 1 000, 5 000 and 10 000 tools of some 700 bytes, one after the other';

export async function run({ rounds, extra, note, only }) {
  for (const tools of [100, 1_000, 5_000, 10_000]) {
    const setup = { servers: { sio: stdioServer({ tools }) } };
    const contenders = [];
    try {
      for (const name of ['minimal', 'hub'])
        if (!only || only.includes(name)) contenders.push(await kinds[name](setup));
      for (const start of extra) contenders.push(await start(setup));
      for (const one of contenders) await ready(one, tools);
      const times = Math.max(10, Math.min(400, 40_000 / tools));
      for (const one of contenders) await lists(one, tools, times / 2);
      for (let round = 0; round < rounds; round++) {
        for (const one of contenders) note({ tools, contender: one.name }, await lists(one, tools, times));
      }
    } finally {
      for (const one of contenders) await one.close();
    }
  }
}

async function lists({ target, pid }, tools, times) {
  const session = await openSession(target);
  const took = [];
  const cpuFrom = pid && cpuOf(pid);
  let bytes = 0;
  for (let i = 0; i < times; i++) {
    const from = performance.now();
    const text = await session.ask('tools/list', '{}');
    took.push(performance.now() - from);
    bytes = text.length;
  }
  const cpu = pid && cpuOf(pid) - cpuFrom;
  const last = JSON.parse(await session.ask('tools/list', '{}')).result.tools.length;
  if (last < tools) throw new Error(`${last} tools of ${tools}`);
  await session.end();
  return { p50: percentile(took, 0.5), p99: percentile(took, 0.99), bytes, ...(pid && { cpuMs: (cpu / times) * 1e3 }) };
}
