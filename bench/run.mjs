// npm run bench -- [scenario …] [--rounds 3] [--calls 8000] [--seconds 5] [--against <another cli.js>] [--url <mcp
// endpoint> [--header 'name: value'] [--pid n]] [--peer 'name,mcp endpoint,pid' …] [--program <cli.js>] [--only a,b]
// [--at 1,16,64] [--record]
import { readdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { aimsOf } from './aims.mjs';
import { readResults } from './report.mjs';
import { startHub, useProgram } from './lib/contenders.mjs';
import { medians } from './lib/numbers.mjs';
import { cores, pin, stopAll } from './lib/processes.mjs';

const folder = new URL('./scenarios/', import.meta.url);
const all = readdirSync(folder).map((name) => name.replace('.mjs', ''));
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    calls: { type: 'string', default: '8000' },
    seconds: { type: 'string', default: '5' },
    against: { type: 'string', multiple: true, default: [] },
    url: { type: 'string' },
    header: { type: 'string', multiple: true, default: [] },
    pid: { type: 'string' },
    peer: { type: 'string', multiple: true, default: [] },
    only: { type: 'string' },
    at: { type: 'string', default: '1,16,64' },
    program: { type: 'string' },
    record: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});
if (options.help) {
  for (const name of all) console.log(name.padEnd(12), (await import(new URL(`${name}.mjs`, folder))).about);
  process.exit(0);
}

if (options.program) useProgram(options.program);
if (cores) pin(process.pid, cores.load);
let show = () => {};
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    show();
    void stopAll().then(() => process.exit(1));
  });
}
for (const name of positionals.length > 0 ? positionals : all) {
  const { about, run, byName = false } = await import(new URL(`${name}.mjs`, folder));
  if (byName && positionals.length === 0) continue;
  console.log(`\n== ${name}: ${about}`);
  const cells = new Map();
  show = () => console.table([...cells].map(([cell, rounds]) => ({ ...JSON.parse(cell), ...medians(rounds) })));
  await run({
    rounds: Number(options.rounds),
    calls: Number(options.calls),
    seconds: Number(options.seconds),
    only: options.only?.split(','),
    inFlight: options.at.split(',').map(Number),
    isRecorded: options.record === true,
    extra: [
      ...options.against.map((program, i) => (setup) => startHub(`other ${i + 1}`, { ...setup, program })),
      ...(options.url ? [byUrl] : []),
      ...options.peer.map((peer) => () => peerOf(peer)),
    ],
    note(cell, reading) {
      const id = JSON.stringify(cell);
      cells.set(id, [...(cells.get(id) ?? []), reading]);
    },
  });
  const rows = rowsOf(cells);
  show();
  if (options.record) record(name, { about, rows });
}
console.log('\n== aims, by the runs that were recorded last');
console.table(aimsOf(readResults()));
process.exit(0);

function rowsOf(cells) {
  return [...cells].map(([cell, rounds]) => ({ ...JSON.parse(cell), rounds: rounds.length, ...medians(rounds) }));
}

async function byUrl() {
  const headers = Object.fromEntries(options.header.map((line) => line.split(/: */, 2)));
  return {
    name: 'url',
    target: { url: options.url, headers },
    pid: options.pid && Number(options.pid),
    close: async () => {},
  };
}

/** Another hub that runs already, on the core of what is measured: `name,mcp endpoint,pid`. */
async function peerOf(text) {
  const [name, url, pid] = text.split(',');
  if (!url || !Number(pid)) throw new Error(`--peer ${text}: it takes 'name,mcp endpoint,pid'`);
  if (cores) pin(Number(pid), cores.measured);
  return { name, target: { url }, pid: Number(pid), close: async () => {} };
}

/** What the claims in the documents are held against. */
function record(name, { about, rows }) {
  const machine = {
    cpu: cpus()[0]?.model.trim(),
    cores: cpus().length,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
  };
  const run = {
    scenario: name,
    about,
    on: new Date().toISOString().slice(0, 10),
    machine,
    rounds: Math.max(...rows.map(({ rounds }) => rounds)),
    rows,
  };
  writeFileSync(new URL(`./results/${name}.json`, import.meta.url), `${JSON.stringify(run, null, 1)}\n`);
}
