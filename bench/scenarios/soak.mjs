// Mixed work for as long as --seconds says (1 800 for half an hour): what the hub holds before, meanwhile and after.
import { writeFileSync } from 'node:fs';
import { httpServer, ready, startHub, stdioServer } from '../lib/contenders.mjs';
import { liveMemory, memoryFlags } from '../lib/memory.mjs';
import { after } from '../lib/numbers.mjs';
import { curveOf } from '../lib/picture.mjs';
import { childrenOf, handlesOf, memoryOf, threadsOf } from '../lib/processes.mjs';
import { openSession, toolNames } from '../lib/session.mjs';

export const about =
  'mixed work for --seconds (1800: half an hour): memory, handles, threads and processes after it; --record draws the curve';
/** A short one says little. */
export const byName = true;

const samples = 120;
/** So many of each kind of client at once. */
const clients = 4;

export async function run({ seconds, note, isRecorded }) {
  const web = await httpServer();
  const servers = { sio: stdioServer(), web: { type: 'streamable-http', url: web.url } };
  const hub = await startHub('hub', { servers, flags: memoryFlags });
  try {
    const tools = await ready(hub, 10);
    // What is kept on purpose is as full as it becomes.
    await work(hub, tools, Math.max(5, seconds / 10));
    const before = await state(hub);
    const curve = [];
    const watching = watch(hub, seconds, curve);
    const done = await work(hub, tools, seconds);
    await watching;
    const now = await state(hub);
    note(
      { seconds },
      {
        ...done,
        rssMb: Math.max(...curve.map(({ rssMb }) => rssMb)),
        liveMbBefore: before.liveMb,
        liveMb: now.liveMb,
        handles: now.handles - before.handles,
        threads: now.threads - before.threads,
        children: now.children - before.children,
      },
    );
    if (isRecorded) writeFileSync(new URL('../results/soak.svg', import.meta.url), curveOf(curve));
  } finally {
    await hub.close();
    await web.close();
  }
}

/** Once what was begun has ended: idle connections and sessions without one have their time. */
async function state({ pid }) {
  await after(3_000);
  const live = [];
  for (let n = 0; n < 3; n++) live.push(await liveMemory(pid));
  return {
    liveMb: Math.min(...live) / 1024,
    handles: handlesOf(pid),
    threads: threadsOf(pid),
    children: childrenOf(pid).length,
  };
}

async function watch({ pid }, seconds, curve) {
  const from = performance.now();
  for (let n = 0; n < samples; n++) {
    await after(Math.max(0, from + ((n + 1) * seconds * 1_000) / samples - performance.now()));
    const at = (performance.now() - from) / 1_000;
    curve.push({ seconds: at, rssMb: memoryOf(pid), handles: handlesOf(pid), threads: threadsOf(pid) });
  }
}

async function work(hub, tools, seconds) {
  const { target } = hub;
  const done = { calls: 0, lists: 0, refused: 0, left: 0 };
  const end = performance.now() + seconds * 1_000;
  const inSession = async (act) => {
    const session = await openSession(target);
    await act(session);
    await session.end();
  };
  const calling = (server) => () =>
    inSession(async (session) => {
      for (let n = 0; n < 50; n++) {
        await session.call(tools.of(server, 'echo'), `{"message":"n${n}."}`, `n${n}.`);
        done.calls++;
        await after(2);
      }
    });
  const kinds = [
    calling('sio'),
    calling('web'),
    () =>
      inSession((session) =>
        session.call(tools.of('sio', 'big'), '{"kb":200,"tag":"large"}', 'large').then(() => done.calls++),
      ),
    () => toolNames(target).then(() => done.lists++),
    () => refusedBody(target).then(() => done.refused++),
    async () => {
      const session = await openSession(target);
      session.ask('tools/call', `{"name":"${tools.of('sio', 'hang')}","arguments":{}}`).catch(() => {});
      await after(20);
      session.wire.close();
      done.left++;
    },
  ];
  const loops = kinds.flatMap((kind) =>
    Array.from({ length: clients }, async () => {
      while (performance.now() < end) {
        await kind();
        await after(50);
      }
    }),
  );
  await Promise.all(loops);
  return done;
}

async function refusedBody({ url, headers }) {
  const all = { ...headers, 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers: all, body: `{"x":[${'1,'.repeat(1_000)}` });
  await answer.text();
}
