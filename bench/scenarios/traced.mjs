// The same tools/call at hubs that differ in nothing but what they export to a collector.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { kinds, ready, stdioServer } from '../lib/contenders.mjs';
import { cpuOf } from '../lib/processes.mjs';
import { openSession } from '../lib/session.mjs';

export const about = 'CPU time of a call with OpenTelemetry, and without';

/** They take turns this often: the speed of a machine changes within seconds by more than what is looked for. */
const turnMs = 100;
const inFlight = 64;

const sampled = (ratio) => ({ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: ratio });
const only = { OTEL_METRICS_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' };
const cases = {
  off: undefined,
  'traces, 10 % of them': { ...only, ...sampled('0.1') },
  'traces, 10 % of them, metrics and the log': sampled('0.1'),
  'traces, all of them, metrics and the log': {},
};

export async function run({ rounds, seconds, note }) {
  const collector = createServer((request, response) => {
    request.resume().on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.address().port}` };
  const contenders = [];
  try {
    for (const [name, env] of Object.entries(cases)) contenders.push(await contender(name, env && { ...endpoint, ...env }));
    const turns = Math.ceil((seconds * 1000) / turnMs);
    const [plain] = contenders;
    const readings = new Map(contenders.map((one) => [one, []]));
    for (let round = -1; round < rounds; round++) {
      const spent = new Map(contenders.map((one) => [one, { cpu: 0, calls: 0 }]));
      for (let turn = 0; turn < turns; turn++) {
        // Each goes first as often as the others.
        for (let i = 0; i < contenders.length; i++) {
          const one = contenders[(turn + i) % contenders.length];
          const before = cpuOf(one.hub.pid);
          spent.get(one).calls += await callFor(turnMs, one.sessions, one.echo);
          spent.get(one).cpu += cpuOf(one.hub.pid) - before;
        }
      }
      // The first warms up.
      if (round < 0) continue;
      const us = (one) => (spent.get(one).cpu / spent.get(one).calls) * 1e6;
      for (const one of contenders) readings.get(one).push({ cpuUs: us(one), toPlain: us(one) / us(plain) });
    }
    for (const one of contenders) {
      const ratios = readings.get(one).map(({ toPlain }) => toPlain);
      const spread = one === plain ? {} : { toPlainLeast: Math.min(...ratios), toPlainMost: Math.max(...ratios) };
      for (const { cpuUs, toPlain } of readings.get(one))
        note({ contender: one.name }, { cpuUs, ...(one !== plain && { toPlain }), ...spread });
    }
  } finally {
    for (const { hub } of contenders) await hub.close();
    collector.closeAllConnections();
    collector.close();
  }
}

async function contender(name, env) {
  const hub = await kinds.hub({ servers: { sio: stdioServer() }, env });
  const tools = await ready(hub, 5);
  const sessions = await Promise.all(Array.from({ length: inFlight }, () => openSession(hub.target)));
  return { name, hub, sessions, echo: tools.of('sio', 'echo') };
}

/** Keeps a call of each session in flight for so long. Answers how many there were. */
async function callFor(ms, sessions, tool) {
  let calls = 0;
  const end = performance.now() + ms;
  const work = sessions.map(async (session, at) => {
    for (let n = 0; performance.now() < end; n++) {
      const tag = `w${at}n${n}t${calls}.`;
      await session.call(tool, `{"message":"${tag}${performance.now()}"}`, tag);
      calls++;
    }
  });
  await Promise.all(work);
  return calls;
}
