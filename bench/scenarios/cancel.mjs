// How soon a server hears that no client waits any more: by its own word, so that asking it does not count.
import { setTimeout as sleep } from 'node:timers/promises';
import { ready, startHub, stdioServer } from '../lib/contenders.mjs';
import { openSession } from '../lib/session.mjs';

export const about = 'from a cancelled call, or a client that left, until its server knows';

export async function run({ rounds, note }) {
  const hub = await startHub('hub', { servers: { sio: stdioServer() }, env: { DB_URL: 'off' } });
  try {
    const tools = await ready(hub, 5);
    const watcher = await openSession(hub.target);
    const seen = async () =>
      JSON.parse(JSON.parse(await watcher.call(tools.of('sio', 'counters'), '{}', 'waiting')).result.content[0].text);
    for (let i = 0; i < 100; i++) await seen();
    for (let round = 0; round < rounds * 10; round++) {
      for (const how of ['cancelled', 'left']) {
        const caller = await openSession(hub.target);
        const before = (await seen()).cancelled;
        caller.ask('tools/call', `{"name":"${tools.of('sio', 'hang')}","arguments":{}}`).catch(() => {});
        while ((await seen()).waiting === 0) await sleep(2);
        const from = Number(process.hrtime.bigint()) / 1e6;
        // The call's own connection is busy: a client cancels on another one.
        if (how === 'cancelled') await caller.elsewhere('notifications/cancelled', '{"requestId":2,"reason":"enough"}');
        else caller.wire.close();
        let heard = await seen();
        for (; heard.cancelled === before; heard = await seen()) await sleep(2);
        note({ how }, { ms: heard.cancelledAt - from });
        caller.wire.close();
      }
    }
  } finally {
    await hub.close();
  }
}
