import { beforeAll, describe, expect, test } from 'vitest';
import type { Activity } from '../../src/core/activity.ts';
import { api, login, userToken } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// Calls of MCP clients that no server has seen; those over plain HTTP are in api-activity.test.ts.

const typed = {
  name: 'typed',
  inputSchema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
};

let hub: TestHub;
let admin: string;
let ann: string;
beforeAll(async () => {
  hub = await testHub({
    mcpServers: {
      alpha: { ...(await hostileHttp({ name: 'alpha', tools: [typed] })).config, visibility: 'public' },
      secret: { ...(await hostileHttp({ name: 'secret', tools: ['t'] })).config, visibility: 'private' },
    },
    groups: [{ id: 'g1', name: 'dev', servers: ['alpha'] }],
  });
  await hub.connected(2);
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann');
});

const records = async (token: string) => (await api(hub, 'GET', '/activities', { token })).body.data as Activity[];
const call = (scope: string, params: unknown) =>
  rpc(hub.mcp(scope), 'tools/call', params, { headers: { authorization: `Bearer ${ann}` } });
const viaSmart = (toolName: string, args: unknown = {}) => ({
  name: 'call_tool',
  arguments: { toolName, arguments: args },
});

describe('a call of an MCP client that is refused before any server sees it leaves one record', () => {
  test.each<[what: string, scope: string, params: unknown, record: [server: string, tool: string]]>([
    ['an unknown tool', '', { name: 'alpha-nothing' }, ['$unknown', 'alpha-nothing']],
    ['the same in a group', 'dev', { name: 'nothing' }, ['$unknown', 'nothing']],
    ['the same of one server', 'alpha', { name: 'nothing' }, ['alpha', 'nothing']],
    ['a hidden tool', '', { name: 'secret-t' }, ['$unknown', 'secret-t']],
    ['a tool of a hidden server', 'secret', { name: 't' }, ['$unknown', 't']],
    ['a tool of no server', 'nowhere', { name: 't' }, ['$unknown', 't']],
    ['no name', '', {}, ['$unknown', '']],
    ['a name without end', '', { name: 'x'.repeat(500) }, ['$unknown', 'x'.repeat(200)]],
    ['a tool that the search has in its place', '$smart', { name: 'alpha-typed' }, ['alpha', 'typed']],
    ['an unknown tool, by call_tool', '$smart', viaSmart('alpha-nothing'), ['$unknown', 'alpha-nothing']],
    ['a hidden tool, by call_tool', '$smart', viaSmart('secret-t'), ['$unknown', 'secret-t']],
    ['arguments that do not fit, by call_tool', '$smart', viaSmart('alpha-typed', { n: 'x' }), ['alpha', 'typed']],
  ])('%s', async (_, scope, params, [server, tool]) => {
    const before = await records(admin);
    const { result, error } = await call(scope, params);
    const told = error?.message ?? (result?.structuredContent as { error: string } | undefined)?.error;
    const after = await records(admin);
    const record = { status: 'refused', server, tool, username: 'ann', errorMessage: told, kind: 'call' };
    expect(after[0]).toMatchObject({ ...record, scope, sourceIp: '127.0.0.1' });
    expect(after).toHaveLength(before.length + 1);
    expect((await records(ann))[0]).toEqual(after[0]);
  });

  test('with the trace it belongs to', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    await call('', { name: 'nothing', _meta: { traceparent: `00-${trace}-b7ad6b7169203331-01` } });
    expect((await records(admin))[0]).toMatchObject({ traceId: trace });
  });

  test('and none for a prompt, nor a second one for what has reached a server', async () => {
    const before = await records(admin);
    await rpc(hub.mcp(''), 'prompts/get', { name: 'nothing' });
    expect(await records(admin)).toEqual(before);
    await call('', { name: 'alpha-typed', arguments: { n: 1 } });
    await call('$smart', viaSmart('alpha-typed', { n: 1 }));
    const after = await records(admin);
    expect(after.slice(0, 2).map(({ status }) => status)).toEqual(['success', 'success']);
    expect(after).toHaveLength(before.length + 2);
  });
});
