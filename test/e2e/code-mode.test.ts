import { beforeAll, describe, expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { type Hostile, hostileHttp } from '../kit/hostile.ts';
import { type AnyResult, rpc } from '../kit/raw.ts';
import { modern, session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Code mode (CONTRACT §11): `/mcp/$code`, search_tools and run_code.

let hub: TestHub;
let crm: Hostile;
let admin: string;

beforeAll(async () => {
  const rows = [{ name: 'ann' }, { name: 'bob' }];
  const schema = {
    type: 'object',
    properties: { q: { type: 'string', description: 'What to find' } },
    required: ['q'],
  };
  crm = await hostileHttp({
    tools: [
      { name: 'find', description: 'Finds customers', inputSchema: schema },
      { name: 'two-words', description: 'Has two words', inputSchema: { type: 'object' } },
      { name: 'broken', inputSchema: { type: 'object' } },
      { name: 'secret', inputSchema: { type: 'object' } },
      { name: 'silent', inputSchema: { type: 'object' } },
    ],
    results: {
      find: JSON.stringify({ content: [{ type: 'text', text: JSON.stringify(rows) }] }),
      'two-words': '{"content":[{"type":"text","text":"plain"}],"structuredContent":{"big":12345678}}',
      broken: '{"content":[{"type":"text","text":"It is broken"}],"isError":true}',
    },
  });
  const other = await hostileHttp({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
  hub = await testHub({
    mcpServers: { crm: { ...crm.config, tools: { secret: { enabled: false } } }, 'other-one': other.config },
    groups: [{ id: 'g', name: 'team', servers: ['crm'] }],
    systemConfig: { codeMode: { memoryMb: 32, calls: 5 } },
  });
  await hub.connected(2);
  admin = await login(hub);
});

interface Outcome {
  result?: unknown;
  error?: string;
  line?: number;
  column?: number;
  logs: string[];
  calls: number;
}
const asked = (code: unknown) => ({ name: 'run_code', arguments: { code } });
async function outcome(answer: Promise<{ result?: AnyResult | undefined }>): Promise<Outcome> {
  const { result } = await answer;
  const told = result?.structuredContent as unknown as Outcome;
  expect(JSON.parse(result?.content?.[0]?.text ?? '')).toEqual(told);
  expect(result?.isError).toBe(told.error !== undefined);
  return told;
}
const run = (code: unknown, path = '$code'): Promise<Outcome> => outcome(rpc(hub.mcp(path), 'tools/call', asked(code)));

describe('the endpoint', () => {
  test.each(['$code', '$code/team'])('%s has a search and a tool that runs code', async (path) => {
    const { tools } = (await rpc(hub.mcp(path), 'tools/list')).result ?? {};
    expect(tools?.map(({ name }) => name)).toEqual(['search_tools', 'run_code']);
    const call = await rpc(hub.mcp(path), 'tools/call', { name: 'call_tool', arguments: { toolName: 'crm-find' } });
    expect(call.message.error).toMatchObject({ code: -32602 });
  });

  test('the search declares what it finds', async () => {
    const search = { name: 'search_tools', arguments: { query: 'find customers' } };
    const tool = await until('the tool', async () => {
      const { result } = await rpc(hub.mcp('$code'), 'tools/call', search);
      const found = result?.structuredContent?.['tools'] as { declaration: string; name: string }[] | undefined;
      return found?.find(({ name }) => name === 'crm-find');
    });
    expect(tool.declaration).toBe('tools.crm.find(args: { q: string /* What to find */ }): Promise<any>');
    expect(tool).not.toHaveProperty('inputSchema');
  });

  test('serves a stateless client and a session', async () => {
    const code = 'return (await tools.crm.find({ q: "x" })).length';
    expect(await outcome(modern(hub.mcp('$code'), 'tools/call', asked(code)))).toMatchObject({ result: 2, calls: 1 });
    const client = await session(hub.mcp('$code'));
    expect(await outcome(client.call('run_code', { code }))).toMatchObject({ result: 2, calls: 1 });
  });
});

describe('code', () => {
  test.each([
    ['return 1 + 1', 2],
    ['return { a: [1, null] }', { a: [1, null] }],
    ['', undefined],
    ['const a = 1;', null],
    ['return await tools.crm.find({ q: "x" })', [{ name: 'ann' }, { name: 'bob' }]],
    ['return await tools.crm.two_words()', { big: 12_345_678 }],
    ['return await tools["crm"]["two-words"]({})', { big: 12_345_678 }],
    ['return (await Promise.all([1, 2].map((q) => tools.crm.find({ q: `${q}` })))).length', 2],
    ['try { await tools.crm.broken() } catch (error) { return error.message }', 'It is broken'],
  ])('%j gives %j', async (code, expected) => {
    const told = await run(code);
    if (expected === undefined) expect(told.error).toContain('needs "code"');
    else expect(told.result).toEqual(expected);
  });

  test('logs', async () => {
    expect(await run('console.log("a", 1, { b: 2 }); console.error("x"); return 0')).toMatchObject({
      logs: ['a 1 {"b":2}', 'x'],
    });
  });

  test.each([
    ['let a = 1;\nlet b = ;', 2],
    ['\n\nthrow new Error("own")', 3],
    ['const a = null;\n\n  a.b()', 3],
    ['await tools.crm.find({ q: "x" });\nreturn await tools.crm.broken()', 2],
    [
      'const all = ["x", 1]\nreturn await Promise.all(\n  all.map((q) => tools.crm.find({ q, more: [] }).then(() => tools.crm.nothing())))',
      3,
    ],
  ])('%j fails with its place', async (code, line) => {
    expect(await run(code)).toMatchObject({ error: expect.any(String), line, column: expect.any(Number) });
  });

  test.each([
    ['let text = "x"; while (true) text += text', 'memory'],
    ['const all = []; for (let i = 0; i < 60; i++) all.push(new Uint8Array(1e6)); return all.length', 'memory'],
    ['const all = []; while (true) all.push({})', 'memory'],
    ['const all = []; while (true) all.push(Promise.resolve(all))', 'memory'],
    // There would be room for it: what is around the code is not in its bound.
    ['return new ArrayBuffer(33 * 1024 * 1024).byteLength', 'memory'],
    ['const f = () => f(); f()', 'stack'],
    ['for (let i = 0; i < 9; i++) await tools.crm.find({ q: "x" })', '5 calls'],
    ['return await tools.crm.nothing()', 'no tool crm.nothing'],
    ['return await tools.crm.secret()', 'no tool crm.secret'],
    ['return await tools.crm.find("x")', 'must be an object'],
    ['await tools.crm.find({ q: "x".repeat(5e6) })', 'characters of arguments'],
  ])('%j is told why it ended', async (code, why) => {
    expect((await run(code)).error).toContain(why);
  });

  test('may take nearly all of its memory at once', async () => {
    const bytes = 31 * 1024 * 1024;
    expect((await run(`return new ArrayBuffer(${bytes}).byteLength`)).result).toBe(bytes);
  });

  test('that takes too long is ended, whatever it waits for', async () => {
    const set = (codeMode: object | null) => api(hub, 'PUT', '/system-config', { token: admin, body: { codeMode } });
    expect((await set({ timeoutSeconds: 1 })).status).toBe(200);
    await crm.control({ set: { silentOn: ['tools/call'] } });
    for (const code of ['while (true) {}', 'await new Promise(() => {})', 'return await tools.crm.silent()'])
      expect((await run(code)).error).toContain('longer than 1 s');
    await crm.control({ set: { silentOn: [] } });
    expect((await set({ timeoutSeconds: 60 })).status).toBe(200);
  });

  test('runs twice at the same time for one caller, and no more', async () => {
    await crm.control({ set: { silentOn: ['tools/call'] } });
    const clients = await Promise.all([session(hub.mcp('$code')), session(hub.mcp('$code'))]);
    const before = crm.received('tools/call').length;
    const streams = clients.map((one) =>
      one.begin('tools/call', asked('return await tools.crm.silent()'), { id: 'x' }),
    );
    await until('both wait', () => crm.received('tools/call').length === before + 2);
    const third = await rpc(hub.mcp('$code'), 'tools/call', asked('return 1'));
    expect(third.message.error).toMatchObject({ code: -32000, message: expect.stringContaining('Too much code') });
    // No client leaves meanwhile: what is cancelled ends by that alone.
    for (const one of clients) await one.notify('notifications/cancelled', { requestId: 'x' });
    await until('there is room', async () => (await rpc(hub.mcp('$code'), 'tools/call', asked('return 1'))).result);
    for (const stream of await Promise.all(streams)) stream.close();
    await crm.control({ set: { silentOn: [] } });
  });

  test('waits for many calls at once without a warning of Node', async () => {
    const set = (calls: number) =>
      api(hub, 'PUT', '/system-config', { token: admin, body: { codeMode: { memoryMb: 32, calls } } });
    const warnings: string[] = [];
    const warned = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', warned);
    await set(30);
    const code = 'return (await Promise.all(Array.from({ length: 30 }, () => tools.crm.find({ q: "x" })))).length';
    expect(await run(code)).toMatchObject({ result: 30, calls: 30 });
    await set(5);
    process.off('warning', warned);
    expect(warnings).toEqual([]);
  });

  test('has bounds that the settings name', async () => {
    const refused = await api(hub, 'PUT', '/system-config', {
      token: admin,
      body: { codeMode: { timeoutSeconds: 0 } },
    });
    expect(refused.status).toBe(400);
  });
});

describe('what leads out of the sandbox', () => {
  test.each([
    'typeof require',
    'typeof process',
    'typeof fetch',
    'typeof setTimeout',
    'typeof WebAssembly',
    'typeof Worker',
    'typeof std',
    'typeof os',
    'typeof globalThis.__call',
    'typeof (0, eval)("this").process',
    'typeof new Function("return this")().process',
    'typeof tools.constructor.constructor',
    'typeof Object.getPrototypeOf(async () => 0).constructor("return this")().process',
  ])('%s is undefined', async (expression) => {
    const told = await run(`return String(${expression})`);
    if (expression.includes('tools.constructor')) expect(told.result).toBe('function');
    else expect(told.result).toBe('undefined');
  });

  test('modules cannot be loaded', async () => {
    expect((await run('return await import("node:fs")')).error).toBeTruthy();
  });

  test('one run leaves nothing to the next', async () => {
    await run('globalThis.left = 1; Object.prototype.left = 1; JSON.stringify = () => "x"; return 0');
    expect((await run('return String(globalThis.left) + ({}).left')).result).toBe('undefinedundefined');
  });

  test('what a call is answered with is data, whatever the code has done to the functions it uses', async () => {
    const code =
      'JSON.parse = () => ({ value: 5 }); JSON.stringify = () => "{}"; return await tools.crm.find({ q: "x" })';
    expect((await run(code)).result).toEqual([{ name: 'ann' }, { name: 'bob' }]);
  });
});

describe('each call of the code', () => {
  test('stays in the group', async () => {
    expect((await run('return await tools["other-one"].echo({})', '$code/team')).error).toContain('no tool');
    expect((await run('return await tools["other-one"].echo({})')).error).toBeUndefined();
    expect((await run('return await tools.crm.find({ q: "" })', '$code/none')).error).toContain('no tool');
  });

  test('is of the endpoint of a group, and not of a server of that name', async () => {
    expect((await run('return await tools.crm.find({ q: "x" })', '$code/crm')).error).toContain('no tool');
  });

  test('is told to policies with the name of the client, and run_code is decided about itself', async () => {
    const set = (policies: object[]) => api(hub, 'PUT', '/system-config', { token: admin, body: { policies } });
    const named = 'when { context has client && context.client == "raw" }';
    await set([{ id: 'c', text: `forbid(principal, action, resource == Tool::"crm/find") ${named};` }]);
    const code = 'return await tools.crm.find({ q: "x" })';
    const told = await outcome(modern(hub.mcp('$code'), 'tools/call', asked(code)));
    expect(told.error).toContain('"c"');
    await set([{ id: 'r', text: 'forbid(principal, action, resource == Tool::"$hub/run_code");' }]);
    const refused = await rpc(hub.mcp('$code'), 'tools/call', asked('return 1'));
    expect(refused.message.error).toMatchObject({ code: -32001, data: { policy: 'r' } });
    const { body } = await api(hub, 'GET', '/activities?limit=1', { token: admin });
    expect(body.data).toMatchObject([{ server: '$hub', tool: 'run_code', status: 'refused' }]);
    await set([]);
  });

  test('is decided and recorded', async () => {
    const set = (policies: object[]) => api(hub, 'PUT', '/system-config', { token: admin, body: { policies } });
    await set([
      {
        id: 'p',
        text: '@message("Not that one.") forbid(principal, action, resource == Tool::"crm/find") when { context.arguments.q == "bad" };',
      },
    ]);
    expect((await run('return await tools.crm.find({ q: "bad" })')).error).toContain('Not that one.');
    expect((await run('return (await tools.crm.find({ q: "good" })).length')).result).toBe(2);
    await set([]);
    const { body } = await api(hub, 'GET', '/activities?limit=2&tool=find', { token: admin });
    expect(body.data).toMatchObject([
      { server: 'crm', tool: 'find' },
      { server: 'crm', tool: 'find' },
    ]);
  });
});

test('a client that leaves ends its code', async () => {
  const client = await session(hub.mcp('$code'));
  const before = crm.received('tools/call').length;
  const code = 'for (;;) await tools.crm.find({ q: "again" })';
  const stream = await client.begin('tools/call', asked(code), { id: 'mine' });
  await until('calls', () => crm.received('tools/call').length > before);
  await client.notify('notifications/cancelled', { requestId: 'mine' });
  stream.close();
  const after = await run('return 1');
  expect(after.result).toBe(1);
});
