import { beforeAll, describe, expect, test } from 'vitest';
import { api, keyToken, login, userToken } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { type AnyResult, rpc } from '../kit/raw.ts';
import { modern, session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// Large results in parts (CONTRACT §11).

const rows = Array.from({ length: 200 }, (_, n) => ({ n, city: n % 50 === 7 ? 'Bern' : 'x'.repeat(30) }));
let hub: TestHub;
let admin: string;
let ann: string;

beforeAll(async () => {
  const result = (value: unknown, more: object = {}) =>
    JSON.stringify({ content: [{ type: 'text', text: JSON.stringify(value) }], ...more });
  const schema = { type: 'object', properties: { rows: { type: 'array', minItems: 150 } }, required: ['rows'] };
  const big = await hostileHttp({
    tools: [
      { name: 'rows', inputSchema: { type: 'object' } },
      { name: 'strict', inputSchema: { type: 'object' }, outputSchema: schema },
      { name: 'whole', inputSchema: { type: 'object' } },
      { name: 'short', inputSchema: { type: 'object' } },
    ],
    results: {
      rows: result(rows),
      strict: result({ rows }, { structuredContent: { rows } }),
      whole: result(rows),
      short: result([1]),
    },
  });
  const config = { ...big.config, visibility: 'public', tools: { whole: { maxResultTokens: 0 } } };
  hub = await testHub({
    mcpServers: { limited: { ...config, maxResultTokens: 500 }, free: config },
    groups: [
      { id: 'g', name: 'small', servers: ['limited'], maxResultTokens: 200 },
      { id: 'h', name: 'none', servers: ['free'] },
    ],
  });
  await hub.connected(2);
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann');
});

interface More {
  handle: string;
  total: number;
  next?: number;
  matches?: number;
}
const moreOf = (result: AnyResult | undefined): More | undefined =>
  (result?.['_meta'] as Record<string, More> | undefined)?.['toolhub/more'];
const itemsOf = (result: AnyResult | undefined): unknown[] =>
  JSON.parse(result?.content?.[0]?.text ?? '[]') as unknown[];
const names = async (path: string): Promise<string[] | undefined> =>
  (await rpc(hub.mcp(path), 'tools/list')).result?.tools?.map(({ name }) => name);

test.each(['', 'small', 'limited', '$smart'])(
  'at "%s", where a limit is in force, there is a tool to read on',
  async (path) => {
    expect(await names(path)).toContain('read_result');
  },
);

test.each(['none', 'free'])('at "%s" there is none, and results are whole', async (path) => {
  expect(await names(path)).not.toContain('read_result');
  const { result } = await rpc(hub.mcp(path), 'tools/call', { name: 'free-rows', arguments: {} });
  expect(itemsOf(result)).toEqual(rows);
});

describe('a result that is too long', () => {
  test.each([
    ['', 'limited-rows'],
    ['limited', 'rows'],
    ['small', 'limited-rows'],
  ])('at "%s" comes in parts that together are all of it', async (path, name) => {
    const client = await session(hub.mcp(path));
    const first = (await client.call(name)).result;
    const found = itemsOf(first);
    let more = moreOf(first);
    expect(more).toMatchObject({ total: 200, next: found.length });
    while (more?.next !== undefined) {
      const { result } = await client.call('read_result', { handle: more.handle, from: more.next });
      found.push(...itemsOf(result));
      more = moreOf(result);
    }
    expect(found).toEqual(rows);
  });

  test("the group's limit is the smaller one here", async () => {
    const at = async (path: string) =>
      moreOf((await rpc(hub.mcp(path), 'tools/call', { name: 'limited-rows', arguments: {} })).result)?.next ?? 0;
    expect(await at('small')).toBeLessThan(await at(''));
  });

  test('is searched by words', async () => {
    const client = await session(hub.mcp());
    const more = moreOf((await client.call('limited-rows')).result);
    const { result } = await client.call('read_result', { handle: more?.handle, query: 'BERN "city"' });
    expect(itemsOf(result)).toEqual(rows.filter(({ city }) => city === 'Bern'));
    expect(moreOf(result)).toMatchObject({ matches: 4, total: 200 });
  });

  test('comes in parts through call_tool, and for stateless clients', async () => {
    const asked = { name: 'call_tool', arguments: { toolName: 'limited-rows' } };
    const more = moreOf((await rpc(hub.mcp('$smart'), 'tools/call', asked)).result);
    const read = { name: 'read_result', arguments: { handle: more?.handle, from: more?.next } };
    expect(itemsOf((await modern(hub.mcp('$smart'), 'tools/call', read)).result)[0]).toEqual(rows[more?.next ?? -1]);
  });

  test('stays valid against the output schema', async () => {
    const { result } = await rpc(hub.mcp(), 'tools/call', { name: 'limited-strict', arguments: {} });
    expect(moreOf(result)?.next).toBeLessThan(150);
    expect(result?.structuredContent).toEqual({ rows });
  });

  test.each(['limited-whole', 'limited-short'])('%s is whole', async (name) => {
    const { result } = await rpc(hub.mcp(), 'tools/call', { name, arguments: {} });
    expect(moreOf(result)).toBeUndefined();
  });

  test('is whole over REST', async () => {
    const answer = await api(hub, 'POST', '/tools/call/limited', {
      token: ann,
      body: { toolName: 'rows', arguments: {} },
    });
    expect(itemsOf(answer.body.data as AnyResult)).toEqual(rows);
    expect((await api(hub, 'GET', '/openapi.json', { token: ann })).text).not.toContain('read_result');
  });
});

describe('a handle', () => {
  const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

  test('belongs to its caller', async () => {
    const own = await rpc(hub.mcp(), 'tools/call', { name: 'limited-rows', arguments: {} }, as(ann));
    const read = { name: 'read_result', arguments: { handle: moreOf(own.result)?.handle } };
    expect((await rpc(hub.mcp(), 'tools/call', read, as(ann))).result?.isError).toBeUndefined();
    for (const options of [as(admin), {}]) {
      const other = (await rpc(hub.mcp(), 'tools/call', read, options)).result;
      expect(other?.isError).toBe(true);
      expect(JSON.stringify(other)).not.toContain('city');
    }
  });

  test('is read with a key that opens a group alone', async () => {
    const token = await keyToken(hub, admin, { accessType: 'groups', allowedGroups: ['small'] });
    const first = await rpc(hub.mcp('small'), 'tools/call', { name: 'limited-rows', arguments: {} }, as(token));
    const more = moreOf(first.result);
    const read = { name: 'read_result', arguments: { handle: more?.handle, from: more?.next } };
    const next = await rpc(hub.mcp('small'), 'tools/call', read, as(token));
    expect(itemsOf(next.result)[0]).toEqual(rows[more?.next ?? -1]);
  });

  test('ends with the access to its server', async () => {
    const client = await session(hub.mcp(), as(ann));
    const more = moreOf((await client.call('limited-rows')).result);
    const set = (enabled: boolean) => api(hub, 'POST', '/servers/limited/toggle', { token: admin, body: { enabled } });
    await set(false);
    expect((await client.call('read_result', { handle: more?.handle })).text).not.toContain('city');
    await set(true);
    await hub.connected(2);
  });

  test('takes null for what is left out', async () => {
    const client = await session(hub.mcp());
    const { handle } = moreOf((await client.call('limited-rows')).result) ?? {};
    const [nulls, none] = [
      await client.call('read_result', { handle, from: null, query: null }),
      await client.call('read_result', { handle }),
    ];
    expect(nulls.result).toEqual(none.result);
    expect(nulls.result?.isError).toBeUndefined();
  });

  test.each([{}, { handle: 'x' }, { handle: 5 }])('%j is an error that says what to do', async (args) => {
    const { result } = await rpc(hub.mcp(), 'tools/call', { name: 'read_result', arguments: args });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Call the tool again') }],
    });
  });

  test.each([{ from: -1 }, { from: 1.5 }, { from: 'x' }, { query: 5 }, { query: 'e '.repeat(1_000) }])(
    '%j is refused',
    async (args) => {
      const client = await session(hub.mcp());
      const more = moreOf((await client.call('limited-rows')).result);
      expect((await client.call('read_result', { handle: more?.handle, ...args })).result?.isError).toBe(true);
      expect(itemsOf((await client.call('read_result', { handle: more?.handle, from: 10_000 })).result)).toEqual([]);
    },
  );
});

test('the limit of one tool is set and taken away alone, by those who may change its server', async () => {
  const path = '/servers/free/tools/whole/max-result-tokens';
  const set = (maxResultTokens: unknown, token = admin) => api(hub, 'PUT', path, { token, body: { maxResultTokens } });
  const tools = async () => {
    const { body } = await api(hub, 'GET', '/servers/free', { token: admin });
    return (body.data as { config: { tools: object } }).config.tools;
  };
  const before = await tools();
  expect(before).toEqual({ whole: { maxResultTokens: 0 } });
  const [answer] = await Promise.all([
    set(500),
    api(hub, 'PUT', '/servers/free/tools/short/description', { token: admin, body: { description: 'Other words' } }),
  ]);
  expect(answer.body.data).toEqual({ item: 'whole', maxResultTokens: 500 });
  expect(await tools()).toMatchObject({
    whole: { maxResultTokens: 500 },
    short: { description: 'Other words' },
  });
  expect((await set(1)).status).toBe(400);
  expect((await set(500, await userToken(hub, admin, 'stranger'))).status).toBe(403);
  expect((await set(null)).body.data).toEqual({ item: 'whole', maxResultTokens: null });
  expect(await tools()).not.toMatchObject({ whole: { maxResultTokens: 500 } });
  expect((await set(0)).status).toBe(200);
});

test("MCPHub's member sets it, and 0 and null take it away", async () => {
  const set = (body: object) => api(hub, 'PUT', '/system-config', { token: admin, body });
  expect((await set({ toolResultCompression: { enabled: true, maxOutputTokens: 300 } })).status).toBe(200);
  expect(await names('free')).toContain('read_result');
  expect((await set({ toolResultCompression: { enabled: false } })).status).toBe(200);
  expect(await names('free')).not.toContain('read_result');
  expect((await set({ maxResultTokens: 1 })).status).toBe(400);
  expect((await set({ maxResultTokens: 1_000 })).status).toBe(200);
  expect(await names('free')).toContain('read_result');
  expect((await set({ maxResultTokens: null })).status).toBe(200);
  const group = await api(hub, 'PUT', '/groups/none', { token: admin, body: { maxResultTokens: 300 } });
  expect(group.body.data).toMatchObject({ maxResultTokens: 300 });
  expect(await names('none')).toContain('read_result');
});
