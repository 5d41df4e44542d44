import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect as tcp } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atEnd } from '../kit/at-end.ts';
import { hostileHttp, hostileHttpProcess, hostileStdio, temporaryFolder } from '../kit/hostile.ts';
import { descendants, isAlive, openFiles } from '../kit/processes.ts';
import { raw, rpc, stream } from '../kit/raw.ts';
import { legacySession, session } from '../kit/sessions.ts';
import { hubProcess, testHub } from '../kit/test-hub.ts';
import type { HubProcess, TestHub } from '../kit/test-hub.ts';
import { until, within } from '../kit/until.ts';

// Floods, leaks and slow readers: what does not kill at once must not kill slowly either.

const good = await hostileHttp({ name: 'good', tools: ['echo', 'delay'] });
const names = async (hub: Pick<TestHub, 'mcp'>, scope = '') =>
  ((await rpc(hub.mcp(scope), 'tools/list', {})).result?.tools ?? []).map((tool) => tool.name);
const memoryMb = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

async function answers(hub: Pick<TestHub, 'mcp'>): Promise<void> {
  const call = rpc(hub.mcp(), 'tools/call', { name: 'good-delay', arguments: { tag: 'fine' } });
  expect((await within('a call to the good server', call)).result?.content?.[0]?.text).toBe('fine');
}

test('five hundred clients that come, call and vanish leave nothing open behind', async () => {
  const web = await hostileHttpProcess({ name: 'web' });
  const pipe = hostileStdio({ name: 'good' });
  const hub = await hubProcess({ mcpServers: { good: pipe.config, web: web.config } });
  await hub.connected(2);
  const round = async () => {
    await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const own = await session(hub.mcp());
        const events = await own.listen();
        if (i % 2 === 0) await legacySession(hub.sse()).then((legacy) => legacy.stream.close());
        await own.call(i % 2 === 0 ? 'good-delay' : 'web-delay', { tag: 'x' });
        const open = await own.begin('tools/call', { name: 'web-hang', arguments: {}, _meta: { progressToken: 1 } });
        open.close();
        events.close();
      }),
    );
  };
  await round();
  await until('the first round is over', () => openFiles(hub.pid) < 200);
  const before = openFiles(hub.pid);
  const family = descendants(hub.pid).length;
  for (let i = 0; i < 9; i++) await round();
  await until('files are closed', () => openFiles(hub.pid) <= before + 50);
  expect(descendants(hub.pid)).toHaveLength(family);
  // Thousands of requests later: no leak of tens of kilobytes each. The rest is the garbage collector's affair.
  expect(memoryMb(hub.pid)).toBeLessThan(280);
});

test('five thousand sessions that are begun and forgotten cost the hub next to nothing', async () => {
  const hub = await hubProcess({ mcpServers: { good: good.config } });
  await hub.connected(1);
  const begin = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x'.repeat(2_000), version: '1' } },
  };
  const first = await session(hub.mcp());
  const before = memoryMb(hub.pid);
  for (let i = 0; i < 100; i++) {
    await Promise.all(Array.from({ length: 50 }, () => raw(hub.mcp(), { body: begin })));
  }
  expect(memoryMb(hub.pid) - before).toBeLessThan(150);
  expect((await first.request('tools/list')).result?.tools?.length).toBe(2);
});

// What the kernel lets wait at most.
const mayWait = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));

test.skipIf(mayWait < 1_000)(
  'a thousand clients that come while the hub computes are connected, and each is answered',
  async () => {
    const hub = await hubProcess({ mcpServers: {} });
    const { hostname, port } = new URL(hub.url);
    const ask = () =>
      new Promise<{ readonly answered: Promise<string> }>((resolve, reject) => {
        const socket = tcp(Number(port), hostname);
        atEnd(() => void socket.destroy());
        const answered = new Promise<string>((done) => {
          socket.once('data', (chunk) => done(chunk.toString('latin1')));
          socket.on('error', (error) => (reject(error), done(error.message)));
        });
        socket.once('connect', () => {
          socket.write('GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
          resolve({ answered });
        });
      });
    process.kill(hub.pid, 'SIGSTOP');
    const connected = within('all are connected', Promise.all(Array.from({ length: 1_000 }, ask)));
    const asked = await connected.finally(() => process.kill(hub.pid, 'SIGCONT'));
    const heard = await Promise.all(asked.map(({ answered }) => answered));
    expect(heard.filter((text) => !text.startsWith('HTTP/1.1 200 '))).toEqual([]);
  },
);

test('a reader that does not read holds up no other and costs a bounded amount of memory', async () => {
  const hub = await hubProcess({ mcpServers: { good: good.config, big: hostileStdio({ name: 'big' }).config } });
  await hub.connected(2);
  const { port } = new URL(hub.url);
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'big-big', arguments: { bytes: 8 * 1024 * 1024 } },
  });
  for (let i = 0; i < 20; i++) {
    const socket = tcp(Number(port), '127.0.0.1');
    socket.on('error', () => {});
    atEnd(() => void socket.destroy());
    socket.pause();
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  }
  for (let i = 0; i < 20; i++) await answers(hub);
  expect(memoryMb(hub.pid)).toBeLessThan(1_200);
});

test('a stream that is not read is let go before it fills the memory', async () => {
  const server = hostileStdio({ name: 'good' });
  const hub = await hubProcess({ mcpServers: { good: server.config } });
  await hub.connected(1);
  const { port } = new URL(hub.url);
  const own = await session(hub.mcp());
  const params = {
    name: 'good-progress',
    arguments: { steps: 400, ms: 1, tag: 'p'.repeat(100_000) },
    _meta: { progressToken: 1 },
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const sockets = Array.from({ length: 5 }, () => {
    const socket = tcp(Number(port), '127.0.0.1');
    socket.on('error', () => {});
    atEnd(() => void socket.destroy());
    socket.pause();
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nMcp-Session-Id: ${own.id}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    return socket;
  });
  // 5 x 40 MB are said; each stream may pile up 4 MB.
  await until(
    'all calls arrived',
    () => server.journal().filter((entry) => entry.method === 'tools/call').length === 5,
  );
  for (let i = 0; i < 40; i++) {
    const quick = await within('a call beside it', own.call('good-delay', { tag: 'quick' }));
    expect(quick.result?.content?.[0]?.text).toBe('quick');
  }
  expect(memoryMb(hub.pid)).toBeLessThan(600);
  expect(sockets).toHaveLength(5);
});

test('a server that says ten thousand times a second that its tools changed is listed at a bearable pace', async () => {
  const storm = hostileStdio({ name: 'storm', tools: ['echo', 'delay'], stormsPerSecond: 10_000 });
  // Lists are read from the moment it is connected, however long that takes.
  const began = performance.now();
  const hub = await testHub({ mcpServers: { storm: storm.config, good: good.config } });
  await hub.connected(2);
  const own = await session(hub.mcp());
  const events = await own.listen();
  for (let i = 0; i < 30; i++) {
    await answers(hub);
    expect((await own.call('storm-delay', { tag: 'x' })).result?.content?.[0]?.text).toBe('x');
  }
  await until('some time has passed', () => performance.now() - began > 1_000);
  const seconds = (performance.now() - began) / 1_000;
  expect(storm.received('tools/list').length).toBeLessThan(15 * seconds + 10);
  expect(events.messages.filter((message) => message.method === 'notifications/tools/list_changed')).toEqual([]);
});

test('a hundred megabytes of last words and errors do not drown the hub', async () => {
  const loud = hostileStdio({ name: 'loud', tools: ['echo'], stderrBytes: 100 * 1024 * 1024 });
  const hub = await hubProcess({ mcpServers: { loud: loud.config, good: good.config } });
  await until('the good server works', async () => (await names(hub)).includes('good-delay'));
  await answers(hub);
  await until('the loud one is listed', async () => (await names(hub)).includes('loud-echo'));
  expect(hub.output().length).toBeLessThan(5 * 1024 * 1024);
  expect(memoryMb(hub.pid)).toBeLessThan(500);
});

test('giant names, descriptions, schemas and instructions are carried or refused, not choked on', async () => {
  const huge = 'x'.repeat(2 * 1024 * 1024);
  const giant = await hostileHttp({
    name: 'giant',
    instructions: huge,
    tools: [
      { name: huge, inputSchema: {} },
      {
        name: 'described',
        description: huge,
        inputSchema: {
          type: 'object',
          properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, {}])),
        },
      },
      'delay',
    ],
  });
  const hub = await testHub({ mcpServers: { giant: giant.config, good: good.config } });
  await until('the good server works', async () => (await names(hub)).includes('good-delay'));
  await answers(hub);
  await until('the giant is listed', async () => (await names(hub)).includes('giant-delay'));
  expect((await names(hub)).every((name) => name.length <= 64)).toBe(true);
  expect(
    (await rpc(hub.mcp(), 'tools/call', { name: 'giant-delay', arguments: { tag: 'x' } })).result?.content?.[0]?.text,
  ).toBe('x');
  const call = await rpc(hub.mcp('giant'), 'tools/call', { name: huge });
  expect(call.result?.structuredContent?.['tool'] === huge || call.error !== undefined).toBe(true);
});

test('a server that leaves its response streams open does not use up the connections to it', async () => {
  const web = await hostileHttp({ name: 'web', keepsStreams: true });
  const hub = await testHub({ mcpServers: { web: web.config } });
  await hub.connected(1);
  for (let i = 0; i < 10; i++) {
    const calls = Array.from({ length: 30 }, (_, n) =>
      rpc(hub.mcp(), 'tools/call', { name: 'web-delay', arguments: { tag: `${i}/${n}` } }),
    );
    const texts = (await within(`round ${i}`, Promise.all(calls))).map((answer) => answer.result?.content?.[0]?.text);
    expect(texts).toEqual(texts.map((_, n) => `${i}/${n}`));
  }
});

test.each([
  ['takes a call and never says more', { acceptsOnly: 'tools/call' }],
  ['answers another request than was asked', { mistakesIdOf: 'tools/call' }],
  ['answers another request than was asked, as JSON', { mistakesIdOf: 'tools/call', answers: 'json' }],
] as const)('a server that %s fails the call promptly, not by its time limit', async (_, options) => {
  const web = await hostileHttp({ name: 'web', ...options });
  const hub = await testHub({ mcpServers: { web: web.config } });
  await hub.connected(1);
  const answer = await within('the call', rpc(hub.mcp(), 'tools/call', { name: 'web-delay', arguments: { tag: 'x' } }));
  expect(answer.error?.code).toBeLessThan(0);
  expect(answer.error?.message).toBeTruthy();
});

test('a server that ended is noticed even when something it left behind holds its output open', async () => {
  const server = hostileStdio({ name: 's', leavesPipeOpen: true });
  const hub = await testHub({ mcpServers: { s: server.config } });
  await hub.connected(1);
  const holders = () => server.journal().flatMap((entry) => (entry.event === 'grandchild' ? [entry.child ?? 0] : []));
  const waiting = rpc(hub.mcp(), 'tools/call', { name: 's-hang' });
  await until('the call arrived', () => server.received('tools/call').length === 1);
  await server.control({ exit: 3 });
  expect((await within('the failing call', waiting)).error?.message).toContain('"s"');
  await until('it is back', async () => server.pids().length === 2 && (await hub.health()).servers.connected === 1);
  await until('what it left behind is gone', () => !isAlive(holders()[0] ?? 0));
});

test('a server removed in the middle of a call fails the call and says why', async () => {
  const gone = hostileStdio({ name: 'gone' });
  const mcpServers = { gone: gone.config, good: good.config };
  const hub = await testHub({ mcpServers });
  await hub.connected(2);
  const own = await session(hub.mcp());
  const waiting = [own.call('gone-hang'), own.call('gone-hang')];
  await until('the calls arrived', () => gone.received('tools/call').length === 2);
  hub.write({ mcpServers: { good: mcpServers.good } });
  for (const answer of await within('the failing calls', Promise.all(waiting)))
    expect(answer.error?.message).toContain('gone');
  await until('its process is gone', () => gone.pids().every((pid) => !isAlive(pid)));
  await answers(hub);
});

test('a tool switched off in the middle of a session is refused from then on', async () => {
  const server = await hostileHttp({ name: 'good' });
  const hub = await testHub({ mcpServers: { good: server.config } });
  await hub.connected(1);
  const own = await session(hub.mcp());
  expect((await own.call('good-echo')).result).toBeDefined();
  hub.write({ mcpServers: { good: { ...server.config, tools: { echo: { enabled: false } } } } });
  await until('it is refused', async () => (await own.call('good-echo')).error?.code === -32602);
  expect(server.received('initialize')).toHaveLength(1);
});

test('settings behind a link that is swapped, as Kubernetes does it, are followed', async () => {
  const folder = temporaryFolder();
  const [first, second] = [
    await hostileHttp({ name: 'a', tools: ['one'] }),
    await hostileHttp({ name: 'b', tools: ['two'] }),
  ];
  const version = (name: string, document: object) => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(document));
    return path;
  };
  const admin = {
    users: [
      { username: 'admin', password: '$2b$04$abcdefghijklmnopqrstuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu', isAdmin: true },
    ],
  };
  symlinkSync(version('v1.json', { ...admin, mcpServers: { a: first.config } }), join(folder, '..data'));
  symlinkSync(join(folder, '..data'), join(folder, 'settings.json'));
  const hub = await testHub({ env: { SETTINGS_PATH: join(folder, 'settings.json') } });
  await until('the first is listed', async () => (await names(hub)).includes('a-one'));
  symlinkSync(version('v2.json', { ...admin, mcpServers: { b: second.config } }), join(folder, '..new'));
  renameSync(join(folder, '..new'), join(folder, '..data'));
  await until('the second is listed', async () => (await names(hub)).join() === 'b-two');
  rmSync(join(folder, 'v1.json'));
});

test('settings with a byte order mark and Windows line ends are read', async () => {
  const folder = temporaryFolder();
  const text = JSON.stringify({ mcpServers: { good: good.config } }, null, 2).replaceAll('\n', '\r\n');
  writeFileSync(join(folder, 'mcp_settings.json'), `\uFEFF${text}`);
  const hub = await testHub({ folder });
  await until('the server is listed', async () => (await names(hub)).includes('good-delay'));
});

test('a compressed body, two session ids and odd framing are refused or answered, never a hub error', async () => {
  const hub: HubProcess = await hubProcess({ mcpServers: { good: good.config } });
  await hub.connected(1);
  const own = await session(hub.mcp());
  const zipped = await rpc(hub.mcp(), 'ping', {}, { headers: { 'content-encoding': 'gzip' } });
  expect([zipped.status, zipped.error?.message]).toEqual([415, expect.stringContaining('without Content-Encoding')]);
  expect((await rpc(hub.mcp(), 'ping', {}, { headers: { 'content-encoding': 'identity' } })).status).toBe(200);
  const twice = await rpc(
    hub.mcp(),
    'ping',
    {},
    { headers: { ...own.headers, 'mcp-session-id': `${own.id}, ${own.id}` } },
  );
  expect(twice.status).toBe(404);
  const { port } = new URL(hub.url);
  const say = (text: string) =>
    new Promise<string>((resolve) => {
      const socket = tcp(Number(port), '127.0.0.1');
      let heard = '';
      const done = () => {
        resolve(heard);
        socket.destroy();
      };
      socket.setTimeout(2_000, done);
      socket.on('data', (chunk) => {
        heard += chunk.toString('latin1');
        if (/^HTTP\/1\.1 (?!1)\d{3}/m.test(heard)) done();
      });
      socket.on('error', done).on('close', done);
      socket.write(text);
    });
  const host = `Host: 127.0.0.1:${port}\r\n`;
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  const post = `Content-Type: application/json\r\nAccept: */*\r\n`;
  for (const request of [
    `POST /mcp HTTP/1.0\r\n${host}${post}Content-Length: ${ping.length}\r\n\r\n${ping}`,
    `POST /mcp HTTP/1.1\r\n${host}${post}Expect: 100-continue\r\nContent-Length: ${ping.length}\r\n\r\n${ping}`,
    `POST /mcp HTTP/1.1\r\n${host}${post}Content-Length: ${ping.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `POST /mcp HTTP/1.1\r\n${host}${post}Content-Length: 5\r\nContent-Length: 40\r\n\r\n${ping}`,
    `POST http://127.0.0.1:${port}/mcp HTTP/1.1\r\n${host}${post}Content-Length: ${ping.length}\r\n\r\n${ping}`,
    `POST http://evil.example/mcp HTTP/1.1\r\n${host}${post}Content-Length: ${ping.length}\r\n\r\n${ping}`,
    `POST /mcp HTTP/1.1\r\n${post}Content-Length: ${ping.length}\r\n\r\n${ping}`,
    `POST /mcp HTTP/1.1\r\n${host}${host}${post}Content-Length: ${ping.length}\r\n\r\n${ping}`,
    `GET * HTTP/1.1\r\n${host}\r\n`,
    `OPTIONS * HTTP/1.1\r\n${host}\r\n`,
    `CONNECT 169.254.169.254:80 HTTP/1.1\r\n${host}\r\n`,
    `GET /mcp HTTP/1.1\r\n${host}Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    'NONSENSE\r\n\r\n',
    '\u0016\u0003\u0001\u0000',
  ]) {
    const heard = await say(request);
    expect(heard, request).not.toMatch(/^HTTP\/1\.\d 5(?!05)/);
  }
  expect((await own.request('ping')).result).toEqual({});
  expect(isAlive(hub.pid)).toBe(true);
});

test('two hundred listening streams are told of a change, and the callers do not wait for it', async () => {
  const server = await hostileHttp({ name: 'good' });
  const hub = await testHub({ mcpServers: { good: server.config } });
  await hub.connected(1);
  const listeners = await Promise.all(
    Array.from({ length: 200 }, async () => {
      const own = await session(hub.mcp());
      return stream(hub.mcp(), { headers: own.headers });
    }),
  );
  await rpc(hub.mcp(), 'tools/call', { name: 'good-grow', arguments: {} });
  await answers(hub);
  for (const one of listeners)
    await one.message('the change', (message) => message.method === 'notifications/tools/list_changed');
});
