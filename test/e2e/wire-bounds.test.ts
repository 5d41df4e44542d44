import { connect } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { atEnd } from '../kit/at-end.ts';
import { cpuMsUntil } from '../kit/cpu.ts';
import { hostileHttp, hostileStdio } from '../kit/hostile.ts';
import { raw, rpc } from '../kit/raw.ts';
import { legacySession, modern, modernMeta, session } from '../kit/sessions.ts';
import { testHub } from '../kit/test-hub.ts';
import type { TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// What one client may cost, and what becomes of it when it leaves in an unusual way.

const server = hostileStdio({
  name: 's',
  tools: ['hang', 'big', 'log', { name: 'wide', description: 'd'.repeat(1_000_000), inputSchema: { type: 'object' } }],
  prompts: [{ name: 'ask' }],
  resources: [{ uri: 'x://open', name: 'open' }],
  resourceTemplates: [{ uriTemplate: 'x://open/{id}', name: 'open' }],
});
let hub: TestHub;
beforeAll(async () => {
  hub = await testHub({ mcpServers: { s: server.config } });
  await hub.connected(1);
});

const hang = (tag: string, id: string | number = tag) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 's-hang', arguments: { tag } },
});
const arrived = (tag: string) =>
  server.received('tools/call').find((call) => (call.params['arguments'] as { tag?: string } | undefined)?.tag === tag);
const cancelled = (tag: string) =>
  until(`the cancellation of ${tag} arrived`, () =>
    server.received('notifications/cancelled').some((note) => note.params['requestId'] === arrived(tag)?.id),
  );

test('requests sent ahead on one connection leave nothing behind when it breaks', async () => {
  const { hostname, port, host } = new URL(hub.url);
  const socket = connect(Number(port), hostname);
  atEnd(() => void socket.destroy());
  const post = (tag: string) => {
    const body = JSON.stringify(hang(tag));
    return `POST /mcp HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  };
  socket.write(['ahead-1', 'ahead-2', 'ahead-3'].map(post).join(''));
  await until('the first call arrived', () => arrived('ahead-1'));
  // By the same pipe, so whatever was sent ahead is there before it.
  await rpc(hub.mcp(), 'tools/call', { name: 's-log', arguments: {} });
  socket.destroy();
  for (const tag of ['ahead-1', 'ahead-2', 'ahead-3'].filter((tag) => arrived(tag))) await cancelled(tag);
});

test('an answer of eight megabytes arrives over a legacy stream', async () => {
  const own = await legacySession(hub.sse());
  const { result } = await own.request('tools/call', { name: 's-big', arguments: { bytes: 8_000_000 } });
  expect(result?.content?.[0]?.text).toHaveLength(8_000_000);
  expect(own.stream.ended()).toBe(false);
});

test('a call can be cancelled however its id is spelled', async () => {
  const own = await session(hub.mcp());
  const body = JSON.stringify(hang('spelled', 'e')).replace('"id":"e"', '"id":"\\u00e9"');
  const pending = raw(hub.mcp(), { headers: own.headers, body });
  await until('the call arrived', () => arrived('spelled'));
  await own.notify('notifications/cancelled', { requestId: 'é' });
  await cancelled('spelled');
  await pending;
});

test('a call in a batch can be cancelled although another of the batch is answered already', async () => {
  const own = await session(hub.mcp(), { protocolVersion: '2025-03-26' });
  const body = [{ jsonrpc: '2.0', id: 'p', method: 'ping' }, hang('batched')];
  const pending = raw(hub.mcp(), { headers: own.headers, body });
  await until('the call arrived', () => arrived('batched'));
  await own.notify('notifications/cancelled', { requestId: 'batched' });
  await cancelled('batched');
  await pending;
});

test('a small batch cannot ask for an answer without bounds', async () => {
  const own = await session(hub.mcp(), { protocolVersion: '2025-03-26' });
  const body = Array.from({ length: 100 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }));
  const { text, message } = await raw(hub.mcp(), { headers: own.headers, body });
  expect(text.length).toBeLessThan(70_000_000);
  const answers = message as unknown as { id: number; result?: unknown; error?: { message: string } }[];
  expect(answers.map(({ id }) => id).sort((a, b) => a - b)).toEqual(body.map(({ id }) => id));
  expect(answers[0]?.result).toBeDefined();
  expect(answers.at(-1)?.error?.message).toContain('batch');
});

test('what a reference names twice reaches the server once', async () => {
  const before = server.received('completion/complete').length;
  const refs = [
    '"ref":{"type":"ref/resource","uri":"x://hidden"},"ref":{"type":"ref/resource","uri":"x://open/{id}"}',
    '"ref":{"type":"ref/resource","uri":"x://hidden","uri":"x://open/{id}"}',
    '"ref":{"type":"ref/prompt","name":"hidden","name":"s-ask","uri":"x"}',
  ];
  for (const ref of refs) {
    await raw(hub.mcp(), {
      body: `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{${ref},"argument":{"name":"id","value":""}}}`,
    });
  }
  const seen = server.received('completion/complete').slice(before);
  expect(seen).toHaveLength(3);
  for (const { text } of seen) expect(text).not.toContain('hidden');
});

test('a stateless request gets the log messages it asks for, from its level up', async () => {
  const remote = await hostileHttp({ name: 'r', tools: ['log'] });
  const own = await testHub({ mcpServers: { r: remote.config } });
  await own.connected(1);
  const logs = async (level: string) => {
    const meta = modernMeta({ 'io.modelcontextprotocol/logLevel': level });
    const answer = await modern(own.mcp(), 'tools/call', { name: 'r-log', arguments: { tag: level } }, { meta });
    return answer.messages
      .filter((message) => message.method === 'notifications/message')
      .map(({ params }) => params?.data);
  };
  expect(await logs('info')).toEqual(['info']);
  expect(await logs('error')).toEqual([]);
  expect(await logs('nonsense')).toEqual([]);
});

test('a path of slashes costs no time', async () => {
  const path = `/mcp/a${'/'.repeat(15_000)}b`;
  const body = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const cpuMs = (url: string) =>
    cpuMsUntil(async () => {
      for (let i = 0; i < 20; i++) await raw(url, { body });
    });
  const plain = await cpuMs(`${hub.url}/mcp/a`);
  expect(await cpuMs(`${hub.url}${path}`)).toBeLessThan(plain * 20 + 500);
});

test('a legacy stream of the global endpoint answers nothing once that is switched off', async () => {
  const own = await testHub({ mcpServers: { s: server.config } });
  await own.connected(1);
  const legacy = await legacySession(own.sse());
  expect((await legacy.request('tools/list')).result?.tools?.length).toBeGreaterThan(0);
  own.write({ mcpServers: { s: server.config }, systemConfig: { routing: { enableGlobalRoute: false } } });
  await until('it is switched off', async () => (await rpc(own.mcp(), 'tools/list', {})).status === 403);
  // 404 once the stream has ended, which it does then too.
  expect([403, 404]).toContain((await legacy.post({ jsonrpc: '2.0', id: 2, method: 'tools/list' })).status);
  await until('the stream has ended', () => legacy.stream.ended());
});
