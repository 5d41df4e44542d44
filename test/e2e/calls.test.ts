import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { mcpLimits } from '../../src/mcp/limits.ts';
import { api, login } from '../kit/api.ts';
import { hostileHttp, hostileStdio, temporaryFolder } from '../kit/hostile.ts';
import type { Hostile } from '../kit/hostile.ts';
import { setLimits } from '../kit/limits.ts';
import { rpc } from '../kit/raw.ts';
import type { Message } from '../kit/raw.ts';
import { advertises, session } from '../kit/sessions.ts';
import { testHub } from '../kit/test-hub.ts';
import type { TestHub } from '../kit/test-hub.ts';
import { until, within } from '../kit/until.ts';

// One call's life: progress, cancellation, time limits. Each against a server on pipes and one over HTTP.

const stdio = hostileStdio({ name: 'stdio', answerCancelled: true });
const brief = hostileStdio({ name: 'brief' });
const strict = hostileStdio({ name: 'strict' });
let http: Hostile;
let hub: TestHub;
beforeAll(async () => {
  http = await hostileHttp({ name: 'http' });
  hub = await testHub({
    mcpServers: {
      stdio: stdio.config,
      http: http.config,
      brief: { ...brief.config, options: { timeout: 1_500 } },
      strict: { ...strict.config, options: { timeout: 400, resetTimeoutOnProgress: false } },
    },
  });
  await hub.connected(4);
});

const callWith = (server: Hostile, tag: string) =>
  server.received('tools/call').find((call) => JSON.stringify(call.params).includes(JSON.stringify(tag)));
const cancelledOnce = (server: Hostile, id: unknown) =>
  until(
    `the cancellation of ${String(id)} arrived`,
    () => server.received('notifications/cancelled').filter((note) => note.params['requestId'] === id).length === 1,
  );
const steps = (messages: Message[]) =>
  messages.map((message) => (message.method === undefined ? 'end' : message.params?.progress));

describe.each(['stdio', 'http'])('a server over %s', (kind) => {
  const server = () => (kind === 'stdio' ? stdio : http);

  test('progress arrives in order, all of it, before the result, whatever the token', async () => {
    const own = await session(hub.mcp());
    for (const progressToken of ['text', 7, 0, '', '7', 'x'.repeat(500)]) {
      const answer = await own.call(`${kind}-progress`, { steps: 20, ms: 1, tag: 'p' }, { meta: { progressToken } });
      expect(steps(answer.messages), JSON.stringify(progressToken)).toEqual([
        ...Array.from({ length: 20 }, (_, i) => i + 1),
        'end',
      ]);
      expect(answer.messages.slice(0, 20).every((message) => message.params?.progressToken === progressToken)).toBe(
        true,
      );
    }
  });

  test('calls that share a progress token get their own progress only', async () => {
    const calls = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const own = await session(hub.mcp());
        return {
          tag: `mine-${i}`,
          answer: await own.call(
            `${kind}-progress`,
            { steps: 5, ms: 3, tag: `mine-${i}` },
            { id: 1, meta: { progressToken: 1 } },
          ),
        };
      }),
    );
    for (const { tag, answer } of calls) {
      expect(steps(answer.messages)).toEqual([1, 2, 3, 4, 5, 'end']);
      expect(answer.messages.slice(0, 5).map((message) => message.params?.message)).toEqual(
        [1, 2, 3, 4, 5].map((n) => `${tag}#${n}`),
      );
      expect(answer.result?.content?.[0]?.text).toBe(`${tag} done after 5`);
    }
  });

  test('a client that asked for no progress gets none', async () => {
    const own = await session(hub.mcp());
    const answer = await own.call(`${kind}-progress`, { steps: 3 });
    expect(steps(answer.messages)).toEqual(['end']);
  });

  test('notifications/cancelled reaches the server once, and no result comes after it', async () => {
    const own = await session(hub.mcp());
    const open = await own.begin(
      'tools/call',
      { name: `${kind}-hang`, arguments: { tag: 'to cancel' }, _meta: { progressToken: 1 } },
      { id: 'c-1' },
    );
    const call = await until('the call arrived', () => callWith(server(), 'to cancel'));
    expect((await own.notify('notifications/cancelled', { requestId: 'c-1', reason: 'changed my mind' })).status).toBe(
      202,
    );
    await cancelledOnce(server(), call.id);
    expect((await own.notify('notifications/cancelled', { requestId: 'c-1' })).status).toBe(202);
    await until('its stream ends', () => open.ended());
    expect(open.messages.some((message) => message.result !== undefined)).toBe(false);
    const again = await own.call(`${kind}-delay`, { tag: 'same id' }, { id: 'c-1' });
    expect(again.result?.content?.[0]?.text).toBe('same id');
    expect(
      server()
        .received('notifications/cancelled')
        .filter((note) => note.params['requestId'] === call.id),
    ).toHaveLength(1);
  });

  test('a dropped connection cancels the call', async () => {
    setLimits(mcpLimits, { resumeGraceMs: 100 });
    const own = await session(hub.mcp());
    const open = await own.begin('tools/call', {
      name: `${kind}-hang`,
      arguments: { tag: 'to drop' },
      _meta: { progressToken: 1 },
    });
    const call = await until('the call arrived', () => callWith(server(), 'to drop'));
    open.close();
    await cancelledOnce(server(), call.id);
  });

  test('a client that is gone before the first byte of an answer cancels too', async () => {
    const { request } = await import('node:http');
    const outgoing = request(hub.mcp(), {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    });
    outgoing.on('error', () => {});
    outgoing.end(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: `${kind}-hang`, arguments: { tag: 'gone early' } },
      }),
    );
    const call = await until('the call arrived', () => callWith(server(), 'gone early'));
    outgoing.destroy();
    await cancelledOnce(server(), call.id);
  });

  test('no caller can cancel the call of another', async () => {
    const [mine, yours] = [await session(hub.mcp()), await session(hub.mcp())];
    const tag = `${kind} protected`;
    const answer = mine.call(`${kind}-progress`, { tag, steps: 20, ms: 20 }, { id: 1, meta: { progressToken: 1 } });
    const call = await until('the call arrived', () => callWith(server(), tag));
    for (const requestId of [1, '1', call.id, String(call.id)]) {
      await yours.notify('notifications/cancelled', { requestId });
      await mine.notify('notifications/cancelled', { requestId: requestId === 1 ? 2 : `${requestId}x` });
    }
    expect((await answer).result?.content?.[0]?.text).toBe(`${tag} done after 20`);
  });

  test('errors of the server keep their code, text and data', async () => {
    const answer = await rpc(hub.mcp(), 'tools/call', { name: `${kind}-rpc_error` }, { id: 'e' });
    expect(answer.message).toMatchObject({ id: 'e', error: { code: -31999, message: 'own words' } });
    expect(answer.text).toContain('12345678901234567890');
    const failed = await rpc(hub.mcp(), 'tools/call', { name: `${kind}-fail` });
    expect(failed.result).toEqual({ content: [{ type: 'text', text: 'the tool failed' }], isError: true });
  });

  test('fifty hanging calls delay no other', async () => {
    const own = await session(hub.mcp());
    const hanging = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        own.begin('tools/call', { name: `${kind}-hang`, arguments: {}, _meta: { progressToken: i } }),
      ),
    );
    const quick = await within('a quick call beside hanging ones', own.call(`${kind}-delay`, { tag: 'quick' }));
    expect(quick.result?.content?.[0]?.text).toBe('quick');
    expect(
      (await within('a list beside hanging calls', own.request('tools/list'))).result?.tools?.length,
    ).toBeGreaterThan(0);
    for (const one of hanging) one.close();
  });
});

test('a call past its time limit fails and is cancelled; progress extends the limit', async () => {
  const own = await session(hub.mcp());
  // What is between two steps is far below the limit, on a busy machine too, and all of them take longer than it.
  const [late, busy] = await Promise.all([
    within(
      'a call with a limit of 1.5 s',
      rpc(hub.mcp(), 'tools/call', { name: 'brief-hang', arguments: { tag: 'late' } }),
    ),
    own.call('brief-progress', { steps: 20, ms: 100, tag: 'busy' }, { meta: { progressToken: 1 } }),
  ]);
  expect(late.error?.code).toBeLessThan(0);
  expect(late.error?.message).toContain('brief');
  await cancelledOnce(brief, callWith(brief, 'late')?.id);
  expect(busy.result?.content?.[0]?.text).toBe('busy done after 20');
  // Unless the settings say otherwise.
  const cut = await own.call('strict-progress', { steps: 50, ms: 100, tag: 'cut' }, { meta: { progressToken: 2 } });
  expect(cut.error?.message).toContain('strict');
});

test('what a server logs about a call reaches that client only', async () => {
  const [mine, yours] = [await session(hub.mcp()), await session(hub.mcp())];
  const [heard, notHeard] = [await mine.listen(), await yours.listen()];
  const levels = [
    await mine.request('logging/setLevel', { level: 'debug' }),
    await yours.request('logging/setLevel', { level: 'debug' }),
  ];
  const answer = await mine.call('http-log', { tag: 'only mine' });
  expect(answer.result?.content?.[0]?.text).toBe('logged');
  await yours.call('http-log', { tag: 'only yours' });
  const texts = (messages: Message[]) => JSON.stringify(messages.map((message) => message.params));
  expect(texts([...notHeard.messages])).not.toContain('only mine');
  expect(texts([...heard.messages])).not.toContain('only yours');
  if (!advertises(mine, 'logging')) return expect(levels.map((level) => level.error?.code)).toEqual([-32601, -32601]);
  expect(texts([...answer.messages, ...heard.messages])).toContain('only mine');
});

test('a call that has waited for its server can be cancelled, also where its session has nothing else under way', async () => {
  const gate = join(temporaryFolder(), 'gate');
  const server = await hostileHttp({ name: 's', gate });
  const own = await testHub({ mcpServers: { s: server.config } });
  await own.connected(1);
  const admin = await login(own);
  const client = await session(own.mcp());
  writeFileSync(gate, '');
  // Calls wait for a server that starts because its settings changed.
  const changed = { config: { headers: { 'X-Changed': 'yes' } } };
  expect((await api(own, 'PUT', '/servers/s', { token: admin, body: changed })).status).toBe(200);
  const answer = client.begin('tools/call', { name: 's-hang', arguments: { tag: 'waits' } }, { id: 'c' });
  // Answered behind it, so the call waits by then.
  await own.health();
  rmSync(gate);
  const call = await until('the call arrived', () => callWith(server, 'waits'));
  await client.notify('notifications/cancelled', { requestId: 'c' });
  await cancelledOnce(server, call.id);
  (await answer).close();
});
