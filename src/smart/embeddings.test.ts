import { describe, expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { embeddingService, type Fault, vectorOf } from '../../test/kit/embedding-service.ts';
import { until } from '../../test/kit/until.ts';
import type { LogFields, Logger } from '../core/logger.ts';
import { type SearchedTool, toolDocument } from './document.ts';
import { chooseEmbedding, type EmbeddingConfig } from './hosted/embedding-choice.ts';
import { Embeddings } from './embeddings.ts';
import { createVectorStore } from './vectors/kept.ts';

// What a hosted embedding service does to the search when it works, when it fails in every way there is, and when it
// changes.

const noDatabase = { current: () => undefined, state: () => ({ state: 'off' }) as const };

const tool = (name: string, description: string): SearchedTool => {
  const document = toolDocument(`files\n${name}`, { name: 'files' }, { name, description });
  return { key: document.key, server: 'files', document: () => document };
};
const catalogue = [
  tool('read_file', 'Read the contents of a file'),
  tool('send_email', 'Send a message to somebody'),
  tool('list_invoices', 'List the invoices of a customer'),
];
const all = new Set(catalogue.map(({ key }) => key));

interface Logged {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields | undefined;
}

function setUp(pauses = { queryMs: 10_000, firstMs: 5, mostMs: 20 }, store = createVectorStore(noDatabase)) {
  const logged: Logged[] = [];
  const write = (level: string) => (message: string, fields?: LogFields) =>
    void logged.push({ level, message, fields });
  const log: Logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const embeddings = new Embeddings({ store, log, pauses });
  atEnd(() => embeddings.close());
  embeddings.sync(catalogue);
  return { embeddings, logged, store };
}

const chosen = (url: string, given: Partial<EmbeddingConfig> = {}) =>
  chooseEmbedding({ azure: {}, openai: { baseUrl: url, apiKey: 'secret-key-1' }, model: 'm', ...given });

const ready = (embeddings: Embeddings) =>
  until(
    'all tools are embedded',
    () => embeddings.brief().state === 'ready' && embeddings.status().state?.missing.length === 0,
  );

/** A search by the service, for a query that was not made before. */
let asked = 0;
const ask = (embeddings: Embeddings) => embeddings.ask(`read a file ${(asked += 1)}`, all);

async function working(pauses?: Parameters<typeof setUp>[0]) {
  const service = await embeddingService();
  const made = setUp(pauses);
  made.embeddings.use(chosen(service.url));
  await ready(made.embeddings);
  return { service, ...made };
}

test('tools and queries are compared by the vectors of the service', async () => {
  const { service, embeddings } = await working();
  const { hosted, degraded } = await embeddings.ask('read a file', all);
  expect(degraded).toBeUndefined();
  const text = service.texts().find((text) => text.startsWith('read_file'));
  expect(text).toBe('read_file (files)\nRead the contents of a file');
  const expected = cosine(vectorOf('read a file', 'm', 64), vectorOf(text ?? '', 'm', 64));
  expect(hosted?.similarities.get('files\nread_file')).toBeCloseTo(expected, 1);
  expect(hosted?.similarities.size).toBe(3);
  expect(service.requests[0]).toMatchObject({
    path: '/v1/embeddings',
    authorization: 'Bearer secret-key-1',
    model: 'm',
  });
});

test('only what may be found is compared', async () => {
  const { embeddings } = await working();
  const { hosted } = await embeddings.ask('read a file', new Set(['files\nsend_email']));
  expect([...(hosted?.similarities.keys() ?? [])]).toEqual(['files\nsend_email']);
  expect(await embeddings.ask('read a file', new Set())).toEqual({});
});

test('nothing is embedded twice: not the same tool, not the same query, not a wording that comes back', async () => {
  const { service, embeddings } = await working();
  await Promise.all([embeddings.ask('same', all), embeddings.ask('same', all)]);
  await embeddings.ask('same', all);
  const other = [...catalogue.slice(1), tool('read_file', 'Something else')];
  embeddings.sync(other);
  await ready(embeddings);
  embeddings.sync(catalogue);
  await ready(embeddings);
  const texts = service.texts();
  expect(texts.length).toBe(new Set(texts).size);
  expect(texts).toHaveLength(5);
});

test('a tool that is new, changed or gone counts as what it is now, and has its own vector soon', async () => {
  const { service, embeddings } = await working();
  service.fail(({ texts }) => (texts.some((text) => text.includes('Make coffee')) ? 400 : undefined));
  embeddings.sync([tool('read_file', 'Make coffee'), tool('new', 'Make tea'), ...catalogue.slice(2)]);
  const keys = async () =>
    [
      ...((await embeddings.ask('read a file', new Set([...all, 'files\nnew']))).hosted?.similarities.keys() ?? []),
    ].sort();
  // The vector of the old wording does not stand for the new one, and what is gone is not found.
  await until('the others do not count', async () =>
    (await keys()).every((key) => key === 'files\nlist_invoices' || key === 'files\nnew'),
  );
  await until('the new one has its vector', async () => (await keys()).join() === 'files\nlist_invoices,files\nnew');
});

const faults: [name: string, fault: Fault, why: RegExp][] = [
  ['is down', 'break off', /cannot be reached/],
  ['refuses the key', 401, /refused the key \(401\)/],
  ['forbids', 403, /refused the key \(403\)/],
  ['does not know the model', 404, /does not know/],
  ['is asked too often', 429, /no more requests.*429/],
  ['is asked too often and says for how long', { status: 429, headers: { 'retry-after': '3600' } }, /429/],
  ['breaks', 500, /500/],
  ['is overloaded', 503, /503/],
  ['sends elsewhere', { status: 302, headers: { location: 'http://127.0.0.1:9/' } }, /302/],
  ['gives vectors of the wrong size', 'wrong size', /vector of 67 numbers where this model's have 64/],
  ['gives NaN', 'NaN', /not finite/],
  ['gives null', 'null', /missing/],
  ['gives zeros', 'zero', /zeros/],
  ['breaks off in the middle of its answer', 'truncated', /not whole JSON/],
  ['answers with a web page', 'no json', /not whole JSON/],
  ['forgets a text', 'one short', /0 vectors for 1/],
];

describe('a service that fails', () => {
  test.each(faults)('and %s is said to, replaced, and used again when it is well', async (_name, fault, why) => {
    const { service, embeddings, logged } = await working();
    service.fail(fault);
    const answer = await ask(embeddings);
    expect(answer.hosted).toBeUndefined();
    expect(answer.degraded).toMatch(why);
    expect(answer.degraded).toMatch(/the built-in index answers/);
    expect(embeddings.status().problem).toMatch(why);
    service.fail(undefined);
    const nextTrialMs = (embeddings.status().state?.problem?.nextTrialAt ?? 0) - Date.now();
    const asksForLong = typeof fault === 'object' && fault.headers?.['retry-after'] !== undefined;
    expect(nextTrialMs > 5 * 60_000).toBe(asksForLong);
    if (asksForLong) return;
    await until('it is used again', async () => (await ask(embeddings)).hosted !== undefined);
    expect(embeddings.status().problem).toBeUndefined();
    expect(logged.filter(({ level }) => level === 'warn')).toHaveLength(1);
    expect(JSON.stringify([logged, answer, embeddings.status().problem])).not.toContain('secret-key-1');
  });

  test('and hangs lets one search wait, and none after it', async () => {
    const { service, embeddings } = await working({ queryMs: 150, firstMs: 60_000, mostMs: 60_000 });
    service.fail('hang');
    const waiting = await Promise.all([ask(embeddings), ask(embeddings), ask(embeddings)]);
    for (const { degraded } of waiting) expect(degraded).toMatch(/did not answer in time/);
    const requests = service.requests.length;
    for (let i = 0; i < 20; i++) expect((await ask(embeddings)).degraded).toMatch(/did not answer in time/);
    expect(service.requests).toHaveLength(requests);
  });

  test('once, gets a second chance before a caller notices', async () => {
    const { service, embeddings } = await working();
    let left = 1;
    service.fail(() => (left-- > 0 ? 500 : undefined));
    expect((await ask(embeddings)).degraded).toBeUndefined();
    left = 1;
    service.fail(() => (left-- > 0 ? { status: 429, headers: { 'retry-after': '0.05' } } : undefined));
    expect((await ask(embeddings)).degraded).toBeUndefined();
  });

  test('still answers what it was asked before', async () => {
    const { service, embeddings } = await working();
    const before = await embeddings.ask('read a file', all);
    service.fail(401);
    await ask(embeddings);
    expect(await embeddings.ask('read a file', all)).toEqual(before);
  });

  test('from the start loses nothing: everything is embedded when it works', async () => {
    const service = await embeddingService();
    service.fail(500);
    const { embeddings } = setUp();
    embeddings.use(chosen(service.url));
    expect((await ask(embeddings)).degraded).toMatch(/still being|500/);
    await until('it is known to fail', () => embeddings.status().problem);
    embeddings.sync([...catalogue, tool('more', 'One more tool')]);
    service.fail(undefined);
    await ready(embeddings);
    expect(embeddings.status().state).toMatchObject({ tools: 4, missing: [], problem: undefined });
  });

  test('in the middle, with its key withdrawn, works again with another key at once', async () => {
    const { service, embeddings } = await working({ queryMs: 10_000, firstMs: 60_000, mostMs: 60_000 });
    service.key = 'new-key';
    expect((await ask(embeddings)).degraded).toMatch(/401/);
    embeddings.use(chosen(service.url, { openai: { baseUrl: service.url, apiKey: 'new-key' } }));
    expect((await ask(embeddings)).hosted?.similarities.size).toBe(3);
    expect(service.texts().filter((text) => text.startsWith('read_file'))).toHaveLength(1);
  });

  test('for one tool only is used for the others, and the tool is told of', async () => {
    const service = await embeddingService();
    const { embeddings } = setUp();
    service.fail(({ texts }) => (texts.some((text) => text.startsWith('send_email')) ? 400 : undefined));
    embeddings.use(chosen(service.url));
    await until(
      'the others are embedded',
      () => embeddings.status().state?.missing.length === 1 && embeddings.status().state?.refusals.length === 1,
    );
    expect(embeddings.status().state).toMatchObject({ missing: ['files\nsend_email'], problem: undefined });
    const { hosted, degraded } = await ask(embeddings);
    expect(hosted?.similarities.size).toBe(2);
    expect(degraded).toMatch(/^1 of 3 tools/);
  });
});

test('a service that refuses every text is found out after a few, not after all of them', async () => {
  const service = await embeddingService();
  service.fail(400);
  const { embeddings } = setUp({ queryMs: 10_000, firstMs: 60_000, mostMs: 60_000 });
  embeddings.sync(
    Array.from({ length: 300 }, (_, i) =>
      tool(`tool_${i}`, `Does number ${i}, and what it does is told at length: ${'so and so '.repeat(20)}`),
    ),
  );
  embeddings.use(chosen(service.url));
  expect(await until('it is known', () => embeddings.status().problem)).toMatch(/refused the text \(400\)/);
  expect(service.requests.length).toBeLessThan(40);
});

describe('what services take', () => {
  const many = Array.from({ length: 300 }, (_, i) => tool(`tool_${i}`, `Does number ${i}`));

  test('fewer texts at once: the requests get smaller until they fit', async () => {
    const service = await embeddingService();
    service.most = 32;
    const { embeddings } = setUp();
    embeddings.sync(many);
    embeddings.use(chosen(service.url));
    await ready(embeddings);
    expect(service.requests.filter(({ texts }) => texts.length > 32).length).toBeLessThan(5);
    expect(service.requests.filter(({ texts }) => texts.length <= 32).length).toBeLessThan(12);
  });

  test('all but one text: the others go on in large requests', async () => {
    const service = await embeddingService();
    service.fail(({ texts }) => (texts.some((text) => text.startsWith('tool_5 ')) ? 400 : undefined));
    const { embeddings } = setUp();
    embeddings.sync(Array.from({ length: 3_000 }, (_, i) => tool(`tool_${i}`, `Does number ${i}`)));
    embeddings.use(chosen(service.url));
    await until('the others are embedded', () => embeddings.status().state?.missing.length === 1);
    expect(embeddings.status().problem).toBeUndefined();
    expect(service.requests.length).toBeLessThan(120);
  });

  test('shorter texts: a tool is embedded by its beginning', async () => {
    const service = await embeddingService();
    service.mostChars = 200;
    const { embeddings } = setUp();
    embeddings.sync([tool('long', 'word '.repeat(300)), tool('short', 'word')]);
    embeddings.use(chosen(service.url));
    await ready(embeddings);
    expect(embeddings.status().state?.refusals).toEqual([]);
    expect((await embeddings.ask('word '.repeat(300), new Set(['files\nlong']))).hosted?.similarities.size).toBe(1);
  });

  test('Unicode only: half a character in a text of a server becomes a mark', async () => {
    const service = await embeddingService();
    const { embeddings } = setUp();
    embeddings.sync([tool('half', 'An emoji \ud83d cut, and a whole one 😀')]);
    embeddings.use(chosen(service.url));
    await ready(embeddings);
    expect(service.texts()).toEqual(['half (files)\nAn emoji \ufffd cut, and a whole one 😀']);
  });

  test('no more than the model reads', async () => {
    const service = await embeddingService();
    const { embeddings } = setUp();
    embeddings.sync([tool('long', 'word '.repeat(5_000))]);
    embeddings.use(chosen(service.url, { maxTokens: 100 }));
    await ready(embeddings);
    expect(service.texts()[0]?.length).toBeLessThan(600);
  });

  test.each([true, false, 'refused'] as const)('base64: %s', async (base64) => {
    const service = await embeddingService();
    service.base64 = base64;
    const { embeddings } = setUp();
    embeddings.use(chosen(service.url));
    await ready(embeddings);
    expect((await ask(embeddings)).hosted?.similarities.size).toBe(3);
  });

  test('a size that is asked for', async () => {
    const service = await embeddingService();
    const { embeddings } = setUp();
    embeddings.use(chosen(service.url, { dimensions: 16 }));
    await ready(embeddings);
    expect(embeddings.status().state?.dimensions).toBe(16);
    expect(service.requests.every(({ dimensions }) => dimensions === 16)).toBe(true);
  });
});

describe('another model', () => {
  const answersWith = async (embeddings: Embeddings) => (await ask(embeddings), embeddings.status().service?.model);

  test('is indexed in the background while the one before answers, and then takes over', async () => {
    const { service, embeddings } = await working();
    const other = await embeddingService();
    other.fail('hang');
    embeddings.use(chosen(other.url, { model: 'n' }));
    await until('it was asked', () => other.requests.length > 0);
    expect((await ask(embeddings)).hosted?.similarities.size).toBe(3);
    expect(await answersWith(embeddings)).toBe('m');
    expect(embeddings.status().next?.service.model).toBe('n');
    await other.close();
    await until('it is known to fail', () => embeddings.status().next?.state.problem);
    // That it fails is nothing to those who search.
    expect((await ask(embeddings)).degraded).toBeUndefined();
    const third = await embeddingService();
    embeddings.use(chosen(third.url, { model: 'o' }));
    await ready(embeddings);
    expect(await answersWith(embeddings)).toBe('o');
    expect((await ask(embeddings)).hosted?.similarities.size).toBe(3);
    const asked = service.requests.length;
    await ask(embeddings);
    expect(service.requests).toHaveLength(asked);
  });

  test('is left for the one before without a trace', async () => {
    const { service, embeddings } = await working();
    const other = await embeddingService();
    other.fail(500);
    embeddings.use(chosen(other.url, { model: 'n' }));
    embeddings.use(chosen(service.url));
    expect(embeddings.status().next).toBeUndefined();
    expect((await ask(embeddings)).hosted?.similarities.size).toBe(3);
    expect(service.texts().filter((text) => text.startsWith('read_file'))).toHaveLength(1);
  });

  test('behind the same name is refused, until the tools are indexed again', async () => {
    const { service, embeddings } = await working();
    service.dimensions = 32;
    expect((await ask(embeddings)).degraded).toMatch(/32 numbers where this model's have 64.*index the tools again/);
    embeddings.reindex();
    expect(() => embeddings.reindex()).toThrow(/already running/);
    await embeddings.reindexed(10_000);
    expect(embeddings.status().state).toMatchObject({ missing: [], dimensions: 32, reindexing: false });
    expect((await ask(embeddings)).hosted?.similarities.size).toBe(3);
  });

  test('that cannot be used is said so, and none is used', async () => {
    const { embeddings } = await working();
    embeddings.use(chosen('file:///x'));
    expect((await ask(embeddings)).degraded).toMatch(/base URL/);
    embeddings.use({ kind: 'builtin' });
    expect(await ask(embeddings)).toEqual({});
  });
});

test('while tools are indexed again their old vectors answer', async () => {
  const { service, embeddings } = await working();
  service.fail(({ texts }) => (texts.length > 1 ? 'hang' : undefined));
  embeddings.reindex();
  const before = service.requests.length;
  await until('it is asked', () => service.requests.length > before);
  const { hosted, degraded } = await ask(embeddings);
  expect(degraded).toBeUndefined();
  expect(hosted?.similarities.size).toBe(3);
  expect(embeddings.status().state?.reindexing).toBe(true);
});

test('its end ends what is under way', async () => {
  const { service, embeddings } = await working();
  service.fail('hang');
  const searching = ask(embeddings);
  embeddings.sync([...catalogue, tool('more', 'One more')]);
  await until('both are under way', () => service.requests.length >= 2);
  await embeddings.close();
  expect((await searching).hosted).toBeUndefined();
});

function cosine(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
