// Latency, memory and throughput of the search at 500, 5 000 and 50 000 tools.
import { createSearchEngine } from '../../dist/smart/search-engine.js';
import { ranking } from '../../dist/smart/rank.js';

/** `set` is multiplied: copies have another server and another name. Its short queries and its long ones are timed apart. */
export async function measureSpeed({ tools, queries }, embedder) {
  const short = queries.filter(({ query }) => query.length <= 300).map(({ query }) => query);
  const long = queries.filter(({ query }) => query.length > 300).map(({ query }) => query);
  console.log(
    `Milliseconds per search; ${short.length} short queries, ${long.length} long ones (over 300 characters)\n`,
  );
  for (const size of [500, 5_000, 50_000]) {
    const documents = Array.from({ length: size }, (_, i) => copy(tools, i));
    globalThis.gc?.();
    const before = memory();
    const engine = createSearchEngine(embedder);
    const build = timed(() => engine.put(documents));
    globalThis.gc?.();
    const used = (memory() - before) / 1e6;
    const words = createSearchEngine(undefined, { ...ranking, meaning: 0 });
    words.put(documents);
    const size5 = String(size).padStart(6);
    console.log(
      `${size5} tools: index ${(build / size).toFixed(3)} ms per tool, ${used.toFixed(1)} MB (own count ${(engine.bytes() / 1e6).toFixed(1)}), of which is the embedder's table none`,
    );
    console.log(`${size5} lexical, short   ${latency(words, short)}`);
    console.log(`${size5} lexical, long    ${latency(words, long)}`);
    console.log(`${size5} hybrid, short    ${latency(engine, short)}`);
    console.log(`${size5} hybrid, long     ${latency(engine, long)}`);
    console.log(`${size5} hybrid, all      ${latency(engine, [...short, ...long])}`);
    const half = new Set(documents.filter((_, i) => i % 2 === 0).map(({ key }) => key));
    console.log(`${size5} half is visible  ${latency(engine, short, half)}`);
    console.log(`${size5} 64 at a time     ${(await throughput(engine, short)).toFixed(0)} per second\n`);
  }
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
  const search = (query) => engine.search({ query, limit: 10, ...(allowed && { allowed }) });
  for (const query of queries.slice(0, 50)) search(query);
  const times = queries.map((query) => timed(() => search(query))).sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(2).padStart(7);
  return `p50 ${at(0.5)}  p95 ${at(0.95)}  p99 ${at(0.99)}  max ${at(1)}`;
}

/** Searches per second when 64 callers each ask again as soon as they have their answer. */
async function throughput(engine, queries) {
  const until = performance.now() + 2_000;
  let done = 0;
  const caller = async (first) => {
    for (let i = first; performance.now() < until; i++) {
      engine.search({ query: queries[i % queries.length], limit: 10 });
      done++;
      await new Promise(setImmediate);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: 64 }, (_, i) => caller(i * 7)));
  return (done * 1_000) / (performance.now() - started);
}

function timed(work) {
  const started = performance.now();
  work();
  return performance.now() - started;
}

function memory() {
  const { heapUsed, arrayBuffers, external } = process.memoryUsage();
  return heapUsed + Math.max(arrayBuffers, external);
}
