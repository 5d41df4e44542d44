import { connect } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Hostile, hostileHttp } from '../kit/hostile.ts';
import { jsonHeaders, type Message, raw } from '../kit/raw.ts';
import { modernMeta, session } from '../kit/sessions.ts';
import { testHub, type TestHub } from '../kit/test-hub.ts';
import { within } from '../kit/until.ts';

// Whatever bytes come in: the right status, the right code, the right id, and no server hears of what was refused.

let hub: TestHub;
let server: Hostile;
let headers: Record<string, string>;
beforeAll(async () => {
  server = await hostileHttp({ name: 's', tools: ['echo'], resources: [{ uri: 'test://one', name: 'one' }] });
  hub = await testHub({ mcpServers: { s: server.config } });
  await hub.connected(1);
  ({ headers } = await session(hub.mcp()));
});

/** Sends bytes over a connection of their own, in these pieces, and answers everything that came back. */
async function pieces(parts: readonly Buffer[]): Promise<string> {
  const { hostname, port } = new URL(hub.url);
  const socket = connect(Number(port), hostname).setNoDelay();
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  for (const part of parts) await new Promise<void>((resolve) => socket.write(part, () => setImmediate(resolve)));
  await within('the answer', closed);
  return Buffer.concat(chunks).toString();
}

function request(body: string | Buffer, more: Record<string, string> = {}): Buffer {
  const bytes = Buffer.from(body);
  const lines = Object.entries({
    host: new URL(hub.url).host,
    ...jsonHeaders,
    ...headers,
    ...more,
    'content-length': String(bytes.length),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n`), bytes]);
}

const bodyOf = (answer: string): string => answer.slice(answer.indexOf('\r\n\r\n') + 4);

test('a request means the same wherever its bytes are cut, with a byte order mark and line breaks of any kind', async () => {
  const body =
    '\uFEFF{\r\n"jsonrpc":"2.0",\r"id":"ü€😀",\n"method":"tools/call","params":{"name":"s-echo","arguments":{"tag":"ü€😀"}}}';
  const whole = request(body);
  const expected = bodyOf(await pieces([whole]));
  expect(JSON.parse(expected)).toMatchObject({ id: 'ü€😀', result: { structuredContent: { tag: 'ü€😀' } } });
  const cuts = Array.from({ length: whole.length - 1 }, (_, i) => i + 1);
  // Twenty connections at a time.
  for (let from = 0; from < cuts.length; from += 20) {
    const answers = await Promise.all(
      cuts.slice(from, from + 20).map((at) => pieces([whole.subarray(0, at), whole.subarray(at)])),
    );
    for (const answer of answers) expect(bodyOf(answer)).toBe(expected);
  }
});

const rpcText = (members: string): string => `{"jsonrpc":"2.0",${members}}`;
const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;

const wrong: [what: string, body: string | Buffer, status: number, code: number, id: Message['id']][] = [
  ['nothing', '', 400, -32700, null],
  ['half an object', '{"jsonrpc":"2.0","id":1,"method":"tools/li', 400, -32700, null],
  ['two objects', `${rpcText('"id":1,"method":"ping"')}${rpcText('"id":2,"method":"ping"')}`, 400, -32700, null],
  ['UTF-16', Buffer.from(rpcText('"id":1,"method":"ping"'), 'utf16le'), 400, -32700, null],
  ['a byte that is no UTF-8', Buffer.from(rpcText('"id":"\xff","method":"ping"'), 'latin1'), 400, -32700, null],
  ['a byte order mark in the middle', '{"jsonrpc":\uFEFF"2.0","id":1,"method":"ping"}', 400, -32700, null],
  ['NaN', rpcText('"id":NaN,"method":"ping"'), 400, -32700, null],
  ['a text', '"ping"', 400, -32600, null],
  ['null', 'null', 400, -32600, null],
  ['an empty batch', '[]', 400, -32600, null],
  ['a batch', `[${rpcText('"id":1,"method":"ping"')}]`, 400, -32600, null],
  ['another JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600, null],
  ['no JSON-RPC', '{"id":1,"method":"ping"}', 400, -32600, null],
  ['an id of null', rpcText('"id":null,"method":"ping"'), 400, -32600, null],
  ['an id that is an object', rpcText('"id":{},"method":"ping"'), 400, -32600, null],
  ['an id past all numbers', rpcText('"id":1e999,"method":"ping"'), 400, -32600, null],
  ['a method that is a number', rpcText('"id":1,"method":7'), 400, -32600, null],
  ['an answer without an id', rpcText('"result":{}'), 400, -32600, null],
  ['an answer to nothing, with a method of null', rpcText('"id":1,"method":null,"result":{}'), 400, -32600, null],
  ['an unknown method', rpcText('"id":"x","method":"tools/no-such"'), 200, -32601, 'x'],
  ['a method of everybody’s prototype', rpcText('"id":1,"method":"constructor"'), 200, -32601, 1],
  ['the duplicate of an id', rpcText('"id":1,"id":2,"method":"tools/no-such"'), 200, -32601, 2],
  ['params that are a list', rpcText('"id":1,"method":"tools/call","params":["s-echo"]'), 200, -32602, 1],
  ['params that are deep', rpcText(`"id":1,"method":"tools/call","params":${deep}`), 400, -32600, null],
  ['no tool', rpcText('"id":1,"method":"tools/call","params":{}'), 200, -32602, 1],
  ['a tool that is an object', rpcText('"id":1,"method":"tools/call","params":{"name":{}}'), 200, -32602, 1],
  [
    'a name that is named twice',
    rpcText('"id":1,"method":"tools/call","params":{"name":"s-echo","name":"no"}'),
    200,
    -32602,
    1,
  ],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''].map((name): (typeof wrong)[number] => [
    `a tool called "${name}"`,
    rpcText(`"id":1,"method":"tools/call","params":{"name":"${name}","__proto__":{"polluted":1}}`),
    200,
    -32602,
    1,
  ]),
  ['a resource that is a number', rpcText('"id":1,"method":"resources/read","params":{"uri":7}'), 200, -32602, 1],
  ['a cursor of another client', rpcText('"id":1,"method":"tools/list","params":{"cursor":"bzE5OTk"}'), 200, -32602, 1],
  ['a level of no kind', rpcText('"id":1,"method":"logging/setLevel","params":{"level":"__proto__"}'), 200, -32602, 1],
  [
    'a task that does not exist',
    rpcText('"id":1,"method":"tasks/get","params":{"taskId":"__proto__"}'),
    200,
    -32602,
    1,
  ],
];

describe.each(wrong)('%s', (_, body, status, code, id) => {
  test('is refused as what it is', async () => {
    const before = server.journal().length;
    const answer = await pieces([request(body)]);
    const message = JSON.parse(bodyOf(answer)) as Message;
    expect([answer.slice(9, 12), message.error?.code, message.id]).toEqual([String(status), code, id]);
    expect(message.error?.message).not.toMatch(/\/home|\/tmp|node:|at \w+ \(/);
    expect(server.journal()).toHaveLength(before);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

test('an id of a megabyte comes back whole, and one of many digits as it was written', async () => {
  const long = 'x'.repeat(1_000_000);
  expect((JSON.parse(bodyOf(await pieces([request(rpcText(`"id":"${long}","method":"ping"`))]))) as Message).id).toBe(
    long,
  );
  expect(bodyOf(await pieces([request(rpcText('"id":12345678901234567890.10,"method":"ping"'))]))).toContain(
    '"id":12345678901234567890.10,',
  );
});

const meta = modernMeta();
const stateless = {
  'mcp-session-id': undefined,
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 's-echo',
};
const call = (name: unknown, own: unknown = meta) => ({ name, arguments: {}, _meta: own });

test.each<[string, unknown, Record<string, string | undefined>, number, number]>([
  ['no version header', call('s-echo'), { 'mcp-protocol-version': undefined }, 400, -32020],
  ['another version in the header', call('s-echo'), { 'mcp-protocol-version': '2025-11-25' }, 400, -32020],
  [
    'a version of the future',
    call('s-echo', { ...meta, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }),
    { 'mcp-protocol-version': '2099-01-01' },
    400,
    -32022,
  ],
  [
    'a version that is a number',
    call('s-echo', { ...meta, 'io.modelcontextprotocol/protocolVersion': 2026 }),
    {},
    400,
    -32602,
  ],
  ['no capabilities', call('s-echo', { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }), {}, 400, -32602],
  ['no method header', call('s-echo'), { 'mcp-method': undefined }, 400, -32020],
  ['another method in the header', call('s-echo'), { 'mcp-method': 'tools/list' }, 400, -32020],
  ['no name header', call('s-echo'), { 'mcp-name': undefined }, 400, -32020],
  ['another name in the header', call('s-echo'), { 'mcp-name': 's-other' }, 400, -32020],
  ['a name that is encoded wrongly', call('s-echo'), { 'mcp-name': '=?base64?czpl*?=' }, 400, -32020],
  ['a name that is no text', call({}), {}, 400, -32020],
  ['an unknown tool', call('s-nothing'), { 'mcp-name': 's-nothing' }, 200, -32602],
])(
  'a stateless request is refused as what it is, and no server hears of it: %s',
  async (_, params, more, status, code) => {
    const before = server.journal().length;
    const answer = await raw(hub.mcp(), {
      headers: { ...stateless, ...more },
      body: { jsonrpc: '2.0', id: 'x', method: 'tools/call', params },
    });
    expect([answer.status, answer.error?.code, answer.message.id]).toEqual([status, code, 'x']);
    expect(server.journal()).toHaveLength(before);
  },
);

test.each<[string, Record<string, string | undefined>, number]>([
  ['text', { 'content-type': 'text/plain' }, 415],
  ['no type', { 'content-type': undefined }, 415],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
  ['an unknown session', { 'mcp-session-id': 'x'.repeat(4_000) }, 404],
  ['an unknown revision', { 'mcp-protocol-version': '1999-01-01' }, 400],
])('headers that do not fit are refused: %s', async (_, more, status) => {
  const before = server.journal().length;
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 's-echo' } });
  expect((await raw(hub.mcp(), { headers: { ...headers, ...more }, body })).status).toBe(status);
  expect(server.journal()).toHaveLength(before);
});
