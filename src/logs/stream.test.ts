import { expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { emptyDatabase, silent } from '../../test/kit/databases.ts';
import { until } from '../../test/kit/until.ts';
import { createDatabase } from '../database/supervise.ts';
import { logLimits } from './limits.ts';
import { createLog } from './log.ts';
import { createLogStore } from './log-store.ts';
import { createLogStream } from './stream.ts';
import type { StreamOptions } from './stream.ts';

interface Frame {
  readonly id: number;
  readonly event: { type: string; logs?: { message: string }[]; log?: { message: string }; resumed?: boolean };
}

async function start(kind: 'off' | 'embedded' = 'off') {
  const off = { url: 'off', dataDir: '/nonexistent', log: silent };
  const database = kind === 'off' ? createDatabase(off) : await emptyDatabase(kind);
  const book = createLog({ level: 'debug', format: 'json', write: () => {} });
  const store = createLogStore({ feed: book, database, log: silent });
  const stream = createLogStream(book, store);
  atEnd(async () => {
    stream.close();
    await store.close();
  });
  return { book, store, stream, say: (text: string, service = 'hub') => book.for(service).info(text) };
}

/** Opens a stream like the route does, and parses what it is sent as SSE. */
function read(stream: Awaited<ReturnType<typeof start>>['stream'], options: StreamOptions = {}, takes = () => true) {
  const chunks: string[] = [];
  const state = { closed: 0 };
  const reader = stream.open(options, {
    write: (chunk) => {
      chunks.push(chunk);
      return takes();
    },
    close: () => void (state.closed += 1),
  });
  const frames = (): Frame[] =>
    chunks
      .join('')
      .split('\n\n')
      .filter((block) => block.startsWith('id: '))
      .map((block) => {
        const [, id, data] = /^id: (\d+)\ndata: (.+)$/.exec(block) ?? [];
        return { id: Number(id), event: JSON.parse(data ?? '') as Frame['event'] };
      });
  const messages = (): string[] =>
    frames().flatMap(({ event }) =>
      [...(event.logs ?? []), ...(event.log ? [event.log] : [])].map(({ message }) => message),
    );
  return { reader, chunks, state, frames, messages };
}

test.each(['off', 'embedded'] as const)(
  'history first, then each entry as it comes, nothing twice (%s)',
  async (kind) => {
    const { stream, say } = await start(kind);
    say('before');
    const { frames, messages } = read(stream);
    say('while the history is read');
    await until('the history is there', () => frames().length > 0);
    say('after');
    await until('it comes', () => messages().length === 3);
    expect(messages()).toEqual(['before', 'while the history is read', 'after']);
    expect(frames()[0]?.event.type).toBe('initial');
    expect(frames().at(-1)?.event).toEqual({
      type: 'log',
      log: {
        id: frames().at(-1)?.id,
        timestamp: expect.any(String) as string,
        level: 'info',
        service: 'hub',
        message: 'after',
      },
    });
  },
);

test('a reader that comes back with its last id gets exactly what it missed', async () => {
  const { stream, say } = await start();
  say('seen');
  const first = read(stream);
  await until('the history is there', () => first.frames().length === 1);
  say('seen too');
  const lastEventId = `${first.frames().at(-1)?.id}`;
  first.reader.close();
  say('missed');
  const second = read(stream, { lastEventId });
  await until('the history is there', () => second.frames().length === 1);
  expect(second.frames()[0]?.event).toMatchObject({ type: 'initial', resumed: true });
  expect(second.messages()).toEqual(['missed']);
  expect(first.messages()).toEqual(['seen', 'seen too']);

  const third = read(stream, { lastEventId: `${second.frames().at(-1)?.id}` });
  await until('it is told that it missed nothing', () => third.frames().length === 1);
  expect(third.frames()[0]?.event).toEqual({ type: 'initial', resumed: true, logs: [] });
});

test.each(['', 'x', '-1', '1e3', "'; drop", '9'.repeat(30)])(
  'a last id that is none of ours (%j) gets everything',
  async (lastEventId) => {
    const { stream, say } = await start();
    say('entry');
    const { frames, messages } = read(stream, { lastEventId });
    await until('the history is there', () => frames().length === 1);
    expect(messages()).toEqual(['entry']);
  },
);

test('clearing is told; a reader that was away meanwhile begins again with all there is', async () => {
  const { stream, store, say } = await start();
  say('old');
  const reader = read(stream);
  await until('the history is there', () => reader.frames().length === 1);
  await store.clear();
  say('new');
  expect(reader.frames().map(({ event }) => event.type)).toEqual(['initial', 'clear', 'log']);

  const [before, cleared] = reader.frames();
  for (const id of [before?.id, cleared?.id]) {
    const returned = read(stream, { lastEventId: `${id}` });
    await until('the history is there', () => returned.frames().length > 0);
    expect(returned.frames().map(({ event }) => event)).toEqual([{ type: 'initial', logs: [expect.anything()] }]);
    expect(returned.messages()).toEqual(['new']);
  }
});

test('a reader that comes back while the log is cleared is not told to keep what it has', async () => {
  const { stream, book, say } = await start('embedded');
  say('old');
  const first = read(stream);
  await until('the history is there', () => first.frames().length === 1);
  const returned = read(stream, { lastEventId: `${first.frames()[0]?.id}` });
  book.clear();
  say('new');
  await until('the new one is there', () => returned.messages().includes('new'));
  expect(returned.frames()[0]?.event).toMatchObject({ type: 'initial' });
  expect(returned.frames()[0]?.event.resumed).toBeUndefined();
  expect(returned.messages()).toEqual(['new']);
});

test('what is cleared while the history is read is not shown', async () => {
  const { stream, book, say } = await start('embedded');
  say('old');
  const reader = read(stream);
  book.clear();
  say('new');
  await until('the new one is there', () => reader.messages().includes('new'));
  expect(reader.messages()).toEqual(['new']);
});

test('a reader sees only what its filter and its rights allow', async () => {
  const { stream, say } = await start();
  say('hidden history', 'server:secret');
  let allowed = false;
  const { frames, messages } = read(stream, {
    readableFrom: (service) => (allowed || service !== 'server:secret' ? 0 : undefined),
    q: 'E',
  });
  await until('the history is there', () => frames().length === 1);
  say('hidden', 'server:secret');
  say('entry shown');
  say('no match: x');
  say('nor ths');
  allowed = true;
  say('seen at last', 'server:secret');
  expect(messages()).toEqual(['entry shown', 'seen at last']);
});

test('a slow reader gets everything later; one that does not read at all is cut off and costs the others nothing', async () => {
  const { stream, say } = await start();
  let takes = true;
  const slow = read(stream, {}, () => takes);
  const stuck = read(stream, {}, () => false);
  const fast = read(stream);
  await until('all have begun', () => [slow, stuck, fast].every(({ frames }) => frames().length === 1));
  takes = false;
  for (let n = 0; n < 10; n += 1) say(`line ${n}`);
  expect(slow.messages()).toHaveLength(1);
  takes = true;
  slow.reader.drained();
  expect(slow.messages()).toEqual(fast.messages());

  const line = 'x'.repeat(3_000);
  for (let bytes = 0; bytes < logLimits.logReaderBytes + 10 * line.length; bytes += line.length) say(line);
  expect(stuck.state.closed).toBe(1);
  expect(stuck.chunks).toHaveLength(1);
  expect(stream.readers()).toBe(2);
  expect(fast.state.closed).toBe(0);
});

test('a reader whose connection throws is dropped and the others go on', async () => {
  const { stream, say } = await start();
  const broken = read(stream, {}, () => {
    throw new Error('write after end');
  });
  const fine = read(stream);
  await until('the history is there', () => fine.frames().length === 1);
  say('entry');
  expect(broken.state.closed).toBe(1);
  expect(fine.messages()).toEqual(['entry']);
});

test('other events pass through to all readers; there is a bound on readers', async () => {
  const { stream } = await start();
  const readers = Array.from({ length: logLimits.logReaders }, () => read(stream));
  expect(() => read(stream)).toThrow(expect.objectContaining({ code: 'too_many' }));
  const [first] = readers;
  await until('the history is there', () => first?.frames().length === 1);
  stream.broadcast({ type: 'embedding-sync-progress' });
  expect(first?.frames().at(-1)?.event).toEqual({ type: 'embedding-sync-progress' });
  first?.reader.close();
  first?.reader.close();
  expect(first?.state.closed).toBe(1);
  expect(stream.readers()).toBe(logLimits.logReaders - 1);
});

test('whether there are readers is told when the first comes and when the last leaves', async () => {
  const { stream } = await start();
  const told: boolean[] = [];
  stream.onReaders((are) => void told.push(are));
  const [one, other] = [read(stream), read(stream)];
  one.reader.close();
  expect(told).toEqual([true]);
  other.reader.close();
  other.reader.close();
  expect(told).toEqual([true, false]);
  read(stream);
  expect(told).toEqual([true, false, true]);
});
