import { beforeAll, describe, expect, test } from 'vitest';
import { mcpLimits } from '../../src/mcp/limits.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { jsonHeaders, raw, rpc, stream } from '../kit/raw.ts';
import { session } from '../kit/sessions.ts';
import { testHub } from '../kit/test-hub.ts';
import type { TestHub } from '../kit/test-hub.ts';

// Streamable HTTP of the session era, header by header (CONTRACT §5 and the revisions it serves).

const server = await hostileHttp({ name: 'alpha' });
const other = await hostileHttp({ name: 'beta' });
let hub: TestHub;
beforeAll(async () => {
  hub = await testHub({
    mcpServers: { alpha: server.config, beta: other.config },
    groups: [
      { id: 'g-1', name: 'one', servers: ['alpha'] },
      { id: 'g-2', name: 'two', servers: ['beta'] },
    ],
  });
  await hub.connected(2);
});

describe('without a session', () => {
  test.each([
    ['*/*'],
    [undefined],
    ['application/json'],
    ['application/json, text/event-stream'],
    ['application/*'],
    ['text/event-stream, application/json;q=0.5'],
  ])('a bare tools/list is answered (Accept: %s)', async (accept) => {
    const answer = await rpc(hub.mcp(), 'tools/list', {}, { headers: { accept }, id: 7 });
    expect(answer.status).toBe(200);
    expect(answer.message.id).toBe(7);
    expect(answer.result?.tools?.map((tool) => tool.name)).toContain('alpha-echo');
    if (accept === 'application/json') expect(answer.headers['content-type']).toContain('application/json');
  });

  test('a bare tools/list without params, and a bare tools/call, are answered', async () => {
    expect((await rpc(hub.mcp('one'), 'tools/list')).result?.tools?.length).toBeGreaterThan(0);
    const call = await rpc(hub.mcp(), 'tools/call', { name: 'alpha-delay', arguments: { tag: 'bare' } });
    expect(call.result?.content?.[0]?.text).toBe('bare');
  });

  test('a charset in the content type does no harm', async () => {
    const answer = await rpc(hub.mcp(), 'ping', {}, { headers: { 'content-type': 'Application/JSON; charset=UTF-8' } });
    expect([answer.status, answer.result]).toEqual([200, {}]);
  });
});

describe('a session', () => {
  test.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])(
    'begins in revision %s',
    async (protocolVersion) => {
      const own = await session(hub.mcp(), { protocolVersion });
      expect(own.initialized.result).toMatchObject({ protocolVersion, serverInfo: { name: expect.any(String) } });
      expect(own.initialized.result?.capabilities).toMatchObject({ tools: { listChanged: true } });
      expect(own.id).toMatch(/^[\x21-\x7e]+$/);
      expect((await own.request('tools/list')).result?.tools?.length).toBeGreaterThan(0);
      expect((await own.request('ping')).result).toEqual({});
    },
  );

  test('asked for an unknown revision, the hub offers one it speaks', async () => {
    const own = await session(hub.mcp(), { protocolVersion: '1999-12-31' });
    expect(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']).toContain(own.initialized.result?.protocolVersion);
  });

  test('ids of any legal kind come back as they were sent', async () => {
    const own = await session(hub.mcp());
    for (const id of ['0', '-1', '9007199254740991', '"text"', '""', '"7"', '"\\u0000ü\\""', '"__proto__"']) {
      const answer = await raw(hub.mcp(), {
        headers: own.headers,
        body: `{"id":${id},"method":"tools/call","params":{"name":"alpha-delay","arguments":{"tag":"x"}},"jsonrpc":"2.0"}`,
      });
      expect(answer.message.id, id).toBe(JSON.parse(id));
      expect(answer.result?.content?.[0]?.text).toBe('x');
    }
  });

  test('notifications and answers from the client are accepted without a body', async () => {
    const own = await session(hub.mcp());
    for (const body of [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
      { jsonrpc: '2.0', method: 'notifications/of/nobody', params: { x: 1 } },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'never sent' } },
      { jsonrpc: '2.0', id: 'nobody asked', result: {} },
      { jsonrpc: '2.0', id: 99, error: { code: -1, message: 'no' } },
    ]) {
      const answer = await raw(hub.mcp(), { headers: own.headers, body });
      expect([answer.status, answer.text], JSON.stringify(body)).toEqual([202, '']);
    }
  });

  test('2025-03-26 takes a batch and answers each request in it; later revisions refuse it', async () => {
    const batch = [
      { jsonrpc: '2.0', id: 'a', method: 'ping' },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      {
        jsonrpc: '2.0',
        id: 'b',
        method: 'tools/call',
        params: { name: 'alpha-delay', arguments: { tag: 'in a batch' } },
      },
    ];
    const old = await session(hub.mcp(), { protocolVersion: '2025-03-26' });
    const answer = await raw(hub.mcp(), { headers: old.headers, body: batch });
    expect(answer.status).toBe(200);
    const answers = answer.messages.flat();
    expect(new Set(answers.map((one) => one.id))).toEqual(new Set(['a', 'b']));
    expect(answers).toHaveLength(2);
    expect(answers.find((one) => one.id === 'b')?.result?.content?.[0]?.text).toBe('in a batch');
    const later = await session(hub.mcp(), { protocolVersion: '2025-11-25' });
    expect((await raw(hub.mcp(), { headers: later.headers, body: batch })).status).toBe(400);
  });

  test('an unknown, tampered, cut or foreign session id is 404 on every method', async () => {
    const own = await session(hub.mcp());
    const flipped = own.id.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    const middle = Math.floor(own.id.length / 2);
    const swapped = own.id.slice(0, middle) + (own.id[middle] === 'x' ? 'y' : 'x') + own.id.slice(middle + 1);
    for (const id of [
      'nobody',
      crypto.randomUUID(),
      flipped,
      swapped,
      own.id.slice(0, -4),
      `${own.id}AAAA`,
      `${own.id}.`,
      '../../etc',
      '{}',
      'A'.repeat(4000),
    ]) {
      const headers = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
      expect((await rpc(hub.mcp(), 'tools/list', {}, { headers })).status, `POST ${id}`).toBe(404);
      expect((await raw(hub.mcp(), { method: 'GET', headers })).status, `GET ${id}`).toBe(404);
      expect((await raw(hub.mcp(), { method: 'DELETE', headers })).status, `DELETE ${id}`).toBe(404);
      const note = await raw(hub.mcp(), { headers, body: { jsonrpc: '2.0', method: 'notifications/initialized' } });
      expect(note.status, `notification ${id}`).toBe(404);
    }
    expect((await own.request('tools/list')).status).toBe(200);
  });

  test('a session of one endpoint is unknown on every other', async () => {
    const scopes = ['', 'one', 'two', 'alpha', 'nobody'];
    const own = await Promise.all(scopes.map((scope) => session(hub.mcp(scope))));
    for (const [i, mine] of own.entries()) {
      for (const [j, scope] of scopes.entries()) {
        const answer = await rpc(hub.mcp(scope), 'tools/list', {}, { headers: mine.headers });
        expect(answer.status, `session of /mcp/${scopes[i]} on /mcp/${scope}`).toBe(i === j ? 200 : 404);
      }
    }
  });

  test('DELETE ends a session for good, and only that one', async () => {
    const [mine, yours] = [await session(hub.mcp()), await session(hub.mcp())];
    const events = await mine.listen();
    expect([200, 202, 204]).toContain((await mine.end()).status);
    expect((await mine.request('tools/list')).status).toBe(404);
    expect((await raw(hub.mcp(), { method: 'GET', headers: mine.headers })).status).toBe(404);
    expect((await mine.end()).status).toBe(404);
    await expect.poll(() => events.ended()).toBe(true);
    expect((await yours.request('tools/list')).status).toBe(200);
  });

  test('GET without a session is refused, and with one it is an event stream that says at once that it is open', async () => {
    expect([400, 404, 405, 406]).toContain((await raw(hub.mcp(), { method: 'GET' })).status);
    const own = await session(hub.mcp());
    const events = await own.listen();
    expect(events.status).toBe(200);
    expect(events.headers['content-type']).toContain('text/event-stream');
  });

  test('an unknown method is -32601 and does not look like a lost session', async () => {
    const own = await session(hub.mcp());
    for (const method of ['tools/destroy', '', 'toString', '__proto__', 'initialize/x', 'rpc.discover']) {
      const answer = await own.request(method, {});
      expect(answer.error?.code, method).toBe(-32601);
      expect(answer.status, method).toBe(200);
    }
  });

  test('an unknown tool, prompt and resource are errors that name what was asked', async () => {
    const own = await session(hub.mcp());
    const tool = await own.call('alpha-nothing');
    expect([tool.error?.code, tool.error?.message]).toEqual([-32602, expect.stringContaining('alpha-nothing')]);
    const prompt = await own.request('prompts/get', { name: 'alpha-nothing' });
    expect(prompt.error?.code).toBe(-32602);
    const resource = await own.request('resources/read', { uri: 'nowhere://at/all' });
    expect([-32002, -32602]).toContain(resource.error?.code);
  });

  test('calls with unusable params are refused as such, and reach no server', async () => {
    const own = await session(hub.mcp());
    const before = server.received('tools/call').length;
    for (const params of [
      undefined,
      {},
      { name: 7 },
      { name: null },
      { name: {} },
      { name: ['alpha-echo'] },
      { name: '' },
      { arguments: {} },
      { name: '__proto__' },
      { name: 'constructor' },
    ]) {
      const answer = await own.request('tools/call', params);
      expect(answer.error?.code, JSON.stringify(params)).toBe(-32602);
      expect(answer.status).toBeLessThan(500);
    }
    for (const params of ['text', 7, [], null]) {
      const answer = await raw(hub.mcp(), {
        headers: own.headers,
        body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      });
      expect([-32600, -32602], JSON.stringify(params)).toContain(answer.error?.code);
    }
    expect(server.received('tools/call')).toHaveLength(before);
  });
});

describe('what is not a request', () => {
  test.each([
    ['not JSON', '{"jsonrpc":"2.0",'],
    ['nothing', ''],
    ['a word', 'hello'],
    ['JSON with a tail', '{"jsonrpc":"2.0","id":1,"method":"ping"} x'],
    ['single quotes', "{'jsonrpc':'2.0'}"],
    ['a comment', '/**/{"jsonrpc":"2.0","id":1,"method":"ping"}'],
    ['a raw control character', '{"jsonrpc":"2.0","id":1,"method":"pi\nng"}'],
  ])('%s is 400 and -32700', async (_, body) => {
    const answer = await raw(hub.mcp(), { body });
    expect(answer.status).toBe(400);
    expect(answer.message).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32700 } });
  });

  test.each([
    ['null', 'null'],
    ['a number', '7'],
    ['a string', '"ping"'],
    ['an empty array', '[]'],
    ['an empty object', '{}'],
    ['no version', '{"id":1,"method":"ping"}'],
    ['a wrong version', '{"jsonrpc":"1.0","id":1,"method":"ping"}'],
    ['a version that is a number', '{"jsonrpc":2.0,"id":1,"method":"ping"}'],
    ['an id of null', '{"jsonrpc":"2.0","id":null,"method":"ping"}'],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}'],
    ['an id that is an array', '{"jsonrpc":"2.0","id":[1],"method":"ping"}'],
    ['an id that is true', '{"jsonrpc":"2.0","id":true,"method":"ping"}'],
    ['a method that is a number', '{"jsonrpc":"2.0","id":1,"method":1}'],
    ['neither method nor answer', '{"jsonrpc":"2.0","id":1}'],
  ])('%s is 400 and -32600', async (_, body) => {
    const answer = await raw(hub.mcp(), { body });
    expect(answer.status).toBe(400);
    expect(answer.message.error?.code).toBe(-32600);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'text/json5',
  ])('content of type %s is 415, whatever it holds', async (type) => {
    const before = server.journal().length;
    const answer = await rpc(hub.mcp(), 'tools/call', { name: 'alpha-echo' }, { headers: { 'content-type': type } });
    expect(answer.status).toBe(415);
    expect(server.journal()).toHaveLength(before);
  });

  test('nesting a hundred thousand deep is refused or answered, and survived', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const answer = await raw(hub.mcp(), {
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"alpha-delay","arguments":{"tag":"deep","x":${deep}}}}`,
    });
    expect(answer.status).toBeLessThan(500);
    expect((await rpc(hub.mcp(), 'ping', {})).result).toEqual({});
  });

  test('invalid UTF-8 is refused or answered, and survived', async () => {
    const { request } = await import('node:http');
    const status = await new Promise<number>((resolve, reject) => {
      const outgoing = request(hub.mcp(), { method: 'POST', headers: jsonHeaders, agent: false }, (incoming) => {
        incoming.resume().on('end', () => resolve(incoming.statusCode ?? 0));
      });
      outgoing.on('error', reject);
      outgoing.end(
        Buffer.concat([
          Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping","x":"'),
          Buffer.from([0xff, 0xc0, 0x80]),
          Buffer.from('"}'),
        ]),
      );
    });
    expect([200, 400]).toContain(status);
  });
});

describe('sizes', () => {
  test('a body over the limit is 413, whether its length is announced or not', async () => {
    const { request } = await import('node:http');
    const send = (headers: Record<string, string>, bytes: number) =>
      new Promise<number>((resolve, reject) => {
        const outgoing = request(
          hub.mcp(),
          { method: 'POST', headers: { ...jsonHeaders, ...headers }, agent: false },
          (incoming) => {
            resolve(incoming.statusCode ?? 0);
            outgoing.destroy();
          },
        );
        outgoing.on('error', reject);
        outgoing.flushHeaders();
        // Never ended: the hub has to answer as soon as it has seen too much, not when it has seen it all.
        if (bytes > 0) outgoing.write(Buffer.alloc(bytes - 1, 0x20), () => outgoing.write(' '));
      });
    expect(await send({ 'content-length': String(1024 ** 4) }, 0)).toBe(413);
    expect(await send({ 'transfer-encoding': 'chunked' }, mcpLimits.requestBodyBytes + 1)).toBe(413);
    expect((await rpc(hub.mcp(), 'ping', {})).result).toEqual({});
  });

  test('an argument of eight megabytes arrives whole', async () => {
    const tag = 'ä'.repeat(4 * 1024 * 1024);
    const answer = await rpc(hub.mcp(), 'tools/call', { name: 'alpha-delay', arguments: { tag } });
    expect(answer.result?.content?.[0]?.text === tag).toBe(true);
  });

  test('headers beyond reason are refused and survived', async () => {
    const answer = await rpc(hub.mcp(), 'ping', {}, { headers: { 'x-much': 'x'.repeat(40_000) } });
    expect(answer.status).toBe(431);
    expect((await rpc(hub.mcp(), 'ping', {})).result).toEqual({});
  });
});

test('methods that an MCP endpoint does not have are 405 and say which it has', async () => {
  for (const method of ['PUT', 'PATCH', 'HEAD']) {
    const answer = await raw(hub.mcp(), { method, ...(method !== 'HEAD' && { body: {} }) });
    expect(answer.status, method).toBe(405);
    expect(answer.headers.allow, method).toContain('POST');
  }
});

test('paths that are nothing are 404, never a hub error', async () => {
  for (const path of [
    '/',
    '/mcpx',
    '/messages/x',
    '/%00',
    '/%',
    '/%ff',
    '/mcp/%',
    '/mcp/%ff',
    '//mcp',
    '/mcp/../../etc/passwd',
    '/mcp/a/b/c/d',
    `/mcp/${'a'.repeat(5000)}`,
    '/__proto__',
    '/mcp/%2e%2e%2f',
    '/mcp?x=%',
  ]) {
    const answer = await rpc(`${hub.url}${path}`, 'tools/list', {});
    expect(answer.status, path).toBeLessThan(500);
    const got = await raw(`${hub.url}${path}`, { method: 'GET', headers: { accept: '*/*' } });
    expect(got.status, path).toBeLessThan(500);
  }
  for (const scope of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '%2e%2e', ' ']) {
    const answer = await rpc(hub.mcp(encodeURIComponent(scope)), 'tools/list', {});
    expect([answer.status, answer.result?.tools], scope).toEqual([200, []]);
  }
});

test('a request that dribbles in does not hold up the others', async () => {
  const { connect } = await import('node:net');
  const { port } = new URL(hub.url);
  const sockets = Array.from({ length: 50 }, () => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"json`,
    );
    return socket;
  });
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      rpc(hub.mcp(), 'tools/call', { name: 'alpha-delay', arguments: { tag: 'quick' } }),
    ),
  );
  expect(answers.every((answer) => answer.result?.content?.[0]?.text === 'quick')).toBe(true);
  for (const socket of sockets) socket.destroy();
});

test('more streams of one session than the hub allows are refused, not piled up', async () => {
  const own = await session(hub.mcp());
  const streams = await Promise.all(Array.from({ length: 40 }, () => stream(hub.mcp(), { headers: own.headers })));
  const open = streams.filter((one) => one.status === 200 && !one.ended());
  expect(streams.every((one) => one.status < 500)).toBe(true);
  await expect.poll(() => open.filter((one) => !one.ended()).length).toBeLessThanOrEqual(mcpLimits.streamsPerSession);
  expect((await own.request('ping')).result).toEqual({});
});
