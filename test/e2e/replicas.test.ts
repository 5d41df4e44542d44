import { beforeAll, describe, expect, test } from 'vitest';
import { askable, askingStdio, begin, filled, reply, type Told, toldBy } from '../kit/asking.ts';
import { type Hostile, hostileHttp, hostileStdio } from '../kit/hostile.ts';
import { type AnyResult, raw, stream } from '../kit/raw.ts';
import { replicas, type Replicas } from '../kit/replicas.ts';
import { legacySession, modern, modernMeta, session } from '../kit/sessions.ts';
import { several } from '../kit/several.ts';
import { until } from '../kit/until.ts';

// Three hubs on one PostgreSQL behind a balancer that sends each request to the next hub: every request of a client
// arrives at another one than the request before (decisions/0085).

let all: Replicas;
let slow: Hostile;
const rows = Array.from({ length: 200 }, (_, n) => ({ n, text: 'x'.repeat(30) }));

beforeAll(async () => {
  slow = await hostileHttp({
    name: 'slow',
    results: { echo: JSON.stringify({ content: [{ type: 'text', text: JSON.stringify(rows) }] }) },
  });
  const own = several(hostileStdio({ name: 'own' }));
  all = await replicas(3, {
    systemConfig: { routing: { enableBearerAuth: false } },
    mcpServers: {
      ask: askingStdio(),
      slow: { ...slow.config, maxResultTokens: 300 },
      own: { ...own.config, perSessionClient: true },
    },
  });
  await Promise.all(all.hubs.map((hub) => hub.connected(3)));
});

const times = (count: number) => Array.from({ length: count }, (_, i) => i);
const cancelledAt = (server: Hostile, tag: string): boolean => {
  const call = server.received('tools/call').find(({ text }) => text?.includes(`"${tag}"`));
  return server.received('notifications/cancelled').some(({ params }) => params['requestId'] === call?.id);
};

describe('a client with a session', () => {
  test('answers what a server asks, whichever hub gets the answer', async () => {
    const url = all.front.mcp('ask');
    for (const turn of times(9)) {
      const own = await session(url, { capabilities: askable });
      const call = await begin(own, turn % 2 === 0 ? 'form' : 'sampling', { label: `turn ${turn}` });
      const { id } = await call.asked();
      expect((await reply(url, own, id, filled(`word ${turn}`))).status).toBe(202);
      expect((await call.told()).result).toEqual(filled(`word ${turn}`).result);
    }
  });

  test('cancels a call, whichever hub hears of it', async () => {
    for (const turn of times(6)) {
      const own = await session(all.front.mcp('slow'));
      const tag = `cancelled ${turn}`;
      const call = own.begin(
        'tools/call',
        { name: 'progress', arguments: { tag, steps: 100_000, ms: 50 }, _meta: { progressToken: tag } },
        { id: 'call' },
      );
      const open = await call;
      await open.message('progress', ({ method }) => method === 'notifications/progress');
      await own.notify('notifications/cancelled', { requestId: 'call', reason: 'enough' });
      await until('the server is told', () => cancelledAt(slow, tag));
      open.close();
    }
  });

  test('ends its session at all hubs', async () => {
    const own = await session(all.front.mcp());
    expect((await own.end()).status).toBe(200);
    for (const hub of all.hubs)
      expect((await raw(hub.mcp(), { headers: own.headers, body: ping })).status, hub.url).toBe(404);
  });

  test('goes on with a stream that broke, at any hub', async () => {
    for (const turn of times(4)) {
      const own = await session(all.front.mcp('slow'));
      const args = { tag: `resumed ${turn}`, steps: 8, ms: 40 };
      const params = { name: 'progress', arguments: args, _meta: { progressToken: 'p' } };
      const open = await own.begin('tools/call', params, { id: 'call' });
      await open.message('progress', ({ method }) => method === 'notifications/progress');
      open.close();
      const headers = { ...own.headers, 'last-event-id': open.events.at(-1)?.id ?? '' };
      const rest = await stream(all.front.mcp('slow'), { headers });
      const answer = await rest.message('the answer', ({ id }) => id === 'call');
      expect(answer.result?.content?.[0]?.text).toBe(`resumed ${turn} done after 8`);
      const heard = [...open.messages, ...rest.messages].flatMap(({ params }) => params?.progress ?? []);
      expect(heard).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    }
  });

  test('has one process of a server that keeps state for it', async () => {
    const own = await session(all.front.mcp('own'));
    const pids = new Set<unknown>();
    for (const turn of times(6)) {
      const { result } = await own.call('pid', { turn });
      pids.add(result?.content?.[0]?.text);
    }
    expect([...pids]).toEqual([expect.stringMatching(/\d/)]);
  });

  test('reads on in a result that was cut', async () => {
    const own = await session(all.front.mcp('slow'));
    const { result } = await own.call('echo');
    const { handle, next } = moreOf(result) ?? {};
    for (const _ of all.hubs) {
      const more = await own.call('read_result', { handle, from: next });
      expect(more.result?.isError, more.text).toBeUndefined();
    }
  });
});

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
const moreOf = (result: AnyResult | undefined) =>
  (result?.['_meta'] as Record<string, { handle: string; next: number }> | undefined)?.['toolhub/more'];

describe('a client without sessions', () => {
  test('brings the answers of a question to the call that waits for them', async () => {
    const call = (again: object = {}) =>
      modern(
        all.front.mcp('ask'),
        'tools/call',
        { name: 'form', arguments: { label: 'stateless' }, ...again },
        { meta: modernMeta({ 'io.modelcontextprotocol/clientCapabilities': askable }) },
      );
    for (const turn of times(4)) {
      const { result, text } = await call();
      const [key = ''] = Object.keys(result?.['inputRequests'] ?? {});
      const again = { inputResponses: { [key]: filled(`${turn}`).result }, requestState: result?.['requestState'] };
      const answer = await call(again);
      expect((toldBy(answer.result) as Told).result, text + answer.text).toEqual(filled(`${turn}`).result);
      expect((await call(again)).error?.message).toContain('params.requestState is not valid');
    }
  });

  test('reads on in a result that was cut', async () => {
    const call = (name: string, args: object = {}) =>
      modern(all.front.mcp('slow'), 'tools/call', { name, arguments: args });
    const { handle, next } = moreOf((await call('echo')).result) ?? {};
    for (const _ of all.hubs)
      expect((await call('read_result', { handle, from: next })).result?.isError).toBeUndefined();
  });
});

test('a client of the old transport posts to any hub', async () => {
  const own = await legacySession(`${all.front.url}/sse/ask`, { capabilities: askable });
  for (const turn of times(3)) {
    const answer = own.request('tools/call', { name: 'form', arguments: { label: `old ${turn}` } });
    const asked = await own.stream.message(
      'the question',
      ({ method, params }) => method === 'elicitation/create' && params?.message === `old ${turn}`,
    );
    await own.post({ jsonrpc: '2.0', id: asked.id, ...filled(`${turn}`) });
    expect((toldBy((await answer).result) as Told).result).toEqual(filled(`${turn}`).result);
  }
});

describe('a hostile client', () => {
  const post = (hub: { mcp(scope?: string): string }, headers: Record<string, string>, body: object = ping) =>
    raw(hub.mcp('ask'), { headers, body });

  test('is no hub: a header of hubs that it makes up is refused', async () => {
    const [first] = all.hubs;
    for (const pass of ['x', 'aaaaaaaa.bbbbbbbb.1.1..x', 'a'.repeat(4_000)])
      expect((await post(first ?? all.front, { 'toolhub-pass': pass })).status).toBe(403);
  });

  test('finds nothing where hubs ask each other', async () => {
    for (const query of ['', '?nonce=x&from=aaaaaaaa&leaving=1&mac=x']) {
      const answer = await raw(`${all.front.url}/health/hub${query}`, { method: 'GET' });
      expect(answer.text).not.toContain('"mac"');
    }
  });

  test('cannot choose where its request goes', async () => {
    const own = await session(all.front.mcp('ask'), { capabilities: askable });
    // A hub that does not exist, and the address of one in place of its name.
    for (const id of ['AAAAAAAA.x', '127.0.0.1:80.x', `${new URL(all.hubs[0]?.url ?? '').host}.x`]) {
      const { status, text } = await reply(all.front.mcp('ask'), own, id, filled('x'));
      expect(status, text).toBe(id.startsWith('AAAAAAAA') ? 410 : 202);
    }
    const { status } = await raw(all.front.mcp('ask'), {
      headers: { ...own.headers, 'last-event-id': 'pAAAAAAAA0.1' },
      method: 'GET',
    });
    expect(status).toBe(400);
  });

  test('answers no question of another session, though it knows its id and its hub', async () => {
    const url = all.front.mcp('ask');
    const [own, other] = [await session(url, { capabilities: askable }), await session(url, { capabilities: askable })];
    const call = await begin(own, 'form', { label: 'mine' });
    const { id } = await call.asked();
    for (const _ of all.hubs) await reply(url, other, id, filled('of another'));
    await reply(url, own, id, filled('mine'));
    expect((await call.told()).result).toEqual(filled('mine').result);
  });
});

test('whose request it is, and from where, is decided by the hub that answers, as at any other', async () => {
  const own = await session(all.front.mcp('ask'));
  // The first hub that is asked for the session of another principal refuses it, as the one of the session would.
  for (const hub of all.hubs) {
    const { status } = await raw(hub.mcp('slow'), { headers: own.headers, body: ping });
    expect(status).toBe(404);
  }
});
