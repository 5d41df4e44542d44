// Memory of a hub that reads large OpenAPI documents: five with more than a thousand operations each, most of their
// bytes answers and examples that no tool has, as in documents of large companies.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { ready, startHub } from '../lib/contenders.mjs';
import { liveMemory, memoryFlags } from '../lib/memory.mjs';
import { after } from '../lib/numbers.mjs';
import { memoryOf } from '../lib/processes.mjs';
import { toolNames } from '../lib/session.mjs';

export const about = 'memory after five OpenAPI documents of 10 MB with 5 680 operations together were listed';

const documents = 5;
const operations = 1_136;
/** What the hub does by itself after a list is over by then: the search, the saved catalogue. */
const restMs = 20_000;
/** V8 collects a heap that rests some 100 s after it did last, and gives back what is not in use. */
const longRestMs = 110_000;

export async function run({ rounds, only, extra, note }) {
  const text = JSON.stringify(documentOf());
  const api = createServer((_, res) => res.end(text)).listen(0, '127.0.0.1');
  await once(api, 'listening');
  const address = `http://127.0.0.1:${api.address().port}`;
  const entry = (i) => ({ type: 'openapi', openapi: { url: `${address}/${i}.json`, baseUrl: address } });
  const setup = {
    servers: Object.fromEntries(Array.from({ length: documents }, (_, i) => [`api${i}`, entry(i)])),
    system: { network: { allowedCidrs: ['127.0.0.1/32'] } },
    flags: memoryFlags,
  };
  const starts = [
    ['hub', (own) => startHub('hub', own)],
    ['hub without database', (own) => startHub('hub without database', { ...own, env: { DB_URL: 'off' } })],
    ...extra.map((start, i) => [`other ${i + 1}`, start]),
  ];
  try {
    for (let round = 0; round < rounds; round++)
      for (const [name, start] of starts)
        if (!only || only.includes(name)) note({ contender: name }, await measured(await start(setup)));
  } finally {
    api.close();
  }
}

async function measured(hub) {
  try {
    await ready(hub, documents * operations, 300_000);
    await after(restMs);
    const { count } = await toolNames(hub.target);
    const rssMb = memoryOf(hub.pid);
    await after(longRestMs);
    const restedMb = memoryOf(hub.pid);
    return { tools: count, rssMb, restedMb, liveMb: (await liveMemory(hub.pid)) / 1024 };
  } finally {
    await hub.close();
  }
}

/** Tools of some 1.5 KB, whose arguments repeat each other, and answers of 8 KB; one tool in ten has a dash in it. */
function documentOf() {
  const owner = ['owner', 'repository', 'page', 'per_page', 'sort', 'direction'];
  const parameters = owner.map((name, i) => ({
    name,
    in: i < 2 ? 'path' : 'query',
    required: i < 2,
    schema: { type: i === 2 || i === 3 ? 'integer' : 'string' },
    description: `The ${name} of what is asked for. It is not case sensitive, and names the account as it is shown.`,
  }));
  const properties = Object.fromEntries(
    Array.from({ length: 8 }, (_, i) => [
      `field${i}`,
      { type: 'string', description: `What field ${i} says, in words.` },
    ]),
  );
  const answer = (n) => ({ description: 'ok', content: { 'application/json': { example: 'x'.repeat(8_000) + n } } });
  const paths = Object.fromEntries(
    Array.from({ length: operations }, (_, n) => [
      `/{owner}/{repository}/things${n}`,
      {
        [n % 2 === 0 ? 'get' : 'post']: {
          operationId: `things/operation-${n}`,
          summary: `Does what operation ${n} does`,
          description: `Does it for a repository${n % 10 === 0 ? ' – or an account' : ''}. ${'It says in some words what becomes of it. '.repeat(6)}`,
          parameters: owner.map((name) => ({ $ref: `#/components/parameters/${name}` })),
          ...(n % 2 === 1 && {
            requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/thing' } } } },
          }),
          responses: { 200: answer(n) },
        },
      },
    ]),
  );
  return {
    openapi: '3.0.3',
    info: { title: 'Things', version: '1' },
    paths,
    components: {
      parameters: Object.fromEntries(parameters.map((one) => [one.name, one])),
      schemas: { thing: { type: 'object', properties } },
    },
  };
}
