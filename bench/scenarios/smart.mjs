// Finding a tool by what it does: `search_tools` of the smart endpoint, as a client asks it.
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ready, startHub, stdioServer } from '../lib/contenders.mjs';
import { after, percentile } from '../lib/numbers.mjs';
import { cpuOf } from '../lib/processes.mjs';
import { openSession } from '../lib/session.mjs';

export const about = 'search_tools at 1 and 64 in flight over 500, 5 000 and 50 000 tools, and calls beside it';

const perServer = 10_000;
/** Between two calls of a tool beside the searches. */
const pauseMs = 10;
const queries = [
  ['remove a contact that nobody needs', 'contact'],
  ['what is the state of the shipment', 'shipment'],
  ['archive invoices of a project', 'invoice'],
  ['open a ticket for the team', 'ticket'],
  ['change the time of the meeting', 'meeting'],
  ['create a branch', 'branch'],
];

export async function run({ rounds, note }) {
  for (const tools of [500, 5_000, 50_000]) await measure({ tools, by: 'words and vectors' }, undefined, rounds, note);
  const program = withoutVectors();
  try {
    await measure({ tools: 5_000, by: 'words' }, program.cli, rounds, note);
  } finally {
    program.remove();
  }
}

async function measure({ tools, by }, program, rounds, note) {
  const servers = { echo: stdioServer() };
  for (let left = tools; left > 0; left -= perServer)
    servers[`s${left}`] = stdioServer({ tools: Math.min(left, perServer) });
  const hub = await startHub('hub', { servers, program });
  try {
    const echo = (await ready(hub, tools + 5)).of('echo', 'echo');
    const smart = { ...hub.target, url: `${hub.url}/mcp/$smart` };
    await indexed(smart);
    await search(hub, smart, 1, 50);
    for (let round = 0; round < rounds; round++) {
      for (const at of [1, 64])
        note({ tools, by, at }, await search(hub, smart, at, tools > 5_000 ? 300 : 1_000, echo));
    }
  } finally {
    await hub.close();
  }
}

/** The hub without its table of word vectors: it searches by words alone then. */
function withoutVectors() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const ours = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
  for (const part of ['dist', 'package.json']) cpSync(ours(part), join(folder, part), { recursive: true });
  symlinkSync(ours('node_modules'), join(folder, 'node_modules'));
  return {
    cli: join(folder, 'dist/cli.js'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Waits until all tools are searched. */
async function indexed(smart) {
  const session = await openSession(smart);
  const given = JSON.stringify({ name: 'search_tools', arguments: { query: queries[0][0] } });
  while ((await session.ask('tools/call', given)).includes('still being read into the index')) await after(200);
  await session.end();
}

/** So many searches, and beside them calls of a tool that must not be held up. */
async function search(hub, smart, at, times, echo) {
  const took = [];
  const calls = [];
  let left = times;
  const cpuFrom = cpuOf(hub.pid);
  const from = performance.now();
  await Promise.all(
    Array.from({ length: at }, async () => {
      const session = await openSession(smart);
      while (left-- > 0) {
        const [query, thing] = queries[left % queries.length];
        const asked = performance.now();
        await session.call('search_tools', JSON.stringify({ query: `${query} ${unlike(left)}` }), `${thing}_`);
        took.push(performance.now() - asked);
      }
      await session.end();
    }).concat(echo ? callMeanwhile(hub, echo, calls, () => left > 0) : []),
  );
  const seconds = (performance.now() - from) / 1_000;
  return {
    perSecond: times / seconds,
    p50: percentile(took, 0.5),
    p99: percentile(took, 0.99),
    cpuMs: ((cpuOf(hub.pid) - cpuFrom) / times) * 1e3,
    besideP50: percentile(calls, 0.5),
    besideP99: percentile(calls, 0.99),
  };
}

/** A word that no tool has, so that no two searches are the same. */
const unlike = (n) => String(n).replaceAll(/\d/g, (digit) => 'qwxzvkjyfh'[digit]);

/**
 * A call 10 ms after the one before was answered. Without a pause they would keep the only core busy, and be a search's
 * p99 themselves.
 */
async function callMeanwhile(hub, echo, took, goOn) {
  const session = await openSession(hub.target);
  for (let i = 0; goOn(); i++) {
    const from = performance.now();
    await session.call(echo, `{"message":"b${i}."}`, `b${i}.`);
    took.push(performance.now() - from);
    await after(pauseMs);
  }
  await session.end();
}
