import { beforeAll, expect, test } from 'vitest';
import { type Hostile, hostileHttp } from '../kit/hostile.ts';
import { modern, session } from '../kit/sessions.ts';
import { testHub, type TestHub } from '../kit/test-hub.ts';

// Arguments that travel in headers too are the same in both, or nothing is called (2026-07-28, Streamable HTTP, Custom
// headers).

const tool = {
  name: 'query',
  inputSchema: {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      where: { type: 'object', properties: { shard: { type: 'integer', 'x-mcp-header': 'Shard' } } },
      dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
    },
  },
};

let hub: TestHub;
let server: Hostile;
beforeAll(async () => {
  server = await hostileHttp({ name: 's', tools: [tool, 'echo'] });
  hub = await testHub({
    mcpServers: { s: server.config },
    groups: [{ id: 'g', name: 'g', servers: [{ name: 's', tools: 'all', pinnedTools: ['query'] }] }],
  });
  await hub.connected(1);
});

const call = (args: Record<string, unknown>, headers: Record<string, string>, scope = 'g', name = 's-query') =>
  modern(hub.mcp(scope), 'tools/call', { name, arguments: args }, { headers });

const b64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;

test.each<[string, Record<string, unknown>, Record<string, string>]>([
  [
    'all three',
    { region: 'eu', where: { shard: 7 }, dry: false },
    { 'mcp-param-region': 'eu', 'MCP-PARAM-SHARD': '7', 'mcp-param-dry': 'false' },
  ],
  ['none given', {}, {}],
  ['null is none', { region: null }, {}],
  ['an integer in another spelling', { where: { shard: 42 } }, { 'mcp-param-shard': '42.0' }],
  ['encoded, though it need not be', { region: 'eu' }, { 'mcp-param-region': b64('eu') }],
  ['encoded, as it must be', { region: ' ü\n' }, { 'mcp-param-region': b64(' ü\n') }],
  ['what looks encoded, encoded', { region: '=?base64?eA==?=' }, { 'mcp-param-region': b64('=?base64?eA==?=') }],
  ['a header of another parameter', {}, { 'mcp-param-other': 'x' }],
])('a call goes through: %s', async (_, args, headers) => {
  const before = server.received('tools/call').length;
  expect((await call(args, headers)).result?.isError).toBeUndefined();
  expect((await call(args, headers, 's', 'query')).error).toBeUndefined();
  expect(server.received('tools/call')).toHaveLength(before + 2);
});

test.each<[string, Record<string, unknown>, Record<string, string>]>([
  ['another value', { region: 'eu' }, { 'mcp-param-region': 'us' }],
  ['another case', { region: 'eu' }, { 'mcp-param-region': 'EU' }],
  ['no header', { region: 'eu' }, {}],
  ['no argument', {}, { 'mcp-param-region': 'eu' }],
  ['null', { region: null }, { 'mcp-param-region': 'null' }],
  ['another number', { where: { shard: 42 } }, { 'mcp-param-shard': '43' }],
  ['no number', { where: { shard: 42 } }, { 'mcp-param-shard': '0x2a' }],
  ['an argument elsewhere', { shard: 42 }, { 'mcp-param-shard': '42' }],
  ['another word', { dry: true }, { 'mcp-param-dry': 'TRUE' }],
  ['encoding that is none', { region: 'eu' }, { 'mcp-param-region': '=?base64?%%%?=' }],
  ['characters that are none', { region: 'ü' }, { 'mcp-param-region': '\u00fc' }],
  ['an inherited member', { __proto__: { region: 'eu' } }, { 'mcp-param-region': 'eu' }],
])('a call is refused, and the server hears nothing: %s', async (_, args, headers) => {
  const before = server.journal().length;
  const answer = await call(args, headers);
  expect([answer.status, answer.error?.code, answer.message.id]).toEqual([400, -32020, 1]);
  expect(server.journal()).toHaveLength(before);
});

test('a tool that is pinned beside a search is listed, so its headers count there too', async () => {
  const refused = await call({ region: 'eu' }, { 'mcp-param-region': 'us' }, '$smart/g');
  expect([refused.status, refused.error?.code]).toEqual([400, -32020]);
  expect((await call({ region: 'eu' }, { 'mcp-param-region': 'eu' }, '$smart/g')).error).toBeUndefined();
  const hidden = await call({}, { 'mcp-param-region': 'us' }, '$smart/g', 's-echo');
  expect(hidden.error?.code).toBe(-32602);
});

test('older clients know nothing of it', async () => {
  const own = await session(hub.mcp('g'));
  expect(
    (await own.call('s-query', { region: 'eu' }, { headers: { 'mcp-param-region': 'us' } })).error,
  ).toBeUndefined();
});
