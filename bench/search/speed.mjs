// Latency, throughput, memory and index building at 500, 5 000 and 50 000 tools. Times of work are CPU times of the
// process, which other programs on the machine disturb little; a pause is the CPU time between two turns of the event
// loop.
import { createSearchEngine, createSmartIndex, createCooperativeQueue, ranking } from '../../.built-bench/hub.js';

/**
 * `set` is multiplied: copies have another server and another name. Its short queries and its long ones are timed
 * apart.
 */
export async function measureSpeed({ tools, queries }, embedder, tableMs) {
  const short = queries.filter(({ query }) => query.length <= 300).map(({ query }) => query);
  const long = queries.filter(({ query }) => query.length > 300).map(({ query }) => query);
  const all = [...short, ...long];
  console.log(
    `Milliseconds of CPU per search; ${short.length} short queries, ${long.length} long ones (over 300 characters)\n`,
  );
  const atStart = cpuOf(() => createSearchEngine(embedder).put(Array.from({ length: 500 }, (_, i) => copy(tools, i))));
  console.log(
    `After a start: ${tableMs.toFixed(0)} ms for the table, ${atStart.toFixed(0)} ms for the first 500 tools\n`,
  );
  // The first thousands of tools are read by code that is not compiled yet.
  createSearchEngine(embedder).put(Array.from({ length: 3_000 }, (_, i) => copy(tools, i)));
  for (const size of [500, 5_000, 50_000]) {
    const documents = Array.from({ length: size }, (_, i) => copy(tools, i));
    const keys = new Set(documents.map(({ key }) => key));
    const half = new Set(documents.filter((_, i) => i % 2 === 0).map(({ key }) => key));
    const label = (text) => `${String(size).padStart(6)} ${text.padEnd(18)}`;
    globalThis.gc?.();
    const before = memory();
    const engine = createSearchEngine(embedder);
    const build = cpuOf(() => engine.put(documents));
    globalThis.gc?.();
    const used = (memory() - before) / 1e6;
    console.log(
      `${label('index')} ${(build / size).toFixed(3)} ms per tool, ${used.toFixed(0)} MB (own count ${(engine.bytes() / 1e6).toFixed(0)})`,
    );
    const added = Array.from({ length: 100 }, (_, i) => copy(tools, size + i));
    console.log(`${label('one more server')} ${(cpuOf(() => engine.put(added)) / 100).toFixed(3)} ms per tool`);
    console.log(
      `${label('and it goes again')} ${cpuOf(() => engine.remove(added.map(({ key }) => key))).toFixed(2)} ms`,
    );
    const words = createSearchEngine(undefined, { ...ranking, meaning: 0 });
    words.put(documents);
    console.log(`${label('lexical, short')} ${latency(words, short, keys)}`);
    console.log(`${label('lexical, all')} ${latency(words, all, keys)}`);
    console.log(`${label('hybrid, short')} ${latency(engine, short, keys)}`);
    console.log(`${label('hybrid, long')} ${latency(engine, long, keys)}`);
    console.log(`${label('hybrid, all')} ${latency(engine, all, keys)}`);
    console.log(`${label('half is visible')} ${latency(engine, all, half)}`);
    console.log(`${label('64 at a time')} ${await throughput(engine, all, keys)}`);
    console.log(`${label('read bit by bit')} ${await slices(documents, embedder)}\n`);
  }
  const many = Array.from({ length: 10_000 }, (_, i) => copy(tools, i));
  console.log(` 10000 ${'read bit by bit'.padEnd(18)} ${await slices(many, embedder)}\n`);
}

function copy(tools, i) {
  const tool = tools[i % tools.length];
  const round = Math.floor(i / tools.length);
  if (round === 0) return tool;
  return {
    ...tool,
    key: `${tool.key}#${round}`,
    server: `${tool.server}${round}`,
    name: `${tool.name}_${'abcdefghij'[round % 10]}${round}`,
  };
}

function latency(engine, queries, allowed) {
  const search = (query) => engine.search({ query, limit: 10, allowed });
  for (const query of queries.slice(0, 50)) search(query);
  const times = queries.map((query) => cpuOf(() => search(query))).sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(2).padStart(7);
  return `p50 ${at(0.5)}  p95 ${at(0.95)}  p99 ${at(0.99)}`;
}

/**
 * Searches per second of CPU when 64 callers each ask again as soon as they have their answer, and how long others wait
 * meanwhile.
 */
async function throughput(engine, queries, allowed) {
  const most = queries.length * 2;
  const queue = createCooperativeQueue();
  let done = 0;
  const caller = async () => {
    while (done < most) {
      const query = queries[(done++ * 7) % queries.length];
      await queue.run(() => engine.search({ query, limit: 10, allowed }));
    }
  };
  const before = process.cpuUsage();
  const pauses = watchPauses();
  await Promise.all(Array.from({ length: 64 }, caller));
  return `${(done / (spent(before) / 1_000)).toFixed(0)} per second of CPU, ${pauses()}`;
}

/** What a start with so many tools costs the other calls. */
async function slices(documents, embedder) {
  const offers = new Map();
  for (const { server, name, description, parameterNames, parameterTexts } of documents) {
    const properties = Object.fromEntries(parameterNames.split(' ').map((parameter) => [parameter, {}]));
    const schema = { type: 'object', description: parameterTexts, properties };
    const text = JSON.stringify({ name, description, inputSchema: schema });
    const offer = offers.get(server) ?? { server, about: {}, tools: [], prompts: [], resources: [], templates: [] };
    offers.set(server, offer);
    offer.tools.push({ key: name, text });
  }
  const servers = new Map([...offers.keys()].map((name) => [name, { name, enabled: true, tools: new Map() }]));
  const keys = [...offers.values()].flatMap(({ server, tools }) => tools.map(({ key }) => `${server}\n${key}`));
  const index = createSmartIndex(createSearchEngine(embedder));
  await new Promise(setImmediate);
  const pauses = watchPauses();
  const before = process.cpuUsage();
  index.sync({ servers }, { version: 1, offers });
  await index.first(new Set(keys.slice(-20)));
  const few = spent(before);
  await index.first(new Set(keys));
  return `${pauses()}; a search waits ${few.toFixed(0)} ms for the last 20 tools, ${spent(before).toFixed(0)} ms for all`;
}

/** Until it is asked, notes how much CPU time each turn of the event loop takes. */
function watchPauses() {
  const pauses = [];
  let last = process.cpuUsage();
  let watching = true;
  const look = () => {
    pauses.push(spent(last));
    last = process.cpuUsage();
    if (watching) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    watching = false;
    look();
    pauses.sort((a, b) => a - b);
    return `pauses p99 ${pauses[Math.floor(pauses.length * 0.99)].toFixed(1)} ms, longest ${pauses.at(-1).toFixed(1)} ms`;
  };
}

function cpuOf(work) {
  const before = process.cpuUsage();
  work();
  return spent(before);
}

/** Milliseconds of CPU since then. */
function spent(before) {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function memory() {
  const { heapUsed, arrayBuffers, external } = process.memoryUsage();
  return heapUsed + Math.max(arrayBuffers, external);
}
