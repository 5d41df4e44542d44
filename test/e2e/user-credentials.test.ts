import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { api, keyToken, login, userToken } from '../kit/api.ts';
import { authorize, handClient } from '../kit/authorizing.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { documentOf, type RestApi, restApi } from '../kit/openapi.ts';
import { rpc } from '../kit/raw.ts';
import { json, scriptedHttp, type ScriptedHttp } from '../kit/scripted-http.ts';
import { legacySession, modern, session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// CONTRACT §8, Per-user credentials: each user's calls take along what that user set, and no other's (ContextForge
// #1078, #5043 are what happens otherwise).

/** A program that says with what it was started; without a token it does not run. */
const program = `
  if (!process.env.TOKEN) { console.error('TOKEN is not set'); process.exit(1); }
  console.error('started with ' + process.env.TOKEN + ' and ' + process.argv.slice(1).join(' '));
  require('readline').createInterface({ input: process.stdin }).on('close', () => console.error('ends with ' + process.env.TOKEN)).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const say = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
    if (method === 'initialize') return say({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'p', version: '1' } });
    if (method === 'tools/list') return say({ tools: [{ name: 'who', description: 'Says who it is', inputSchema: { type: 'object' } }] });
    if (method !== 'tools/call') return say({});
    const { TOKEN } = process.env;
    if (params.arguments.fail) return console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: 'no ' + TOKEN } }));
    say({ content: [{ type: 'text', text: JSON.stringify({ token: TOKEN, args: process.argv.slice(1), pid: process.pid }) }] });
  });
`;

async function remote(): Promise<ScriptedHttp> {
  return scriptedHttp(({ method, headers, message }, response) => {
    if (method === 'GET') return void response.writeHead(405).end();
    if (message.id === undefined) return void response.writeHead(202).end();
    const answer = (result: unknown) => json(response, { jsonrpc: '2.0', id: message.id, result });
    if (message.method === 'initialize')
      return answer({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'r', version: '1' },
      });
    if (message.method === 'tools/list') return answer({ tools: [{ name: 'who', inputSchema: { type: 'object' } }] });
    answer({ content: [{ type: 'text', text: JSON.stringify({ token: headers['x-api-key'] }) }] });
  });
}

const args = [{ target: 'args', name: 'team', label: 'Team' }];
const slots = [{ target: 'env', name: 'TOKEN', label: 'Token' }, ...args];
const header = [{ target: 'headers', name: 'X-Api-Key' }];

let hub: TestHub;
let web: ScriptedHttp;
let rest: RestApi;
let admin: string;
let ann: string;
let bob: string;
let annsKey: string;
let systemKey: string;

beforeAll(async () => {
  web = await remote();
  rest = await restApi();
  const document = documentOf(rest.origin, { '/who': { get: { operationId: 'who' } } });
  hub = await testHub({
    mcpServers: {
      prog: { command: process.execPath, args: ['-e', program, 'team=${credential:team}'], credentialTemplate: slots },
      web: { url: web.origin, credentialTemplate: header },
      rest: { openapi: { schema: document }, credentialTemplate: header },
      plain: { url: web.origin },
      hidden: { url: web.origin, credentialTemplate: header, visibility: 'private' },
    },
    systemConfig: { activityLog: { storeToolPayload: true } },
    env: { LOG_LEVEL: 'debug', HUBS_OWN: 'a secret of the hub' },
  });
  admin = await login(hub);
  const servers = ['prog', 'web', 'rest', 'plain'];
  [ann, bob] = [await userToken(hub, admin, 'ann', { servers }), await userToken(hub, admin, 'bob', { servers })];
  annsKey = await keyToken(hub, ann, { kind: 'user' });
  systemKey = await keyToken(hub, admin, { accessType: 'all' });
});

const set = (token: string, server: string, values: object) =>
  api(hub, 'PUT', `/credentials/${server}`, { token, body: { values } });
const mine = (name: string) => ({ 'env.TOKEN': `token-of-${name}`, 'args.team': `team-of-${name}` });
const auth = (token?: string) => (token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } });
const call = (token: string | undefined, server = 'prog', given = {}) =>
  rpc(hub.mcp(server), 'tools/call', { name: 'who', arguments: given }, auth(token));
const told = ({ result, text }: Awaited<ReturnType<typeof call>>) => {
  const said = result?.content?.[0]?.text;
  if (said === undefined) throw new Error(text);
  return JSON.parse(said) as { token?: string; args?: string[]; pid?: number };
};
const url = () => `${hub.url}/account/credentials`;
async function listed(server: string): Promise<void> {
  await until(`${server} lists its tools`, async () => {
    const { result } = await rpc(hub.mcp(server), 'tools/list', {}, auth(ann));
    return result?.tools?.some(({ name }) => name === 'who') === true;
  });
}

test('a user sees the slots and never a value; what is missing or no slot is refused by its path', async () => {
  const { body } = await api(hub, 'GET', '/credentials', { token: ann });
  expect(body.data).toMatchObject([
    {
      name: 'prog',
      configured: false,
      configuredSlots: [],
      updatedAt: null,
      slots: [
        { key: 'env.TOKEN', target: 'env', name: 'TOKEN', label: 'Token', configured: false },
        { key: 'args.team', target: 'args', name: 'team', label: 'Team', configured: false },
      ],
    },
    { name: 'web' },
    { name: 'rest' },
  ]);
  const wrong = await set(ann, 'prog', { 'env.TOKEN': 'a secret value\0', 'env.OTHER': 'x' });
  expect(wrong.status).toBe(400);
  expect(wrong.body.errors?.map(({ path }) => path)).toEqual([
    'values["env.TOKEN"]',
    'values["args.team"]',
    'values["env.OTHER"]',
  ]);
  expect(wrong.text).not.toContain('a secret value');
  expect((await set(ann, 'web', { 'headers.X-Api-Key': 'a\r\nb: c' })).status).toBe(400);
  expect((await set(ann, 'web', { 'headers.X-Api-Key': ' ' })).status).toBe(400);
  for (const name of ['plain', 'nowhere', 'hidden']) expect((await set(ann, name, {})).status).toBe(404);
  for (const token of [annsKey, systemKey]) expect((await set(token, 'prog', mine('x'))).status).toBe(403);
  expect((await api(hub, 'GET', '/credentials')).status).toBe(401);
});

test('who has set none is told where to, over every surface, and no server sees a call', async () => {
  await listed('web');
  const before = web.seen.length;
  for (const token of [ann, annsKey, systemKey, undefined]) {
    const refused = await call(token, 'web');
    expect(refused.error).toMatchObject({ code: -32001, data: { reason: 'credentials_required', url: url() } });
    const bare = await api(hub, 'POST', '/tools/web/who', { token, body: {} });
    expect([bare.status, bare.body]).toMatchObject([403, { error: 'credentials_required', url: url() }]);
  }
  for (const server of ['web', 'prog']) {
    const asked = await api(hub, 'POST', `/tools/call/${server}`, { token: ann, body: { toolName: 'who' } });
    expect([asked.status, asked.body]).toMatchObject([
      403,
      { success: false, error: 'credentials_required', url: url() },
    ]);
  }
  const smart = { name: 'call_tool', arguments: { toolName: 'web-who', arguments: {} } };
  expect((await modern(hub.mcp('$smart'), 'tools/call', smart, auth(ann))).error?.code).toBe(-32001);
  expect(web.seen.slice(before).filter(({ message }) => message.method === 'tools/call')).toEqual([]);
});

test('a call of a server that was never listed is told where to, over every surface; who may not use it learns nothing', async () => {
  const { body } = await api(hub, 'POST', '/groups', { token: admin, body: { name: 'team', servers: ['prog'] } });
  expect(body.success).toBe(true);
  const args = { name: 'prog-who', arguments: {} };
  const smart = { name: 'call_tool', arguments: { toolName: 'prog-who', arguments: {} } };
  const refusal = { code: -32001, data: { reason: 'credentials_required', url: url() } };
  for (const [path, params] of [
    ['', args],
    ['prog', { ...args, name: 'who' }],
    ['prog', args],
    ['team', args],
    ['$smart', smart],
    ['$smart/team', smart],
  ] as const) {
    const how = `${path} ${JSON.stringify(params)}`;
    const address = path === '' ? hub.mcp() : hub.mcp(path);
    expect((await rpc(address, 'tools/call', params, auth(ann))).error, how).toMatchObject(refusal);
    expect((await modern(address, 'tools/call', params, auth(ann))).error, how).toMatchObject(refusal);
    const { error } = await (await session(address, auth(ann))).request('tools/call', params);
    expect(error, how).toMatchObject(refusal);
  }
  const legacy = await legacySession(`${hub.url}/sse`, auth(ann));
  expect((await legacy.request('tools/call', args)).error).toMatchObject(refusal);
  legacy.stream.close();
  const prompt = await rpc(hub.mcp(), 'prompts/get', { name: 'prog-p' }, auth(ann));
  expect(prompt.error).toMatchObject(refusal);
  const carl = await userToken(hub, admin, 'carol', { servers: ['plain'] });
  for (const token of [ann, carl]) {
    const hidden = await rpc(hub.mcp(), 'tools/call', { ...args, name: 'hidden-who' }, auth(token));
    expect(hidden.error).toEqual({ code: -32602, message: 'Unknown tool: hidden-who' });
  }
  for (const path of ['prog', 'team']) {
    const unseen = await rpc(hub.mcp(path), 'tools/call', args, auth(carl));
    expect(unseen.error).toEqual({ code: -32602, message: 'Unknown tool: prog-who' });
  }
});

test('a call that follows the first values at once waits for the server to be listed with them', async () => {
  const fresh = async (name: string) => {
    const config = {
      command: process.execPath,
      args: ['-e', program, 'team=${credential:team}'],
      credentialTemplate: slots,
      visibility: 'public',
    };
    expect((await api(hub, 'POST', '/servers', { token: admin, body: { name, config } })).status).toBe(201);
    await until('the hub has tried to connect to it', async () => {
      const { body } = await api(hub, 'GET', `/servers/${name}`, { token: admin });
      return (body.data as { status: string }).status === 'disconnected';
    });
    expect((await set(ann, name, mine('ann'))).status).toBe(200);
  };
  await fresh('later');
  const [first, unknown] = await Promise.all([
    call(ann, 'later'),
    rpc(hub.mcp(), 'tools/call', { name: 'later-what' }, auth(ann)),
  ]);
  expect(told(first).token).toBe('token-of-ann');
  expect(unknown.error).toEqual({ code: -32602, message: 'Unknown tool: later-what' });
  await fresh('later2');
  const smart = { name: 'call_tool', arguments: { toolName: 'later2-who', arguments: {} } };
  expect(told(await modern(hub.mcp('$smart'), 'tools/call', smart, auth(ann))).token).toBe('token-of-ann');
  await fresh('later3');
  const asked = await api(hub, 'POST', '/tools/call/later3', { token: ann, body: { toolName: 'who' } });
  expect([asked.status, asked.text]).toMatchObject([200, expect.stringContaining('token-of-ann')]);
  for (const name of ['later', 'later2', 'later3'])
    expect((await api(hub, 'DELETE', `/servers/${name}`, { token: admin })).status).toBe(200);
});

test('each user’s calls go with what they set, over a process of their own, by every surface', async () => {
  for (const [token, name] of [
    [ann, 'ann'],
    [bob, 'bob'],
  ] as const) {
    const answer = await set(token, 'prog', mine(name));
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.data).toMatchObject({ configured: true, configuredSlots: ['env.TOKEN', 'args.team'] });
    expect(answer.text).not.toContain(`-of-${name}`);
    await set(token, 'web', { headers: { 'X-Api-Key': `key-of-${name}` } });
    await set(token, 'rest', { 'headers.X-Api-Key': `key-of-${name}` });
  }
  await listed('prog');
  const texts = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 'ann' : 'bob'));
  const answers = await Promise.all(texts.map((name) => call(name === 'ann' ? ann : bob)));
  answers.forEach((answer, i) => {
    const name = texts[i] ?? '';
    expect(told(answer)).toMatchObject({ token: `token-of-${name}`, args: [`team=team-of-${name}`] });
  });
  expect(new Set(answers.map((answer) => told(answer).pid)).size).toBe(2);
  expect(told(await call(annsKey)).token).toBe('token-of-ann');
  const client = await handClient(hub.url);
  const as = { username: 'bob' };
  const { body } = await client.redeem(await authorize(client.address({ resource: hub.mcp() }), as));
  expect(told(await call(body.access_token)).token).toBe('token-of-bob');
  const own = await session(hub.mcp(), auth(bob));
  expect(told(await own.call('web-who')).token).toBe('key-of-bob');
  const asked = await api(hub, 'POST', '/tools/call/rest', { token: ann, body: { toolName: 'who' } });
  expect(asked.status, asked.text).toBe(200);
  expect(rest.received.at(-1)?.headers['x-api-key']).toBe('key-of-ann');
  expect((await api(hub, 'GET', '/tools/rest/who', { token: bob })).status).toBe(200);
  expect(rest.received.at(-1)?.headers['x-api-key']).toBe('key-of-bob');
  // A key that is no user's, and callers without one, have none of it.
  for (const token of [systemKey, undefined, admin]) expect((await call(token)).error?.code).toBe(-32001);
  const search = { name: 'search_tools', arguments: { query: 'says who it is' } };
  const found = await modern(hub.mcp('$smart'), 'tools/call', search, auth(bob));
  expect(found.text).toContain('prog-who');
  expect(
    web.seen.filter(({ message }) => message.method === 'tools/call').map(({ headers }) => headers['x-api-key']),
  ).toEqual(['key-of-bob']);
});

test('values are in no answer, log, activity, export, settings or file, whatever the server makes of them', async () => {
  const failed = await call(ann, 'prog', { fail: true });
  expect(failed.error?.message).toContain('token-of-ann');
  const { body } = await api(hub, 'GET', '/activities?server=prog&limit=5', { token: admin });
  const ids = (body.data as { id: string }[]).map(({ id }) => id);
  const paths = [
    '/logs?limit=1000',
    ...ids.map((id) => `/activities/${id}`),
    '/settings',
    '/mcp-settings/export?secrets=include',
    '/servers/prog',
    '/credentials',
  ];
  const seen = await Promise.all(paths.map((path) => api(hub, 'GET', path, { token: admin })));
  expect(seen.map(({ status, text }) => [status, /(token|team|key)-of-(ann|bob)/.test(text)])).toEqual(
    paths.map(() => [200, false]),
  );
  expect(seen[0]?.text).toContain('started with ••••');
  const sealed = join(hub.folder, 'data', 'credentials.sealed');
  const kept = readFileSync(hub.settingsPath, 'utf8') + (existsSync(sealed) ? readFileSync(sealed, 'utf8') : '');
  expect(kept).not.toMatch(/-of-(ann|bob)/);
});

test('a value is never expanded', async () => {
  const value = '${HUBS_OWN} ${credential:team} ${file:/etc/passwd}';
  await set(bob, 'prog', { 'env.TOKEN': value, 'args.team': value });
  expect(told(await call(bob))).toMatchObject({ token: value, args: [`team=${value}`] });
});

test('other values, and none, end what ran with the old ones; the other user notices nothing', async () => {
  const anns = told(await call(ann)).pid;
  await set(bob, 'prog', mine('bob'));
  const before = told(await call(bob));
  // Some of them, in groups.
  expect((await set(bob, 'prog', { env: { TOKEN: 'changed' } })).status).toBe(200);
  expect(told(await call(bob))).toMatchObject({ token: 'changed', args: ['team=team-of-bob'] });
  await until('the process with the old values is gone', () => !isAlive(before.pid));
  const logs = () => api(hub, 'GET', '/logs?limit=1000', { token: admin });
  await until('its last words are in the log', async () => (await logs()).text.includes('ends with '));
  expect((await logs()).text).not.toContain('token-of-bob');
  expect((await api(hub, 'DELETE', '/credentials/prog', { token: bob })).status).toBe(200);
  expect((await call(bob)).error?.code).toBe(-32001);
  expect(told(await call(ann)).pid).toBe(anns);
  expect(
    ((await api(hub, 'GET', '/servers/prog', { token: bob })).body.data as { credentials: object }).credentials,
  ).toEqual({ configured: false });
});

test('a call that is under way ends when its user takes the credentials back, and those of others go on', async () => {
  const held = await hostileHttp({ name: 'held', tools: ['hang'] });
  const config = { ...held.config, credentialTemplate: header, visibility: 'public' };
  expect((await api(hub, 'POST', '/servers', { token: admin, body: { name: 'held', config } })).status).toBe(201);
  for (const token of [ann, bob]) await set(token, 'held', { 'headers.X-Api-Key': 'a key' });
  await until('its tools are listed', async () =>
    (await rpc(hub.mcp('held'), 'tools/list', {}, auth(ann))).text.includes('hang'),
  );
  const calls = () => held.received('tools/call');
  const answers = [ann, bob].map((token) => rpc(hub.mcp('held'), 'tools/call', { name: 'hang' }, auth(token)));
  await until('the server has both', () => calls().length === 2);
  expect((await api(hub, 'DELETE', '/credentials/held', { token: bob })).status).toBe(200);
  expect((await answers[1])?.error).toMatchObject({ code: -32001, data: { reason: 'credentials_required' } });
  await until('the server is told', () => held.received('notifications/cancelled').length > 0);
  expect((await api(hub, 'DELETE', '/servers/held', { token: admin })).status).toBe(200);
  // It ran until its server was gone.
  expect((await answers[0])?.error?.code).not.toBe(-32001);
  expect(held.received('notifications/cancelled')).toHaveLength(1);
});

test('a renamed server keeps them; another one of its name, another address and another user of the name have none', async () => {
  const put = (name: string, body: object) => api(hub, 'PUT', `/servers/${name}`, { token: admin, body });
  expect((await put('web', { newName: 'web2' })).status).toBe(200);
  await listed('web2');
  expect(told(await call(ann, 'web2')).token).toBe('key-of-ann');
  const moved = await put('web2', { config: { url: web.origin.replace('127.0.0.1', 'localhost') } });
  expect(moved.status, moved.text).toBe(200);
  await listed('web2');
  expect((await call(ann, 'web2')).error?.code).toBe(-32001);
  await put('web2', { config: { url: web.origin } });
  await listed('web2');
  expect(told(await call(ann, 'web2')).token).toBe('key-of-ann');
  await api(hub, 'DELETE', '/users/ann', { token: admin });
  const again = await userToken(hub, admin, 'ann', { servers: ['prog', 'web2'] });
  expect((await call(again, 'web2')).error?.code).toBe(-32001);
  expect((await api(hub, 'DELETE', '/servers/web2', { token: admin })).status).toBe(200);
  await api(hub, 'POST', '/servers', {
    token: admin,
    body: { name: 'web2', config: { url: web.origin, credentialTemplate: header } },
  });
  await until('it is there', async () =>
    (await rpc(hub.mcp('web2'), 'tools/list', {}, auth(admin))).text.includes('who'),
  );
  await api(hub, 'PUT', '/users/bob', { token: admin, body: { servers: ['web2'] } });
  expect((await call(bob, 'web2')).error?.code).toBe(-32001);
});

test('only admins ask users for credentials, and only for what has a place to go', async () => {
  const carl = await userToken(hub, admin, 'carl');
  const add = (token: string, name: string, config: object) =>
    api(hub, 'POST', '/servers', { token, body: { name, config } });
  const address = 'https://mcp.example.com/mcp';
  expect((await add(carl, 'carls', { url: address, credentialTemplate: header })).status).toBe(403);
  expect((await add(carl, 'carls', { url: address, enabled: false })).status).toBe(201);
  const put = (token: string, config: object) => api(hub, 'PUT', '/servers/carls', { token, body: { config } });
  expect((await put(admin, { credentialTemplate: header })).status).toBe(200);
  expect((await put(carl, { url: 'https://mcp.example.com/collect' })).status).toBe(403);
  expect((await put(carl, { credentialTemplate: null })).status).toBe(403);
  const command = process.execPath;
  for (const config of [
    { url: address, credentialTemplate: [{ target: 'env', name: 'X' }] },
    { url: address, credentialTemplate: [{ target: 'args', name: 'x' }] },
    { url: address, credentialTemplate: [{ target: 'headers', name: 'Host' }] },
    { url: address, credentialTemplate: [{ name: 'X' }] },
    { command, credentialTemplate: [{ target: 'headers', name: 'X' }] },
    { command, args: ['x'], credentialTemplate: args },
    { command, credentialTemplate: [{ target: 'env', name: 'A=B' }] },
  ]) {
    const refused = await add(admin, 'new', config);
    expect([refused.status, refused.body.errors?.[0]?.path], JSON.stringify(config)).toEqual([
      400,
      'config.credentialTemplate[0]',
    ]);
  }
});

function isAlive(pid = 0): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
