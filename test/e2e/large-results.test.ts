import { once } from 'node:events';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { unsent } from '../../src/mcp/paced-writer.ts';
import { upstreamLimits } from '../../src/upstream/limits.ts';
import { resultOf } from '../kit/fixtures/large-server.mjs';
import { beginCall, callLarge, expectedHash, type LargeKind, largeServer, readLarge } from '../kit/large.ts';
import { raw, rpc } from '../kit/raw.ts';
import { legacySession, session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Large results go through in pieces: whole, unchanged, and without another call waiting for them.

const kinds: readonly LargeKind[] = ['stdio', 'json', 'sse', 'legacy'];

let hub: TestHub;

/** On a machine that computes something else, hundreds of megabytes take longer than a call may by default. */
const options = { timeout: 600_000 };

/** A server of each kind, by its name. One more for a call that is to run into its timeout. */
beforeAll(async () => {
  const mcpServers: Record<string, Record<string, unknown>> = {};
  for (const kind of kinds) mcpServers[kind] = { ...(await largeServer(kind)), options };
  mcpServers['hasty'] = { ...(await largeServer('stdio')), options: { timeout: 3_000 } };
  hub = await testHub({ mcpServers });
});
/** Some have them end, or lose their connection. */
beforeEach(() => hub.connected(kinds.length + 1));

afterEach(() => vi.restoreAllMocks());

/** The longest text that is parsed, made of bytes, or written as a string, from now on. */
function longestText(): () => number {
  let longest = 0;
  const seen = (length: number): void => void (longest = Math.max(longest, length));
  const { parse } = JSON;
  vi.spyOn(JSON, 'parse').mockImplementation((text: string, reviver) => {
    seen(text.length);
    return parse(text, reviver) as unknown;
  });
  const { toString } = Buffer.prototype;
  vi.spyOn(Buffer.prototype, 'toString').mockImplementation(function (this: Buffer, ...given) {
    const text = toString.apply(this, given);
    seen(text.length);
    return text;
  });
  return () => longest;
}

test.each(kinds)(
  'a result of 20 MB from a server over %s arrives byte for byte, and is never one text',
  async (kind) => {
    const longest = longestText();
    const answer = await callLarge(hub.mcp(), `${kind}-large`, { kb: 20_480, seed: 'one' }, { id: 7 });
    expect(answer.hash).toBe(expectedHash(20_480, 'one', 7));
    // On a busy machine an answer begins as an event stream: it takes longer than a connection may be silent.
    expect(answer).toMatchObject({
      status: 200,
      type: expect.stringMatching(/^(?:application\/json|text\/event-stream)$/) as string,
    });
    expect(longest()).toBeGreaterThan(0);
    expect(longest()).toBeLessThanOrEqual(upstreamLimits.largeMessageBytes);
  },
);

test.each(kinds)('so does one that follows progress on an event stream, from a server over %s', async (kind) => {
  // A server that answers with JSON has no way to report progress.
  if (kind === 'json') return;
  const client = await session(hub.mcp());
  const { headers } = client;
  const given = { kb: 1_024, seed: 'told', progress: true };
  const answer = await callLarge(hub.mcp(), `${kind}-large`, given, {
    id: 3,
    headers,
    meta: { progressToken: 'mine' },
  });
  expect(answer.type).toBe('text/event-stream');
  expect(answer.head).toContain('"progressToken":"mine"');
  expect(answer.hash).toBe(expectedHash(1_024, 'told', 3));
});

test('eight large results at once, two of 50 MB, arrive whole, and small calls beside them are all answered', async () => {
  const sizesKb = Array.from({ length: 8 }, (_, i) => (i < 2 ? 51_200 : 10_240));
  const large = { areOver: false };
  let answered = 0;
  const beside = (async () => {
    while (!large.areOver) {
      const tag = `t${answered}`;
      const params = { name: 'sse-small', arguments: { tag } };
      const { message } = await rpc(hub.mcp(), 'tools/call', params, { timeoutMs: 600_000 });
      expect(message).toMatchObject({ result: { content: [{ text: tag }] } });
      answered++;
    }
  })();
  const results = await Promise.all(
    sizesKb.map((kb, i) =>
      callLarge(hub.mcp(), i % 2 === 0 ? 'stdio-large' : 'sse-large', { kb, seed: `s${i}` }, { id: i }),
    ),
  );
  large.areOver = true;
  await beside;
  for (const [i, { hash, bytes, head }] of results.entries()) {
    const kb = sizesKb[i] ?? 0;
    // An error is short, and says what it is.
    expect(bytes, head).toBeGreaterThan(kb * 1024);
    expect(hash).toBe(expectedHash(kb, `s${i}`, i));
  }
  expect(answered).toBeGreaterThan(8);
  expect(unsent()).toBe(0);
}, 600_000);

test('line breaks between the tokens of a large body become blanks: the event stream of a client stays whole', async () => {
  for (const kind of ['json', 'sse'] as const) {
    // On an event stream they would end the event.
    const pretty = kind === 'json';
    const answer = await raw(hub.mcp(), { body: call(`${kind}-large`, { kb: 300, seed: 'p', pretty }) });
    expect(answer.text).not.toMatch(/[\r\n]/);
    expect(answer.text.replace(/:\s+\{/, ':{').replace(/\}\s+\}$/, '}}')).toContain(resultOf(300, 'p'));
  }
});

test('invalid UTF-8 in a large result becomes U+FFFD as in a small one', async () => {
  const [small, large] = await Promise.all(
    [16, 1_024].map((kb) => raw(hub.mcp(), { body: call('stdio-large', { kb, seed: 'b', fault: 'bytes' }) })),
  );
  const marks = (text = '') => /\uFFFD+A\uFFFD+/.exec(text)?.[0];
  expect(marks(large?.text)).toBe(marks(small?.text));
  expect(marks(large?.text)).toBe('\uFFFD\uFFFDA\uFFFD');
  expect(large?.result?.content?.[0]?.text).toContain('plain words');
});

test('the id of a large answer is found wherever it stands', async () => {
  const answer = await callLarge(hub.mcp(), 'stdio-large', { kb: 1_024, seed: 'l', fault: 'id last' }, { id: 5 });
  expect(answer.hash).toBe(expectedHash(1_024, 'l', 5));
});

test('a large line that is no JSON harms no other call, and the call to which it may belong runs into its timeout', async () => {
  const { error } = await rpc(hub.mcp(), 'tools/call', {
    name: 'hasty-large',
    arguments: { kb: 1_024, seed: 'x', fault: 'broken' },
  });
  expect(error?.message).toContain('did not answer within');
  const { result } = await rpc(hub.mcp(), 'tools/call', { name: 'hasty-small', arguments: { tag: 'after' } });
  expect(result?.content?.[0]?.text).toBe('after');
});

test.each(kinds)('a server over %s that dies in the middle of a large result is told as an error', async (kind) => {
  const { status, error } = await rpc(hub.mcp(), 'tools/call', {
    name: `${kind}-large`,
    arguments: { kb: 4_096, seed: 'd', fault: 'die' },
  });
  expect(status).toBe(200);
  expect(error?.message).toMatch(new RegExp(`"${kind}"|http:`));
});

test('what a client did not read when it left is forgotten, and its server goes on serving', async () => {
  const begun = await beginCall(hub.mcp(), 'stdio-large', { kb: 51_200, seed: 'left' });
  await until('it waits for its client', () => unsent() > 0);
  begun.outgoing.destroy();
  await until('it is forgotten', () => unsent() === 0);
  const answer = await callLarge(hub.mcp(), 'stdio-large', { kb: 1_024, seed: 'next' }, { id: 2 });
  expect(answer.hash).toBe(expectedHash(1_024, 'next', 2));
});

test('a client that reads slowly gets all of it, and holds up no other', async () => {
  const slow = await beginCall(hub.mcp(), 'stdio-large', { kb: 51_200, seed: 'slow' }, { id: 1 });
  slow.incoming.pause();
  await until('it waits for its client', () => unsent() > 0);
  const other = await callLarge(hub.mcp(), 'stdio-large', { kb: 51_200, seed: 'other' }, { id: 2 });
  expect(other.hash).toBe(expectedHash(51_200, 'other', 2));
  // What its connection has not taken: the rest is with the kernel.
  expect(unsent()).toBeGreaterThan(30 * 1024 * 1024);
  expect((await readLarge(slow)).hash).toBe(expectedHash(51_200, 'slow', 1));
  expect(unsent()).toBe(0);
});

test('a large result on a legacy stream does not run into what follows it', async () => {
  const client = await legacySession(hub.sse());
  const [first, second] = await Promise.all([
    client.request('tools/call', { name: 'stdio-large', arguments: { kb: 2_048, seed: 'a' } }),
    client.request('tools/call', { name: 'stdio-small', arguments: { tag: 'b' } }),
  ]);
  expect(first.result?.content?.[0]?.text).toMatch(/^a:plain words/);
  expect(second.result?.content?.[0]?.text).toBe('b');
});

test('a client that lost its stream comes back to a large answer', async () => {
  const client = await session(hub.mcp());
  const given = { kb: 8_192, seed: 'again', progress: true };
  const more = { id: 9, headers: client.headers, meta: { progressToken: 1 } };
  const begun = await beginCall(hub.mcp(), 'sse-large', given, more);
  const [chunk] = (await once(begun.incoming, 'data')) as [Buffer];
  const id = /^id: (.*)$/m.exec(chunk.toString())?.[1] ?? '';
  begun.outgoing.destroy();
  const resumed = await raw(hub.mcp(), {
    method: 'GET',
    headers: { ...client.headers, accept: 'text/event-stream', 'last-event-id': id },
  });
  expect(resumed.texts.at(-1)).toBe(`{"jsonrpc":"2.0","id":9,"result":${resultOf(8_192, 'again')}}`);
});

function call(name: string, given: unknown) {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
}
