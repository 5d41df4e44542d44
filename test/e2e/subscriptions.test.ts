import { beforeAll, describe, expect, test } from 'vitest';
import { type Hostile, hostileHttp, hostileStdio } from '../kit/hostile.ts';
import { raw, stream, type Stream } from '../kit/raw.ts';
import { legacySession, modern, modernRequest, session } from '../kit/sessions.ts';
import { type SettingsDocument, testHub, type TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Who asked for a resource hears of its changes, as long as it may see it; a server is asked once, and hears of the end
// (CONTRACT §5).

const uris = ['test://one', 'test://two'];
const resources = uris.map((uri) => ({ uri, name: uri }));
const updated = (uri: string): string =>
  JSON.stringify({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri, 'x-exact': 1.0 } });

const told = (open: Stream): unknown[] =>
  open.messages
    .filter(({ method }) => method === 'notifications/resources/updated')
    .map(({ params }) => params?.['uri']);
const asked = (server: Hostile, method: string, uri: string): number =>
  server.received(`resources/${method}`).filter(({ params }) => params['uri'] === uri).length;

/** Everything said before it was heard: a message that must come marks that what must not come is not on its way. */
async function fence(server: Hostile, open: Stream): Promise<void> {
  const before = told(open).length;
  await server.control({ emit: updated(uris[1] ?? '') });
  await until('the fence', () => told(open).length > before);
}

function listenTo(hub: TestHub, scope: string, filter: Record<string, unknown>, id = 'sub'): Promise<Stream> {
  return stream(hub.mcp(scope), {
    method: 'POST',
    ...modernRequest('subscriptions/listen', { notifications: filter }, { id }),
  });
}

describe.each(['pipe', 'http'])('of a server over %s', (kind) => {
  let hub: TestHub;
  let server: Hostile;
  beforeAll(async () => {
    const options = { name: 's', resources, resourceTemplates: [{ name: 'part', uriTemplate: 'test://one/{part}' }] };
    server = kind === 'pipe' ? hostileStdio(options) : await hostileHttp(options);
    const other = await hostileHttp({ name: 'o' });
    hub = await testHub({ mcpServers: { s: server.config, o: other.config } });
    await hub.connected(2);
  });

  test('sessions and streams hear of it, each as it asked, and the server is asked once', async () => {
    const [a, b, c] = await Promise.all([session(hub.mcp()), session(hub.mcp('s')), session(hub.mcp())]);
    expect(a.initialized.result?.capabilities?.['resources']?.['subscribe']).toBe(true);
    const streams = await Promise.all([a.listen(), b.listen(), c.listen()]);
    const before = asked(server, 'subscribe', 'test://one');
    const ends = asked(server, 'unsubscribe', 'test://one');
    for (const own of [a, b]) {
      expect((await own.request('resources/subscribe', { uri: 'test://one' })).result).toEqual({});
      expect((await own.request('resources/subscribe', { uri: 'test://one' })).result).toEqual({});
    }
    const open = await listenTo(hub, '', { resourceSubscriptions: ['test://one', 'test://nowhere'] });
    const [first] = await until('the acknowledgement', () => open.messages.length > 0 && open.messages);
    expect(first?.params?.['notifications']).toEqual({ resourceSubscriptions: ['test://one'] });
    expect(asked(server, 'subscribe', 'test://one')).toBe(before + 1);
    await server.control({ emit: updated('test://one') });
    await until('all who asked hear it', () =>
      [streams[0], streams[1], open].every((one) => one && told(one).length === 1),
    );
    expect(streams[2] && told(streams[2])).toEqual([]);
    expect(streams[0]?.events.at(-1)?.data).toBe(updated('test://one'));
    expect(open.messages.at(-1)?.params).toEqual({
      uri: 'test://one',
      'x-exact': 1,
      _meta: { 'io.modelcontextprotocol/subscriptionId': 'sub' },
    });

    // A part of what was asked for.
    await server.control({ emit: updated('test://one/part') });
    await until('it is heard', () => streams[0] && told(streams[0]).includes('test://one/part'));
    await server.control({ emit: updated('test://only') });

    await a.request('resources/unsubscribe', { uri: 'test://one' });
    expect((await a.request('resources/unsubscribe', { uri: 'test://never' })).result).toEqual({});
    await b.end();
    expect(asked(server, 'unsubscribe', 'test://one')).toBe(ends);
    open.close();
    await until('the server hears of the end', () => asked(server, 'unsubscribe', 'test://one') === ends + 1);
    expect(streams[0] && told(streams[0])).toEqual(['test://one', 'test://one/part']);
  });

  test('what is not there cannot be subscribed to, under the code of the revision', async () => {
    const own = await session(hub.mcp());
    const { error } = await own.request('resources/subscribe', { uri: 'nowhere://x' });
    expect(error).toMatchObject({ code: -32002, data: { uri: 'nowhere://x' } });
    expect((await own.request('resources/subscribe', {})).error?.code).toBe(-32602);
    expect(
      (
        await raw(hub.mcp(), {
          body: { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: 'test://one' } },
        })
      ).error?.code,
    ).toBe(-32602);
    const modernOne = await modern(hub.mcp(), 'resources/subscribe', { uri: 'test://one' });
    expect([modernOne.status, modernOne.error?.code]).toEqual([404, -32601]);
  });

  test('a session may only hold so many', async () => {
    const own = await session(hub.mcp());
    const answers = await Promise.all(
      Array.from({ length: 205 }, (_, i) => own.request('resources/subscribe', { uri: `test://one/${i}` })),
    );
    expect(answers.filter(({ error }) => error !== undefined)).toHaveLength(5);
    expect((await own.end()).status).toBe(200);
    await until('all are ended at the server', () => asked(server, 'unsubscribe', 'test://one/0') === 1);
  });
});

describe('what may not be seen any more', () => {
  const settings = (server: Hostile, change: Partial<SettingsDocument> = {}, switches = {}): SettingsDocument => ({
    mcpServers: { s: { ...server.config, ...switches } },
    groups: [{ id: 'g', name: 'g', servers: [{ name: 's', tools: 'all' }] }],
    systemConfig: { routing: { enableBearerAuth: false } },
    ...change,
  });

  test.each<[string, (server: Hostile) => SettingsDocument]>([
    [
      'left out of the group',
      (server) =>
        settings(server, { groups: [{ id: 'g', name: 'g', servers: [{ name: 's', resources: ['test://two'] }] }] }),
    ],
    ['switched off', (server) => settings(server, {}, { resources: { 'test://one': { enabled: false } } })],
  ])('is not heard of: %s', async (_, changed) => {
    const server = await hostileHttp({ name: 's', resources });
    const hub = await testHub(settings(server));
    await hub.connected(1);
    const own = await session(hub.mcp('g'));
    const open = await own.listen();
    const modernOne = await listenTo(hub, 'g', { resourceSubscriptions: uris });
    for (const uri of uris) await own.request('resources/subscribe', { uri });
    await until('it is acknowledged', () => modernOne.messages.length > 0);
    hub.write(changed(server));
    await until('it is no longer asked for', () => asked(server, 'unsubscribe', 'test://one') === 1);
    await server.control({ emit: updated('test://one') });
    await fence(server, open);
    await fence(server, modernOne);
    expect(told(open)).not.toContain('test://one');
    expect(told(modernOne)).not.toContain('test://one');
    // And comes back with the permission.
    hub.write(settings(server));
    await until('it is asked for again', () => asked(server, 'subscribe', 'test://one') === 2);
    await server.control({ emit: updated('test://one') });
    await until('it is heard again', () => [open, modernOne].every((one) => told(one).includes('test://one')));
  });
});

test('a server that died is asked again when it is back, and one restarted by its settings too', async () => {
  const server = hostileStdio({ name: 's', resources });
  const hub = await testHub({ mcpServers: { s: server.config } });
  await hub.connected(1);
  const own = await session(hub.mcp());
  const open = await own.listen();
  await own.request('resources/subscribe', { uri: 'test://one' });
  await own.call('s-die');
  await until('it is asked again', () => asked(server, 'subscribe', 'test://one') === 2);
  await server.control({ emit: updated('test://one') });
  await until('it is heard', () => told(open).length === 1);
  hub.write({ mcpServers: { s: { ...server.config, timeout: 30_000, options: { timeout: 31_000 } } } });
  await until('it is asked once more', () => asked(server, 'subscribe', 'test://one') === 3);
  await server.control({ emit: updated('test://one') });
  await until('it is heard again', () => told(open).length === 2);
});

test('a server that did not answer when a new session was begun is asked again, and by the next client at once', async () => {
  const server = await hostileHttp({ name: 's', resources });
  const hub = await testHub({ mcpServers: { s: server.config } });
  await hub.connected(1);
  const [own, other] = await Promise.all([session(hub.mcp()), session(hub.mcp())]);
  const open = await own.listen();
  await own.request('resources/subscribe', { uri: 'test://one' });
  const cuts = (): number => server.journal().filter(({ event }) => event === 'cut').length;
  await server.control({ set: { cutStreamOn: 'resources/subscribe' }, loseSessions: true });
  expect((await own.call('s-delay', { tag: 'still' })).result?.content?.[0]?.text).toBe('still');
  await until('it did not answer', () => cuts() > 0);
  // By the end of another exchange with the server the hub knows that too: who asks before shares the question.
  await other.call('s-delay', { tag: 'after' });
  const before = cuts();
  expect((await other.request('resources/subscribe', { uri: 'test://one' })).error).toBeDefined();
  expect(cuts(), 'it is asked for the next client').toBeGreaterThan(before);
  await server.control({ set: { cutStreamOn: 'nothing' } });
  await until('it is asked again', () => asked(server, 'subscribe', 'test://one') === 2);
  await server.control({ emit: updated('test://one') });
  await until('it is heard', () => told(open).length === 1);
});

test('a legacy SSE client hears of it too, and with its stream its subscriptions end', async () => {
  const server = await hostileHttp({ name: 's', resources });
  const hub = await testHub({ mcpServers: { s: server.config } });
  await hub.connected(1);
  const own = await legacySession(hub.sse());
  expect((await own.request('resources/subscribe', { uri: 'test://one' })).result).toEqual({});
  await server.control({ emit: updated('test://one') });
  await until('it is heard', () => told(own.stream).length === 1);
  own.stream.close();
  await until('the server hears of the end', () => asked(server, 'unsubscribe', 'test://one') === 1);
});

test('what is said while the client is away is told when it comes back to its stream', async () => {
  const server = await hostileHttp({ name: 's', resources });
  const hub = await testHub({ mcpServers: { s: server.config } });
  await hub.connected(1);
  const [own, other] = await Promise.all([session(hub.mcp()), session(hub.mcp())]);
  const [open, witness] = await Promise.all([own.listen(), other.listen()]);
  await own.request('resources/subscribe', { uri: 'test://one' });
  for (const uri of uris) await other.request('resources/subscribe', { uri });
  const id = await until('the first id', () => open.ids[0]);
  open.close();
  // Until the hub knows that the stream is gone, it is not away.
  await until('the stream is gone', async () => {
    const before = told(witness).length;
    await server.control({ emit: updated('test://one') });
    await until('the others hear it', () => told(witness).length > before);
    return true;
  });
  const back = await stream(hub.mcp(), { headers: { ...own.headers, 'last-event-id': id } });
  await until('it is told', () => told(back).length === 1);
});
