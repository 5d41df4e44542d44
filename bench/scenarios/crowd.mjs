// Fifty clients on five servers, one of which hangs, floods or answers with 50 MB: what the clients of the other four
// notice. Two hubs run at a time, with the bad server and with a good one in its place, and take turns in short rounds.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ready, startHub, stdioServer } from '../lib/contenders.mjs';
import { after, median, percentile } from '../lib/numbers.mjs';
import { onLoadCore } from '../lib/processes.mjs';
import { openSession } from '../lib/session.mjs';

export const about =
  '50 clients on 5 servers, one of which hangs, floods or sends 50 MB: the p99 of the clients of the others';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const good = Object.fromEntries([1, 2, 3, 4].map((n) => [`s${n}`, stdioServer()]));
const fifths = {
  hanging: stdioServer(),
  flooding: stdioServer({ flood: 'messages' }),
  'sending 50 MB': onLoadCore([here('../servers/huge.mjs')]),
};
const clientsOfEach = 10;
const callsInTurn = 20;
const turns = 8;
/** Between two calls of a client: all of them together keep a hub a third busy. */
const pauseMs = 10;

export async function run({ rounds, note }) {
  for (const [beside, fifth] of Object.entries(fifths)) {
    const hubs = [];
    const ends = [];
    try {
      for (const servers of [
        { ...good, fifth: stdioServer() },
        { ...good, fifth },
      ]) {
        const hub = await startHub('hub', { servers, env: { DB_URL: 'off' } });
        hubs.push(hub);
        hub.tools = await ready(hub, beside === 'sending 50 MB' && servers.fifth === fifth ? 21 : 25);
        hub.clients = await clientsOf(hub);
      }
      const [, bad] = hubs;
      if (beside === 'hanging') for (let n = 0; n < clientsOfEach; n++) await hang(bad);
      if (beside === 'sending 50 MB') ends.push(readAllTheTime(bad));
      for (const hub of hubs) await turn(hub);
      for (let round = 0; round < rounds; round++) {
        const readings = hubs.map(() => []);
        for (let n = 0; n < turns; n++)
          for (const i of n % 2 === 0 ? [0, 1] : [1, 0]) readings[i].push(await turn(hubs[i]));
        const [alone, there] = readings.map((list) => ({
          p50: median(list.map(({ p50 }) => p50)),
          p99: median(list.map(({ p99 }) => p99)),
        }));
        note(
          { beside },
          { aloneP50: alone.p50, p50: there.p50, aloneP99: alone.p99, p99: there.p99, p99Ratio: there.p99 / alone.p99 },
        );
      }
    } finally {
      for (const end of ends) end();
      for (const hub of hubs) await hub.close();
    }
  }
}

/** Ten of each of the four good servers. */
function clientsOf({ target, tools }) {
  const names = Object.keys(good).flatMap((server) => Array(clientsOfEach).fill(tools.of(server, 'echo')));
  return Promise.all(names.map(async (tool) => ({ tool, session: await openSession(target) })));
}

async function turn({ clients }) {
  const took = [];
  await Promise.all(
    clients.map(async ({ tool, session }, at) => {
      // Not all at once.
      await after((at * pauseMs) / clients.length);
      for (let n = 0; n < callsInTurn; n++) {
        const from = performance.now();
        await session.call(tool, `{"message":"c${at}n${n}."}`, `c${at}n${n}.`);
        took.push(performance.now() - from);
        await after(pauseMs);
      }
    }),
  );
  return { p50: percentile(took, 0.5), p99: percentile(took, 0.99) };
}

async function hang({ target, tools }) {
  const session = await openSession(target);
  session.ask('tools/call', `{"name":"${tools.of('fifth', 'hang')}","arguments":{}}`).catch(() => {});
}

/** A process that reads one result of 50 MB after the other. */
function readAllTheTime({ target, tools }) {
  const task = JSON.stringify({ target, tool: tools.of('fifth', 'huge'), mb: 50 });
  const { command, args } = onLoadCore([here('../lib/read-huge.mjs'), task]);
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.send(1);
  return () => child.kill();
}
