// One server that does not do its work, beside one that does: the good one must not notice.
import { ready, startHub, stdioServer } from '../lib/contenders.mjs';
import { percentile } from '../lib/numbers.mjs';
import { openSession } from '../lib/session.mjs';

export const about = 'calls of a healthy server while another one hangs, is slow or ends again and again';

const others = {
  nobody: undefined,
  'deaf to initialize': stdioServer({ deaf: 'initialize' }),
  'deaf to tools/list': stdioServer({ deaf: 'tools/list' }),
  slow: stdioServer({ lateMs: 2_000 }),
  flapping: { command: process.execPath, args: ['-e', 'setTimeout(() => process.exit(1), 50)'] },
};

export async function run({ rounds, note }) {
  for (const [beside, server] of Object.entries(others)) {
    const hub = await startHub('hub', {
      servers: { good: stdioServer(), ...(server && { other: server }) },
      env: { DB_URL: 'off' },
    });
    try {
      const tools = await ready(hub, 5);
      const listedMs = performance.now() - hub.startedAt;
      const session = await openSession(hub.target);
      const name = tools.of('good', 'echo');
      const slow =
        beside === 'slow' ? await Promise.all(Array.from({ length: 20 }, () => openSession(hub.target))) : [];
      const waiting = slow.map((one) => one.call('other-echo', '{"message":"late"}', 'late'));
      for (let i = 0; i < 200; i++) await session.call(name, '{"message":"warm"}', 'warm');
      for (let round = 0; round < rounds; round++) {
        const took = [];
        for (let i = 0; i < 300; i++) {
          const from = performance.now();
          await session.call(name, `{"message":"m${i}."}`, `m${i}.`);
          took.push(performance.now() - from);
        }
        note({ beside }, { listedMs, p50: percentile(took, 0.5), p99: percentile(took, 0.99) });
      }
      await Promise.all(waiting);
    } finally {
      await hub.close();
    }
  }
}
