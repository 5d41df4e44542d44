// How long until a hub is of use: from the start of its process until it answers, until it lists what its servers
// offer, to a client that knows its address and tries again until then, and until it searches all of that.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseReady, kinds, listed, startHub, stdioServer, targetAt } from '../lib/contenders.mjs';
import { after } from '../lib/numbers.mjs';
import { cpuOf, memoryOf } from '../lib/processes.mjs';
import { openSession } from '../lib/session.mjs';

export const about =
  'from process start to /health, to all tools listed and searched and to the open database, with 1, 30 and 100 stdio servers; then again with what is remembered';

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
    await searched(hub);
    const searchedMs = performance.now() - startedAt;
    await databaseReady(hub);
    const databaseMs = performance.now() - startedAt;
    return { healthMs, startCpuMs, listedMs: await listedMs, searchedMs, databaseMs, rssMb: memoryOf(hub.pid) };
  } finally {
    await hub.close();
  }
}

/** Until a search leaves out nothing: no tool that is not read yet, and no vectors. */
async function searched({ url }) {
  const { headers } = targetAt(url);
  const session = await openSession({ url: `${url}/mcp/$smart`, headers });
  const given = JSON.stringify({ name: 'search_tools', arguments: { query: 'say the same again' } });
  while (JSON.parse(await session.ask('tools/call', given)).result.structuredContent.degraded) await after(10);
  await session.end();
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
