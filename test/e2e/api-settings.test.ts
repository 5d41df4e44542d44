import { hash as bcrypt } from '@node-rs/bcrypt';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, type ApiAnswer, keyToken, login, userToken } from '../kit/api.ts';
import { storedSettings } from '../kit/hub-database.ts';
import { hostileStdio } from '../kit/hostile.ts';
import { jsonHeaders, raw, rpc } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// /api/settings, /api/system-config, /api/mcp-settings/export, /config and /public-config (reference: MCPHub §1.2,
// §1.6; CONTRACT §4, Export).

const documentOf = async (hub: TestHub) =>
  JSON.parse(await storedSettings(hub)) as Record<string, Record<string, unknown>>;
const dataOf = (answer: ApiAnswer) => answer.body.data as Record<string, Record<string, unknown>>;

let hub: TestHub;
let admin: string;
let ann: string;
let strangers: [who: string, token: string | undefined, status: number][];
beforeAll(async () => {
  hub = await testHub({
    mcpServers: {
      alpha: { ...hostileStdio({ tools: ['one'] }).config, env: { TOKEN: 'canary-env-1' } },
      api: { url: 'https://x.example/mcp', enabled: false, headers: { Authorization: 'Bearer canary-header-1' } },
    },
    groups: [{ id: 'g', name: 'dev', servers: ['alpha'] }],
    systemConfig: {
      routing: { enableGlobalRoute: true, unknownSwitch: 7 },
      install: { baseUrl: 'http://localhost:9000' },
      smartRouting: { openaiApiKey: 'canary-openai-1', openaiApiBaseUrl: 'https://api.example/v1' },
      somethingElse: { kept: true },
    },
  });
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann');
  strangers = [
    ['nobody', undefined, 401],
    ['a bad token', 'eyJ.eyJ.x', 401],
    ['a user', ann, 403],
    ["an admin's key", await keyToken(hub, admin, { kind: 'user' }), 403],
    ['a key of the system', await keyToken(hub, admin, { kind: 'system' }), 403],
  ];
  await hub.connected(1);
});

const put = (body: unknown, token = admin) => api(hub, 'PUT', '/system-config', { token, body });
const exported = (query = '', token: string | undefined = admin) =>
  api(hub, 'GET', `/mcp-settings/export${query}`, { token });

describe('the settings', () => {
  test('are shown to an admin whole, without any secret or hash', async () => {
    const answer = await api(hub, 'GET', '/settings', { token: admin });
    expect(answer.status).toBe(200);
    expect(answer.text).not.toMatch(/canary|\$argon2|tokenHash|"password"/);
    expect(dataOf(answer)).toMatchObject({
      mcpServers: { alpha: { env: { TOKEN: '••••' } }, api: { headers: { Authorization: '••••' } } },
      groups: [{ id: 'g', name: 'dev', servers: ['alpha'] }],
      systemConfig: {
        routing: { enableGlobalRoute: true, unknownSwitch: 7 },
        smartRouting: { openaiApiKey: '••••', openaiApiBaseUrl: 'https://api.example/v1' },
        somethingElse: { kept: true },
      },
    });
    expect(answer.body.data).toMatchObject({ users: [{ username: 'admin', isAdmin: true }, { username: 'ann' }] });
    expect((answer.body.data as { bearerKeys: { token: string }[] }).bearerKeys[0]?.token).toMatch(
      /^mcphub_.\.\.\..{4}$/,
    );
  });

  test('are shown to others as far as it concerns them', async () => {
    const key = await keyToken(hub, ann, { name: 'mine' });
    const answer = await api(hub, 'GET', '/settings', { token: ann });
    expect(answer.body.data).toEqual({
      mcpServers: {},
      systemConfig: { install: { baseUrl: 'http://localhost:9000' } },
      bearerKeys: [expect.objectContaining({ name: 'mine', owner: 'ann' })],
    });
    expect((await api(hub, 'GET', '/settings', { token: key })).body.data).toMatchObject({
      mcpServers: {},
      bearerKeys: [],
    });
    expect((await api(hub, 'GET', '/settings')).status).toBe(401);
  });
});

describe('the system configuration', () => {
  test('is for admins', async () => {
    const before = await storedSettings(hub);
    for (const [who, token, status] of strangers) {
      expect([who, (await put({ nameSeparator: '__' }, token ?? '')).status]).toEqual([who, status]);
    }
    expect(await storedSettings(hub)).toBe(before);
  });

  test('is merged section by section; what is unknown or hidden stays, null takes out', async () => {
    const answer = await put({
      routing: { openApiAccess: 'authenticated' },
      smartRouting: { openaiApiKey: '••••', progressiveDisclosure: true },
      activityLog: { storeToolPayload: true },
      somethingElse: { kept: null, added: 1 },
    });
    expect([answer.status, answer.body.message]).toEqual([200, 'System configuration updated successfully.']);
    expect(answer.text).not.toContain('canary');
    expect((await documentOf(hub))['systemConfig']).toEqual({
      routing: { enableGlobalRoute: true, unknownSwitch: 7, openApiAccess: 'authenticated' },
      install: { baseUrl: 'http://localhost:9000' },
      smartRouting: {
        openaiApiKey: 'canary-openai-1',
        openaiApiBaseUrl: 'https://api.example/v1',
        progressiveDisclosure: true,
      },
      somethingElse: { added: 1 },
      activityLog: { storeToolPayload: true },
    });
  });

  test('is in force at once', async () => {
    const names = async (scope?: string) =>
      (await rpc(hub.mcp(scope), 'tools/list', {})).result?.tools?.map(({ name }) => name);
    expect(await names()).toEqual(['alpha-one']);
    await put({ nameSeparator: '__' });
    expect(await names()).toEqual(['alpha__one']);
    await put({ nameSeparator: null, routing: { enableGlobalRoute: false } });
    expect((await rpc(hub.mcp(), 'tools/list', {})).status).toBe(403);
    expect(await names('dev')).toEqual(['alpha-one']);
    await put({ routing: { enableGlobalRoute: true, enableBearerAuth: true } });
    expect((await rpc(hub.mcp(), 'tools/list', {})).status).toBe(401);
    await put({ routing: { enableBearerAuth: null } });
    expect((await rpc(hub.mcp(), 'tools/list', {})).status).toBe(200);
  });

  test.each<[body: unknown, path: RegExp]>([
    [{}, /^$/],
    [[], /^$/],
    ['null', /^$/],
    [{ bogus: 1 }, /^bogus$/],
    [{ nameSeparator: '__', bogus: { a: 1 } }, /^bogus$/],
    [{ routing: { enableBearerauth: true } }, /^routing\.enableBearerauth$/],
    [{ smartRouting: { bogus: 1 } }, /^smartRouting\.bogus$/],
    [{ routing: 'x' }, /^routing$/],
    [{ routing: { enableBearerAuth: 'yes' } }, /^routing\.enableBearerAuth$/],
    [{ routing: { openApiAccess: 'sometimes' } }, /^routing\.openApiAccess$/],
    [{ routing: { bearerAuthHeaderName: 'a b' } }, /^routing\.bearerAuthHeaderName$/],
    [{ nameSeparator: '' }, /^nameSeparator$/],
    [{ nameSeparator: 7 }, /nameSeparator$/],
    [{ listPageSize: -1 }, /^listPageSize$/],
    [{ install: { baseUrl: 'javascript:alert(1)' } }, /install\.baseUrl$/],
    [{ network: { allowedCidrs: ['10.0.0.0/99'] } }, /^network\.allowedCidrs\[0\]$/],
    [{ smartRouting: { azureOpenaiApiKey: '••••' } }, /smartRouting\.azureOpenaiApiKey$/],
    [{ constructor: { polluted: true } }, /constructor$/],
    [{ routing: { prototype: { polluted: true } } }, /routing\.prototype$/],
  ])('%j is refused at its path', async (body, path) => {
    const before = await storedSettings(hub);
    const answer = await put(body);
    expect([answer.status, answer.body.success], answer.text).toEqual([400, false]);
    expect(answer.body.errors?.[0]?.path).toMatch(path);
    expect(await storedSettings(hub)).toBe(before);
  });

  test.each(['{"__proto__":{"polluted":true}}', '{"routing":{"__proto__":{"polluted":true}}}'])(
    '%s changes nothing, here or elsewhere',
    async (body) => {
      const before = await storedSettings(hub);
      await put(body);
      expect(await storedSettings(hub)).toBe(before);
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    },
  );
});

describe('the export', () => {
  test('is a file for admins', async () => {
    for (const [who, token, status] of strangers) {
      for (const query of ['', '?secrets=include', '?serverName=alpha']) {
        const answer = await api(hub, 'GET', `/mcp-settings/export${query}`, { token });
        expect([who, answer.status]).toEqual([who, status]);
        expect(answer.text).not.toMatch(/mcpServers|canary/);
      }
    }
    const answer = await exported();
    expect(answer.status).toBe(200);
    expect(answer.headers['content-disposition']).toBe('attachment; filename="mcp_settings.json"');
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.text).not.toMatch(/canary|\$argon2|tokenHash/);
    expect(Object.keys(answer.body)).toContain('mcpServers');
    expect(answer.body).not.toHaveProperty('success');
  });

  test('is a settings file that a hub starts with', async () => {
    const { mcpServers = {}, ...rest } = JSON.parse((await exported()).text) as {
      mcpServers?: Record<string, Record<string, unknown>>;
    };
    const next = await testHub({ mcpServers, ...rest });
    await next.connected(1);
    expect((await rpc(next.mcp('dev'), 'tools/list', {})).result?.tools?.map(({ name }) => name)).toEqual([
      'alpha-one',
    ]);
  });

  test('has the secrets when an admin asks for them, and one server alone when that is asked for', async () => {
    const all = await exported('?secrets=include');
    expect(JSON.parse(all.text)).toEqual(await documentOf(hub));
    const one = await exported('?serverName=api');
    expect(JSON.parse(one.text)).toEqual({
      mcpServers: {
        api: {
          url: 'https://x.example/mcp',
          enabled: false,
          headers: { Authorization: 'Bearer ${API_AUTHORIZATION}' },
        },
      },
    });
    expect((await exported('?serverName=gone')).status).toBe(404);
    expect((await exported('?serverName=__proto__')).status).toBe(404);
    expect((await exported('?secrets=yes')).status).toBe(400);
  });

  test('with secrets is written to the log, with who asked', async () => {
    const logged = await testHub({ mcpServers: {}, env: { LOG_LEVEL: 'info' } });
    const token = await login(logged);
    const lines = async () => (await api(logged, 'GET', '/logs', { token })).text;
    await api(logged, 'GET', '/mcp-settings/export', { token });
    expect(await lines()).not.toContain('exported with their secrets');
    await api(logged, 'GET', '/mcp-settings/export?secrets=include', { token });
    expect(await lines()).toMatch(/exported with their secrets[^}]*admin/);
  });
});

test('before a user logs in, a dashboard learns where it is and nothing else', async () => {
  const below = await testHub({
    mcpServers: { alpha: { command: 'x', enabled: false } },
    env: { BASE_PATH: '/hub' },
  });
  const get = async (path: string) => {
    const answer = await raw(new URL(path, below.url).href, { method: 'GET' });
    return [answer.status, answer.message] as const;
  };
  const version = expect.any(String) as string;
  expect(await get('/hub/config')).toEqual([
    200,
    { success: true, data: { basePath: '/hub', version, name: 'toolhub' } },
  ]);
  expect(await get('/hub/public-config')).toEqual([
    200,
    { success: true, data: { skipAuth: false, permissions: {}, betterAuth: { enabled: false } } },
  ]);
  expect((await get('/config'))[0]).toBe(404);
});

describe('POST /mcp-settings/import', () => {
  const open = async () => {
    const on = await testHub({
      mcpServers: { notes: { url: 'http://127.0.0.1:9/mcp', headers: { Authorization: 'Bearer hidden words' } } },
    });
    const token = await login(on);
    return {
      on,
      token,
      stored: async () => (await api(on, 'GET', '/mcp-settings/export?secrets=include', { token })).text,
    };
  };

  test('shows what would be different and changes nothing, then does it', async () => {
    const { on, token, stored } = await open();
    const before = await stored();
    const body = {
      mcpServers: { fresh: { url: 'http://127.0.0.1:9/other' } },
      bearerKeys: [{ name: 'laptop', token: 'whatever' }],
    };
    const looked = await api(on, 'POST', '/mcp-settings/import?dryRun=true', { token, body });
    expect(looked.body.data).toMatchObject({
      dryRun: true,
      mode: 'merge',
      changes: [{ kind: 'server', name: 'fresh', change: 'added' }],
      skipped: [{ kind: 'key', name: 'laptop' }],
    });
    expect(await stored()).toBe(before);
    const done = await api(on, 'POST', '/mcp-settings/import', { token, body });
    expect([done.status, done.body.message]).toEqual([200, '1 changes made.']);
    expect((JSON.parse(await stored()) as { mcpServers: object }).mcpServers).toHaveProperty('fresh.owner', 'admin');
    const again = await api(on, 'POST', '/mcp-settings/import', { token, body });
    expect(again.body.data).toMatchObject({ changes: [] });
  });

  test('takes what MCPHub exports as it is: in an envelope, and users of a settings file with their bcrypt passwords', async () => {
    const { on, token } = await open();
    const data = {
      mcpServers: { theirs: { url: 'http://127.0.0.1:9/theirs' } },
      users: [{ username: 'ann', password: await bcrypt('as it was', 4), isAdmin: false }],
    };
    const done = await api(on, 'POST', '/mcp-settings/import', { token, body: { success: true, data } });
    expect([done.status, done.body.message]).toEqual([200, '2 changes made.']);
    expect(await login(on, 'ann', 'as it was')).toMatch(/^eyJ/);
  });

  test.each([
    ['', '{"success":true,"data":{}}'],
    ['', '{"mcpServers":{"x":{"command":7}}}'],
    ['', '{}'],
    ['', '[]'],
    ['', '{"mcpServers":[]}'],
    ['?mode=replace', '{"mcpServers":{},"groups":"x","users":[7]}'],
    ['?mode=other', '{"groups":[]}'],
    ['', '{"groups":[{"name":"g","servers":["nobody"]}],"mcpServers":{"":{"command":"x"}}}'],
  ])('refuses%s %s, also to look at, and changes nothing', async (query, body) => {
    const { on, token, stored } = await open();
    const before = await stored();
    const headers = { 'content-type': 'application/json' };
    const look = `${query}${query === '' ? '?' : '&'}dryRun=true`;
    for (const each of [query, look]) {
      expect((await api(on, 'POST', `/mcp-settings/import${each}`, { token, body, headers })).status, each).toBe(400);
    }
    expect(await stored()).toBe(before);
  });

  test('is for admins', async () => {
    const { on, token } = await open();
    const body = { mcpServers: {} };
    expect((await api(on, 'POST', '/mcp-settings/import', { body })).status).toBe(401);
    const user = await userToken(on, token, 'ann');
    expect((await api(on, 'POST', '/mcp-settings/import', { body, token: user })).status).toBe(403);
  });
});

test('routing.jsonBodyLimit is the limit of JSON bodies, of REST and MCP alike, at once', async () => {
  const own = await testHub({ mcpServers: {} });
  const token = await login(own);
  const list = (bytes: number) => `${'{"jsonrpc":"2.0","id":1,"method":"tools/list"'.padEnd(bytes - 1)}}`;
  const statuses = async (bytes: number) => [
    (await raw(own.mcp(), { headers: jsonHeaders, body: list(bytes) })).status,
    (await api(own, 'POST', '/groups', { token, body: ' '.repeat(bytes) })).status,
    (await api(own, 'POST', '/tools/a/b', { body: ' '.repeat(bytes) })).status,
  ];
  const limit = (jsonBodyLimit: string) =>
    api(own, 'PUT', '/system-config', { token, body: { routing: { jsonBodyLimit } } });
  const mb = 1024 * 1024;
  expect(await statuses(9 * mb)).toEqual([200, 413, 413]);
  expect((await limit('1mb')).status).toBe(200);
  expect(await statuses(mb)).toEqual([200, 400, 404]);
  expect(await statuses(mb + 1)).toEqual([413, 413, 413]);
  expect((await limit('20mb')).status).toBe(200);
  expect(await statuses(17 * mb)).toEqual([200, 400, 404]);
  const refused = await limit('much');
  expect([refused.status, refused.body.errors?.map(({ path }) => path)]).toEqual([
    400,
    [expect.stringMatching(/routing\.jsonBodyLimit$/)],
  ]);
});
