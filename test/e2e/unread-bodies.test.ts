import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { atEnd } from '../kit/at-end.ts';
import { login } from '../kit/api.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// A request may be refused before its body was read. A client that sends everything before it looks, as many do,
// finds the answer all the same, and the connection good for the next request.

const megabyte = Buffer.alloc(1024 * 1024, 0x20);
/** Slower than a sender in the same machine: the rest comes long after the hub has made up its mind. */
const paceMs = 40;

let hub: TestHub;
let admin: string;
beforeAll(async () => {
  hub = await testHub({ mcpServers: {} });
  admin = await login(hub);
});

test.each<[what: string, path: string, status: number, headers: Record<string, string>]>([
  ['a body too large', '/api/groups', 413, {}],
  ['a body that was not asked for', '/api/nothing', 404, {}],
  ['a credential that does not hold', '/api/groups', 401, { authorization: 'Bearer nonsense' }],
  ['no form', '/api/mcpb/upload', 415, {}],
  ['a body where none is expected', '/api/servers/none/reload', 404, {}],
  ['an MCP message too large', '/mcp', 413, {}],
  ['a wrong type for MCP', '/mcp', 415, { 'content-type': 'text/plain' }],
  ['a foreign page', '/api/groups', 403, { origin: 'https://evil.example' }],
])('%s', async (_, path, status, more) => {
  const { hostname, port, host } = new URL(hub.url);
  const socket = connect(Number(port), hostname);
  atEnd(() => void socket.destroy());
  let failure: Error | undefined;
  socket.on('error', (error) => (failure = error));
  const megabytes = path === '/mcp' ? 20 : 16;
  const headers = {
    host,
    'content-type': 'application/json',
    authorization: `Bearer ${admin}`,
    ...more,
    'content-length': String(megabytes * megabyte.length),
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.write(`POST ${path} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`);
  for (let i = 0; i < megabytes && !socket.destroyed; i++) {
    if (!socket.write(megabyte)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
    await new Promise((resolve) => setTimeout(resolve, paceMs));
  }
  socket.write(`GET /health HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
  // Only now does it look.
  let said = '';
  socket.setEncoding('utf8').on('data', (text: string) => (said += text));
  await until('both answers are there', () => failure !== undefined || said.includes('"uptime"'));
  expect(failure).toBeUndefined();
  expect([...said.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => Number(code))).toEqual([status, 200]);
});
