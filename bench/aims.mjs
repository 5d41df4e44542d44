// What is aimed at, and what the recorded runs say of it.
import { rounded } from './lib/numbers.mjs';

/** `of(find)` gives the figure; `find(scenario, cell)` the recorded row, or nothing. */
const aims = [
  {
    aim: 'call over stdio, CPU time to the minimal hub',
    most: 0.9,
    of: (find) => find('ratios', { over: 'stdio', contender: 'hub' }).toMinimal,
  },
  {
    aim: 'call over HTTP, CPU time to the minimal hub',
    most: 0.75,
    of: (find) => find('ratios', { over: 'http', contender: 'hub' }).toMinimal,
  },
  {
    aim: 'calls per second over HTTP to the bare proxy',
    least: 0.95,
    of: (find) => find('ratios', { over: 'http', contender: 'hub' }).toProxy,
  },
  {
    aim: 'added p99 at half load to the minimal hub’s',
    most: 1,
    of(find) {
      const p99 = (contender) => find('steady', { share: 0.5, contender }).p99;
      return (p99('hub') - p99('direct')) / (p99('minimal') - p99('direct'));
    },
  },
  {
    aim: '30 servers at a first start, until all are listed, to the minimal hub',
    most: 1.02,
    of: (find) =>
      find('start', { servers: 30, contender: 'hub, first start' }).listedMs /
      find('start', { servers: 30, contender: 'minimal' }).listedMs,
  },
  {
    aim: 'part of the record in the database of a call over stdio',
    most: 0.1,
    of(find) {
      const us = (contender) => find('ratios', { over: 'stdio', contender }).cpuUs;
      return 1 - us('hub without database') / us('hub');
    },
  },
  {
    aim: 'first start, until the database is open, ms',
    most: 1_500,
    of: (find) => find('start', { servers: 1, contender: 'hub, first start' }).databaseMs,
  },
  {
    aim: 'first start, until all is searched, ms',
    most: 1_500,
    of: (find) => find('start', { servers: 1, contender: 'hub, first start' }).searchedMs,
  },
  {
    aim: 'started again with 30 servers, until all are listed, ms',
    most: 400,
    of: (find) => find('start', { servers: 30, contender: 'hub, started again' }).listedMs,
  },
  {
    aim: 'started again with 30 servers, until all is searched, ms',
    most: 1_000,
    of: (find) => find('start', { servers: 30, contender: 'hub, started again' }).searchedMs,
  },
  {
    aim: 'memory with the database open, MB',
    most: 250,
    of: (find) => find('start', { servers: 1, contender: 'hub, first start' }).rssMb,
  },
  {
    aim: 'longest stop of the main thread, ms',
    most: 20,
    of: (_, rows) => Math.max(...rows('stall').map(({ lateWorst }) => lateWorst)),
  },
  {
    aim: 'p99 of 40 clients beside a server that hangs, floods or sends 50 MB, to that beside a good one',
    most: 1.05,
    of: (_, rows) => Math.max(...rows('crowd').map(({ p99Ratio }) => p99Ratio)),
  },
  {
    aim: 'call of which a tenth is recorded (OpenTelemetry), CPU time to that without',
    most: 1.05,
    of: (find) => find('traced', { contender: 'traces, 10 % of them' }).toPlain,
  },
  {
    aim: 'packages that are installed to run it',
    most: 120,
    of: (find) => find('install', { part: 'all' }).packages,
  },
  {
    aim: 'disk of an installation, MB',
    most: 150,
    of: (find) => find('install', { part: 'all' }).mb,
  },
];

/** Each aim with what was measured; `isReached` is undefined where no run was recorded. */
export function aimsOf(runs) {
  const rows = (scenario) => runs.find((run) => run.scenario === scenario)?.rows ?? [];
  const fits = (row, cell) => Object.entries(cell).every(([name, value]) => row[name] === value);
  const find = (scenario, cell) => rows(scenario).find((row) => fits(row, cell)) ?? {};
  return aims.map(({ aim, most, least, of }) => {
    const found = of(find, rows);
    const here = Number.isFinite(found) ? rounded(found) : undefined;
    const isReached = here === undefined ? undefined : most === undefined ? here >= least : here <= most;
    return { aim, wanted: most === undefined ? `≥ ${least}` : `≤ ${most}`, here, isReached };
  });
}

export function aimsTable(runs) {
  const lines = aimsOf(runs).map(({ aim, wanted, here, isReached }) => {
    return `| ${aim} | ${wanted} | ${here ?? 'not recorded'} | ${isReached === undefined ? '–' : isReached ? 'yes' : 'no'} |`;
  });
  return ['| aim | wanted | here | reached |', '| --- | --- | --- | --- |', ...lines].join('\n');
}

/** What the README says of it. */
export function aimsLine(runs) {
  const [stdio, http, proxy] = aimsOf(runs).map(({ here }) => here);
  return `Against the smallest relay that we could write (\`bench/floor/minimal.mjs\`), a call costs ${stdio} × the CPU time over stdio, ${http} × over HTTP; the hub makes ${proxy} × the calls per second of a bare reverse proxy ([BENCHMARKS.md](BENCHMARKS.md)).`;
}
