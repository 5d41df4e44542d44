// Clients that connect, begin something and are gone: whether anything is left of them.
import { ready, startHub, stdioServer } from '../lib/contenders.mjs';
import { liveMemory, memoryFlags } from '../lib/memory.mjs';
import { after } from '../lib/numbers.mjs';
import { childrenOf, handlesOf } from '../lib/processes.mjs';
import { openSession } from '../lib/session.mjs';

export const about =
  'clients that come, begin a call or a stream and leave without a word, for 2 × --seconds (--seconds 900 for half an hour); what is left';

export async function run({ seconds, note }) {
  const hub = await startHub('hub', { servers: { sio: stdioServer() }, env: { DB_URL: 'off' }, flags: memoryFlags });
  try {
    const tools = await ready(hub, 5);
    const hang = tools.of('sio', 'hang');
    // What is kept on purpose (records, caches of tokens) is full, or as full as it becomes, after the first half.
    const first = await leave(hub, hang, seconds);
    const before = await state(hub, tools.of('sio', 'counters'));
    const second = await leave(hub, hang, seconds);
    const now = await state(hub, tools.of('sio', 'counters'));
    note(
      {},
      {
        clients: first + second,
        leftKb: (now.liveKb - before.liveKb) / second,
        handles: now.handles - before.handles,
        children: now.children - before.children,
        callsLeft: now.calls,
      },
    );
  } finally {
    await hub.close();
  }
}

async function state({ pid, target }, counters) {
  // A call goes on for a moment without its client, which could come back.
  for (let wait = 0; ; wait++) {
    const watcher = await openSession(target);
    const text = await watcher.call(counters, '{}', 'waiting');
    await watcher.end();
    const calls = JSON.parse(JSON.parse(text).result.content[0].text).waiting;
    if (calls === 0 || wait === 200) {
      return { calls, liveKb: await liveMemory(pid), handles: handlesOf(pid), children: childrenOf(pid).length };
    }
    await after(100);
  }
}

async function leave({ target }, hang, seconds) {
  const end = performance.now() + seconds * 1000;
  let clients = 0;
  const work = Array.from({ length: 8 }, async (_, worker) => {
    while (performance.now() < end) {
      const session = await openSession(target);
      clients++;
      if ((clients + worker) % 2 === 0) session.ask('tools/call', `{"name":"${hang}","arguments":{}}`).catch(() => {});
      else session.listen(() => {}).catch(() => {});
      await after(5);
      session.wire.close();
    }
  });
  await Promise.all(work);
  return clients;
}
