import { beforeAll, describe, expect, test } from 'vitest';
import { type Hostile, hostileHttp } from '../kit/hostile.ts';
import { raw, stream, type Stream } from '../kit/raw.ts';
import { session, type Session } from '../kit/sessions.ts';
import { testHub, type TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// A stream that breaks can be gone on with, by its own client and no other (2025-11-25, Resumability and Redelivery;
// decisions/0021).

let hub: TestHub;
let server: Hostile;
beforeAll(async () => {
  server = await hostileHttp({ name: 's', resources: [{ uri: 'test://one', name: 'one' }] });
  hub = await testHub({ mcpServers: { s: server.config } });
  await hub.connected(1);
});

const resume = (own: Session, lastEventId: string): Promise<Stream> =>
  stream(hub.mcp(), { headers: { ...own.headers, 'last-event-id': lastEventId } });

/** A call that reports progress, its connection dropped after the first report. */
async function broken(own: Session, tag: string, steps: number, ms: number, id = 'call'): Promise<Stream> {
  const open = await own.begin(
    'tools/call',
    { name: 's-progress', arguments: { tag, steps, ms }, _meta: { progressToken: tag } },
    { id },
  );
  await open.message('progress', ({ method }) => method === 'notifications/progress');
  open.close();
  return open;
}

const cancelled = (tag: string): boolean => {
  const call = server.received('tools/call').find(({ text }) => text?.includes(`"${tag}"`));
  return server.received('notifications/cancelled').some(({ params }) => params['requestId'] === call?.id);
};

describe('the stream of an answer', () => {
  test('begins with an id and a time to come back, for clients that know what to do with them', async () => {
    const own = await session(hub.mcp());
    const { text } = await own.call('s-progress', { tag: 'primed', steps: 1 }, { meta: { progressToken: 1 } });
    expect(text).toMatch(/^id: p[\w-]+\.1\nretry: 1000\ndata: \n\nevent: message\nid: p[\w-]+\.2\ndata: /);
    const older = await session(hub.mcp(), { protocolVersion: '2025-06-18' });
    const plain = await older.call('s-progress', { tag: 'older', steps: 1 }, { meta: { progressToken: 1 } });
    expect(plain.text).toMatch(/^event: message\nid: p[\w-]+\.1\ndata: \{/);
    expect(plain.text).not.toContain('retry:');
  });

  test('goes on for a client that comes back, with exactly what it missed', async () => {
    const own = await session(hub.mcp());
    const open = await broken(own, 'missed', 8, 40);
    const rest = await resume(own, open.events.at(-1)?.id ?? '');
    const answer = await rest.message('the answer', ({ id }) => id === 'call');
    expect(answer.result?.content?.[0]?.text).toBe('missed done after 8');
    const heard = [...open.messages, ...rest.messages].flatMap(({ params }) => params?.progress ?? []);
    expect(heard).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    await until('the stream ends with the answer', () => rest.ended());
    expect(cancelled('missed')).toBe(false);
    // Everything, from the very first id on, as often as it is asked for.
    const again = await resume(own, (open.events[0]?.id ?? '').replace(/\.\d+$/, '.1'));
    await until('the stream ends again', () => again.ended());
    expect(again.messages).toHaveLength(9);
  });

  test('that was answered while no client was there is answered to who comes back', async () => {
    const own = await session(hub.mcp());
    const open = await broken(own, 'alone', 2, 30);
    // Answered by the same process, which has answered the first by then.
    await own.call('s-delay', { ms: 150 });
    // On a busy machine the answer may have come before the stream was left: it is asked for from the beginning.
    const rest = await resume(own, (open.events[0]?.id ?? '').replace(/\.\d+$/, '.1'));
    await rest.message('the answer', ({ id }) => id === 'call');
  });

  test('is cancelled at the server when no client comes back, and cannot be gone on with any more', async () => {
    const own = await session(hub.mcp());
    const open = await own.begin('tools/call', {
      name: 's-hang',
      arguments: { tag: 'nobody comes' },
      _meta: { progressToken: 1 },
    });
    await open.message('progress', ({ method }) => method === 'notifications/progress');
    open.close();
    await until('the cancellation', () => cancelled('nobody comes'));
    const late = await raw(hub.mcp(), {
      method: 'GET',
      headers: { ...own.headers, 'last-event-id': open.events.at(-1)?.id ?? '' },
    });
    expect(late.status).toBe(400);
  });

  test('is of no other: not another session’s, not under a made-up id', async () => {
    const [own, other] = await Promise.all([session(hub.mcp()), session(hub.mcp())]);
    const open = await broken(own, 'mine', 5, 40);
    const id = open.events.at(-1)?.id ?? '';
    for (const guess of [id, `${id}9`, id.replace(/\.\d+$/, ''), 'p.1', `p${'x'.repeat(5_000)}`]) {
      const answer = await raw(hub.mcp(), { method: 'GET', headers: { ...other.headers, 'last-event-id': guess } });
      expect(answer.status, guess.slice(0, 50)).toBe(400);
      expect(answer.text).not.toContain('mine');
    }
    const rest = await resume(own, id);
    await rest.message('the answer', ({ id }) => id === 'call');
  });

  test('of one call never carries another’s', async () => {
    const own = await session(hub.mcp());
    const [a, b] = await Promise.all([broken(own, 'call a', 5, 30, 'a'), broken(own, 'call b', 5, 30, 'b')]);
    const rest = await resume(own, a.events.at(-1)?.id ?? '');
    await until('the first ends', () => rest.ended());
    expect(JSON.stringify(rest.messages)).toContain('call a');
    expect(JSON.stringify(rest.messages)).not.toContain('call b');
    const other = await resume(own, b.events.at(-1)?.id ?? '');
    await other.message('its answer', ({ id }) => id === 'b');
  });

  test('dies with its session', async () => {
    const own = await session(hub.mcp());
    const open = await broken(own, 'ended', 50, 40);
    await own.end();
    await until('the cancellation', () => cancelled('ended'));
    const late = await raw(hub.mcp(), {
      method: 'GET',
      headers: { ...own.headers, 'last-event-id': open.events.at(-1)?.id ?? '' },
    });
    expect(late.status).toBe(404);
  });
});

describe('a stream for what is said unasked', () => {
  const changes = (open: Stream) => open.messages.flatMap(({ method }) => method ?? []);

  test('that comes back is told which lists changed while it was away, and only those', async () => {
    const own = await session(hub.mcp());
    const open = await own.listen();
    const first = await until('the first id', () => open.ids[0]);
    open.close();
    const unchanged = await resume(own, first);
    await until('it is open', () => unchanged.ids.length > 0);
    expect(changes(unchanged)).toEqual([]);
    unchanged.close();
    await own.call('s-grow', { tool: 'while_away' });
    await until('the list has it', async () => (await own.request('tools/list')).text.includes('while_away'));
    const back = await resume(own, first);
    await until('it is told', () => back.messages.length > 0);
    expect(changes(back)).toEqual(['notifications/tools/list_changed']);
    // No id before the news: a client that leaves again before hearing them is told them the next time.
    expect(back.ids[0]).toBe(back.events[0]?.id);
    back.close();
    const news = back.events.at(-1)?.id ?? '';
    const after = await resume(own, news);
    await until('it is open', () => after.ids.length > 0);
    expect(changes(after)).toEqual([]);
  });

  test('that comes back after a restart of the hub is told the same', async () => {
    const other = await hostileHttp({ name: 'o', tools: ['echo'] });
    const before = await testHub({ mcpServers: { o: other.config } });
    await before.connected(1);
    const own = await session(before.mcp());
    const open = await stream(before.mcp(), { headers: own.headers });
    const id = await until('the first id', () => open.ids[0]);
    await before.close();
    const hub = await testHub({ folder: before.folder });
    await hub.connected(1);
    const headers = { ...own.headers, 'last-event-id': id };
    const same = await stream(hub.mcp(), { headers });
    await until('it is open', () => same.ids.length > 0);
    expect(changes(same)).toEqual([]);
    const strange = await stream(hub.mcp(), { headers: { ...own.headers, 'last-event-id': 'from elsewhere' } });
    await until('it is told', () => strange.messages.length === 3);
  });
});
