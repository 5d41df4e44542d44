// Sessions that are not used, without and with the GET stream that most clients keep open: what each keeps in memory.
import { ready, startHub, stdioServer } from '../lib/contenders.mjs';
import { memoryOf } from '../lib/processes.mjs';
import { openSession } from '../lib/session.mjs';
import { memoryFlags, liveMemory } from '../lib/memory.mjs';

export const about = '10 000 idle sessions without a stream, 2 000 with one: live memory of each, after a collection';

export async function run({ note, rounds }) {
  for (const [streams, count] of [
    [false, 10_000],
    [true, 2_000],
  ]) {
    for (let round = 0; round < Math.min(rounds, 2); round++) {
      const hub = await startHub('hub', {
        servers: { sio: stdioServer() },
        env: { DB_URL: 'off' },
        flags: memoryFlags,
      });
      try {
        await ready(hub, 5);
        const freshMb = memoryOf(hub.pid);
        // Whatever is made at the first of its kind.
        await many(hub, streams, 100, (sessions) => endAll(sessions));
        const before = await liveMemory(hub.pid);
        await many(hub, streams, count, async (sessions) => {
          const live = (await liveMemory(hub.pid)) - before;
          const rssMb = memoryOf(hub.pid);
          if (!streams) await stillThere(sessions[count >> 1]);
          note({ streams, sessions: count }, { liveKb: live / count, freshMb, rssMb });
          await endAll(sessions);
        });
      } finally {
        await hub.close();
      }
    }
  }
}

async function many(hub, streams, count, then) {
  const sessions = [];
  for (let at = 0; at < count; at += 50) {
    const some = Array.from({ length: Math.min(50, count - at) }, async () => {
      const session = await openSession(hub.target);
      if (streams) await session.listen(() => {});
      // Without a stream the session is kept, its connection is not: that is how clients that are idle look after a
      // while.
      else session.wire.close();
      return session;
    });
    sessions.push(...(await Promise.all(some)));
  }
  await then(sessions);
}

const endAll = async (sessions) => sessions.forEach((session) => session.wire.close());

async function stillThere(session) {
  const { status } = await session.elsewhere('ping', '{}', 9);
  if (status !== 200) throw new Error(`the session is gone: ${status}`);
}
