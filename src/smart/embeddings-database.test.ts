import { beforeAll, expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { emptyDatabase, databaseWaitMs, silent } from '../../test/kit/databases.ts';
import { embeddingService } from '../../test/kit/embedding-service.ts';
import { until } from '../../test/kit/until.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { type SearchedTool, toolDocument } from './document.ts';
import { chooseEmbedding } from './hosted/embedding-choice.ts';
import { Embeddings } from './embeddings.ts';
import { createVectorStore } from './vectors/kept.ts';

// What happens to the search while the database with the vectors is away.

let database: DatabaseHandle;
beforeAll(async () => {
  database = await emptyDatabase('embedded');
}, databaseWaitMs);

let models = 0;

/** Embeddings over a database that can go away and come back. */
async function setUp() {
  const service = await embeddingService();
  let away = false;
  const store = createVectorStore({
    current: () => (away ? undefined : database.current()),
    state: () => (away ? { state: 'down', error: 'gone' } : database.state()),
  });
  const embeddings = new Embeddings({ store, log: silent, pauses: { queryMs: 10_000, firstMs: 5, mostMs: 20 } });
  atEnd(() => embeddings.close());
  const model = `m${(models += 1)}`;
  embeddings.use(chooseEmbedding({ azure: {}, openai: { baseUrl: service.url }, model }));
  return {
    service,
    embeddings,
    leave: () => (away = true),
    comeBack: () => {
      away = false;
      embeddings.flag();
    },
  };
}

const tool = (name: string): SearchedTool => ({
  key: name,
  server: 'files',
  document: () => toolDocument(name, { name: 'files' }, { name, description: `Does ${name}` }),
});
const all = new Set(['read', 'write']);

test('searches go on without it and say so, and use it again when it is back', async () => {
  const { embeddings, leave, comeBack } = await setUp();
  embeddings.sync([tool('read'), tool('write')]);
  await until('all are embedded', () => embeddings.brief().state === 'ready');
  expect((await embeddings.ask('read', all)).hosted?.similarities.size).toBe(2);
  leave();
  const without = await embeddings.ask('read', all);
  expect(without).toEqual({
    degraded: expect.stringContaining('the database with the vectors cannot be reached') as string,
  });
  comeBack();
  expect((await embeddings.ask('read', all)).hosted?.similarities.size).toBe(2);
});

test('nothing is embedded that cannot be kept, and what was not is when it is back', async () => {
  const { service, embeddings, leave, comeBack } = await setUp();
  leave();
  embeddings.sync([tool('read'), tool('write')]);
  expect((await embeddings.ask('read', all)).degraded).toMatch(/still being read/);
  expect(service.texts()).toEqual([]);
  comeBack();
  await until('all are embedded', () => embeddings.brief().state === 'ready');
  expect(service.texts()).toHaveLength(2);
});

test('what was embedded when it went away is not embedded again', async () => {
  const { service, embeddings, leave, comeBack } = await setUp();
  service.fail(() => void leave());
  embeddings.sync([tool('read'), tool('write')]);
  await until('it was asked', () => service.texts().length === 2);
  service.fail(undefined);
  comeBack();
  await until('all are kept', () => embeddings.brief().state === 'ready');
  expect(service.texts()).toHaveLength(2);
});

test(
  'two hubs on one PostgreSQL divide a catalogue between them, and each knows all of it in the end',
  async () => {
    const shared = await emptyDatabase('postgres');
    const service = await embeddingService();
    const tools = Array.from({ length: 500 }, (_, i) => tool(`tool_${i}`));
    const hubs: Embeddings[] = [];
    for (let i = 0; i < 2; i++) {
      const others = (): void => hubs.forEach((hub) => hub.flag());
      const embeddings = new Embeddings({ store: createVectorStore(shared), log: silent, saved: others });
      atEnd(() => embeddings.close());
      embeddings.sync(tools);
      hubs.push(embeddings);
    }
    const choice = chooseEmbedding({ azure: {}, openai: { baseUrl: service.url }, model: 'shared' });
    for (const hub of hubs) hub.use(choice);
    for (const hub of hubs) await until('all are embedded', () => hub.brief().state === 'ready');
    const texts = service.texts();
    expect(texts).toHaveLength(500);
    expect(new Set(texts).size).toBe(500);
    const keys = new Set(tools.map(({ key }) => key));
    for (const hub of hubs) expect((await hub.ask('tool', keys)).hosted?.similarities.size).toBe(500);
  },
  databaseWaitMs,
);

test.each(['postgres', 'embedded'] as const)(
  'in %s: when one hub has indexed again for a model that changed, the others follow',
  async (kind) => {
    const shared = await emptyDatabase(kind);
    const service = await embeddingService();
    const pauses = { queryMs: 10_000, firstMs: 5, mostMs: 20 };
    const [a, b] = [0, 1].map(() => new Embeddings({ store: createVectorStore(shared), log: silent, pauses }));
    if (!a || !b) throw new Error('There are two');
    const choice = chooseEmbedding({ azure: {}, openai: { baseUrl: service.url }, model: `changing in ${kind}` });
    for (const hub of [a, b]) {
      atEnd(() => hub.close());
      hub.sync([tool('read'), tool('write')]);
      hub.use(choice);
      await until('all are embedded', () => hub.brief().state === 'ready');
    }
    service.dimensions = 32;
    a.reindex();
    await a.reindexed(10_000);
    let asked = 0;
    const found = async () => (await b.ask(`read ${(asked += 1)}`, all)).hosted?.similarities.size;
    await until('the other one uses the new vectors', async () => (await found()) === 2);
    const tools = service.texts().filter((text) => text.includes('(files)'));
    expect(tools).toHaveLength(4);
  },
  2 * databaseWaitMs,
);
