// How long until a hub is of use: from the start of its process until it answers, and until it lists what its servers
// offer, to a client that knows its address and tries again until then.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseReady, kinds, listed, startHub, stdioServer, targetAt } from '../lib/contenders.mjs';
import { after } from '../lib/numbers.mjs';
import { cpuOf, memoryOf } from '../lib/processes.mjs';

export const about =
  'from process start to /health, to all tools listed and to the open database, with 1, 30 and 100 stdio servers; then again with what is remembered';

export async function run({ rounds, note, only }) {
  for (const count of [1, 30, 100]) {
    const servers = Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${i}`, stdioServer()]));
    for (let round = 0; round < (count === 100 ? 1 : rounds); round++) {
      if (!only || only.includes('minimal')) {
        const from = performance.now();
        const minimal = await kinds.minimal({ servers });
        await listed(minimal, 5 * count);
        note({ servers: count, contender: 'minimal' }, { listedMs: performance.now() - from });
        await minimal.close();
      }
      const folder = mkdtempSync(join(tmpdir(), 'bench-'));
      try {
        for (const contender of ['hub, first start', 'hub, started again'])
          note({ servers: count, contender }, await start(servers, folder, count));
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }
  }
}

async function start(servers, folder, count) {
  const port = await freePort();
  const startedAt = performance.now();
  const starting = startHub('hub', { servers, folder, env: { PORT: String(port) } });
  const lists = listed({ name: 'hub', target: targetAt(`http://127.0.0.1:${port}`) }, 5 * count);
  const listedMs = lists.then(() => performance.now() - startedAt);
  // Where the hub does not start, that is what is wrong.
  listedMs.catch(() => undefined);
  const hub = await starting;
  try {
    await answered(`${hub.url}/health`);
    const healthMs = performance.now() - startedAt;
    const startCpuMs = cpuOf(hub.pid) * 1000;
    await listedMs;
    await databaseReady(hub);
    const databaseMs = performance.now() - startedAt;
    return { healthMs, startCpuMs, listedMs: await listedMs, databaseMs, rssMb: memoryOf(hub.pid) };
  } finally {
    await hub.close();
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function answered(url) {
  for (;;) {
    try {
      return (await fetch(url)).body?.cancel();
    } catch {
      await after(5);
    }
  }
}
