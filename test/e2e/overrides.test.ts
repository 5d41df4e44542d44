import { beforeAll, describe, expect, test } from 'vitest';
import { api, login, userToken } from '../kit/api.ts';
import { type Hostile, hostileHttp } from '../kit/hostile.ts';
import { raw, rpc } from '../kit/raw.ts';
import { modern, session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Overrides of tools (CONTRACT §11): names, texts, annotations and arguments, per server and per group, everywhere.

const echo = {
  name: 'echo',
  description: 'Own words',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string' }, tenant: { type: 'string' }, limit: { type: 'integer' } },
    required: ['text', 'tenant'],
  },
};
let hub: TestHub;
let crm: Hostile;
let admin: string;
let ann: string;

beforeAll(async () => {
  crm = await hostileHttp({ tools: [echo, { name: 'other', inputSchema: { type: 'object' } }] });
  hub = await testHub({
    mcpServers: {
      crm: {
        ...crm.config,
        visibility: 'public',
        tools: {
          echo: {
            name: 'say',
            title: 'Say it',
            description: 'Operator words',
            annotations: { readOnlyHint: true },
            arguments: { tenant: { value: 'acme', hidden: true }, limit: { default: 5, description: 'How many' } },
          },
        },
      },
    },
    groups: [
      { id: 'g', name: 'team', owner: 'ann', servers: [{ name: 'crm', overrides: { other: { name: 'rest' } } }] },
    ],
  });
  await hub.connected(1);
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann');
});

const received = (): unknown => crm.received('tools/call').at(-1);
const names = async (path = ''): Promise<string[] | undefined> =>
  (await rpc(hub.mcp(path), 'tools/list')).result?.tools?.map(({ name }) => name);
const shown = {
  title: 'Say it',
  description: 'Operator words',
  annotations: { readOnlyHint: true },
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string' }, limit: { type: 'integer', default: 5, description: 'How many' } },
    required: ['text'],
  },
};
function fail(): never {
  throw new Error('The document has no operation for it.');
}

interface Operation {
  summary: string;
  description: string;
  requestBody: { content: { 'application/json': { schema: object } } };
}
const withOwn = { params: { name: 'echo', arguments: { text: 'hi', tenant: 'acme', limit: 5 } } };

/** How each surface lists the tool, and calls it with arguments of the client. */
const surfaces: Record<string, [list: () => Promise<unknown>, call: (args: object) => Promise<string>]> = {
  'a session': [
    async () => (await (await session(hub.mcp())).request('tools/list')).result?.tools,
    async (args) => (await (await session(hub.mcp())).call('crm-say', args)).text,
  ],
  'a stateless client': [
    async () => (await modern(hub.mcp(), 'tools/list')).result?.tools,
    async (args) => (await modern(hub.mcp(), 'tools/call', { name: 'crm-say', arguments: args })).text,
  ],
  "the server's endpoint": [
    async () => (await rpc(hub.mcp('crm'), 'tools/list')).result?.tools,
    async (args) => (await rpc(hub.mcp('crm'), 'tools/call', { name: 'say', arguments: args })).text,
  ],
  'a group': [
    async () => (await rpc(hub.mcp('team'), 'tools/list')).result?.tools,
    async (args) => (await rpc(hub.mcp('team'), 'tools/call', { name: 'crm-say', arguments: args })).text,
  ],
  'smart routing': [
    async () => {
      const asked = { name: 'search_tools', arguments: { query: 'say operator words' } };
      return (await rpc(hub.mcp('$smart'), 'tools/call', asked)).result?.structuredContent?.['tools'];
    },
    async (args) => {
      const asked = { name: 'call_tool', arguments: { toolName: 'crm-say', arguments: args } };
      return (await rpc(hub.mcp('$smart'), 'tools/call', asked)).text;
    },
  ],
  'the management API': [
    async () => ((await api(hub, 'GET', '/servers/crm', { token: ann })).body.data as { tools: unknown }).tools,
    async (args) =>
      (await api(hub, 'POST', '/tools/call/crm', { token: ann, body: { toolName: 'echo', arguments: args } })).text,
  ],
  'the OpenAPI-style routes': [
    async () => {
      const { body } = await api(hub, 'GET', '/crm/openapi.json', { token: ann });
      const paths = body['paths'] as Record<string, { post: Operation }>;
      const { summary, description, requestBody } = paths['/tools/crm/say']?.post ?? fail();
      const inputSchema = requestBody.content['application/json'].schema;
      return [{ ...shown, name: 'say', title: summary, description, inputSchema }];
    },
    async (args) => (await api(hub, 'POST', '/tools/crm/say', { token: ann, body: args })).text,
  ],
};

describe.each(Object.entries(surfaces))('%s', (_, [list, call]) => {
  test('shows the tool as the settings have it', async () => {
    const found = await until('the tool', async () => {
      const tools = (await list()) as { name: string }[] | undefined;
      return tools?.find(({ name }) => name.endsWith('say'));
    });
    expect(found).toMatchObject(shown);
    expect(JSON.stringify(found)).not.toContain('tenant');
  });

  test('puts in what is fixed and what was not given', async () => {
    await call({ text: 'hi' });
    expect(received()).toMatchObject(withOwn);
  });

  test('refuses a hidden argument, and nothing is called', async () => {
    const before = crm.received('tools/call').length;
    expect(await call({ text: 'hi', tenant: 'evil' })).toMatch(/tenant/);
    expect(crm.received('tools/call')).toHaveLength(before);
  });
});

test('over HTTP the answer has the path of a hidden argument, as the request has it', async () => {
  const args = { text: 'hi', tenant: 'evil' };
  const called = await api(hub, 'POST', '/tools/call/crm', { token: ann, body: { toolName: 'echo', arguments: args } });
  const direct = await api(hub, 'POST', '/tools/crm/say', { token: ann, body: args });
  const paths = [called, direct].map(({ status, body }) => [status, body.errors?.map(({ path }) => path)]);
  expect(paths).toEqual([
    [400, ['arguments.tenant']],
    [400, ['tenant']],
  ]);
});

test("a group's override holds on its endpoint alone, and the server's own name is not there any more", async () => {
  expect(await names('team')).toEqual(['crm-say', 'crm-rest']);
  expect(await names()).toEqual(['crm-say', 'crm-other']);
  expect((await rpc(hub.mcp(), 'tools/call', { name: 'crm-echo', arguments: { text: 'a' } })).message.error?.code).toBe(
    -32602,
  );
});

test('policies and records go by the own name, and policies see what is put in', async () => {
  const policies = [
    {
      id: 'p',
      text: 'forbid(principal, action, resource == Tool::"crm/echo") when { context.arguments.tenant == "acme" };',
    },
  ];
  const put = (body: object) => api(hub, 'PUT', '/system-config', { token: admin, body });
  expect((await put({ policies })).status).toBe(200);
  const refused = await rpc(hub.mcp(), 'tools/call', { name: 'crm-say', arguments: { text: 'a' } });
  expect(refused.message.error).toMatchObject({ code: -32001, data: { policy: 'p' } });
  expect((await put({ policies: [] })).status).toBe(200);
  const why = await api(hub, 'GET', '/why?tool=crm-say&user=ann', { token: admin });
  expect(why.body.data).toMatchObject({ allowed: true });
  const { body } = await api(hub, 'GET', '/activities?limit=1', { token: admin });
  expect(body.data).toMatchObject([{ server: 'crm', tool: 'echo' }]);
});

test('a call that waited while its arguments got other rules is not made', async () => {
  const policies = [{ id: 'ask', text: '@approve("admin") forbid(principal, action, resource == Tool::"crm/other");' }];
  expect((await api(hub, 'PUT', '/system-config', { token: admin, body: { policies } })).status).toBe(200);
  const waiting = async () => {
    const { body } = await api(hub, 'GET', '/approvals', { token: admin });
    return (body.data as { id: string; state: string }[]).find(({ state }) => state === 'waiting')?.id;
  };
  const before = crm.received('tools/call').length;
  const running = rpc(hub.mcp(), 'tools/call', { name: 'crm-other', arguments: {} });
  const id = await until('it is asked', waiting);
  const path = '/servers/crm/tools/other/override';
  const body = { arguments: { tenant: { value: 'acme', hidden: true } } };
  expect((await api(hub, 'PUT', path, { token: admin, body })).status).toBe(200);
  expect((await api(hub, 'POST', `/approvals/${id}`, { token: admin, body: { decision: 'approve' } })).status).toBe(
    200,
  );
  expect((await running).error?.message).toMatch(/changed while the call waited\. Make the call again\.$/);
  expect(crm.received('tools/call')).toHaveLength(before);
  expect((await api(hub, 'DELETE', path, { token: admin })).status).toBe(200);
  expect((await api(hub, 'PUT', '/system-config', { token: admin, body: { policies: [] } })).status).toBe(200);
});

test('arguments with two readings are refused', async () => {
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"crm-say","arguments":{"text":"a","text":"b"}}}`;
  expect((await raw(hub.mcp(), { body })).message.error).toMatchObject({ code: -32602 });
});

describe('the API', () => {
  const path = '/servers/crm/tools/other/override';
  const groupPath = '/groups/team/server-configs/crm/tools/echo/override';

  test('shows before and after, changes nothing in a dry run, and saves', async () => {
    const body = { name: 'another', description: 'New words' };
    const dry = await api(hub, 'PUT', `${path}?dryRun=true`, { token: admin, body });
    expect(dry.body.data).toMatchObject({
      tool: 'other',
      override: body,
      before: { name: 'other' },
      after: { name: 'another', description: 'New words' },
    });
    expect(await names('crm')).toEqual(['say', 'other']);
    expect((await api(hub, 'PUT', path, { token: admin, body })).status).toBe(200);
    expect(await names('crm')).toEqual(['say', 'another']);
    expect((await api(hub, 'GET', path, { token: admin })).body.data).toMatchObject({ override: body });
    expect((await api(hub, 'DELETE', path, { token: admin })).body.data).toMatchObject({ override: null });
    expect(await names('crm')).toEqual(['say', 'other']);
  });

  test.each([
    [{ name: 'echo' }, 'name'],
    [{ name: 'say' }, 'name'],
    [{ name: 'no spaces' }, 'name'],
    [{ nam: 'x' }, ''],
    [{ arguments: { text: { hide: true } } }, 'arguments.text'],
    [{ arguments: { text: { value: 1, default: 2 } } }, 'arguments.text.default'],
  ])('refuses %j', async (body, at) => {
    const answer = await api(hub, 'PUT', path, { token: admin, body });
    expect(answer.status, answer.text).toBe(400);
    expect(JSON.stringify(answer.body.errors)).toContain(at);
  });

  test('refuses to hide a required argument without a value, and says so of one that the tool does not have', async () => {
    const at = '/servers/crm/tools/echo/override';
    const refused = await api(hub, 'PUT', `${at}?dryRun=true`, {
      token: admin,
      body: { arguments: { text: { hidden: true } } },
    });
    expect([refused.status, refused.body.errors?.[0]?.path]).toEqual([400, 'arguments.text.hidden']);
    const odd = await api(hub, 'PUT', `${at}?dryRun=true`, {
      token: admin,
      body: { arguments: { typo: { value: 1 } } },
    });
    expect([odd.status, odd.body.message]).toEqual([200, expect.stringContaining('"typo"')]);
  });

  test('an override of a group opens nothing that the server hides; its owner who does not manage the server changes the name alone', async () => {
    const rest = { arguments: { tenant: { value: 'evil' } } };
    const body = { ...rest, name: 'tell' };
    for (const more of [rest, { title: 'x' }, { description: 'x' }, { annotations: { readOnlyHint: true } }]) {
      const refused = await api(hub, 'PUT', `${groupPath}?dryRun=true`, { token: ann, body: more });
      expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining('name alone')]);
      const servers = [{ name: 'crm', overrides: { echo: more } }];
      const ways = [
        await api(hub, 'PUT', groupPath, { token: ann, body: more }),
        await api(hub, 'PUT', '/groups/team', { token: ann, body: { servers } }),
        await api(hub, 'PUT', '/groups/team/servers/batch', { token: ann, body: { servers } }),
        await api(hub, 'POST', '/groups', { token: ann, body: { name: 'mine', servers } }),
      ];
      expect(ways.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    }
    expect((await api(hub, 'PUT', groupPath, { token: admin, body: { ...rest, name: 'ask' } })).status).toBe(200);
    const without = { servers: [{ name: 'crm', overrides: null }] };
    expect((await api(hub, 'PUT', '/groups/team', { token: ann, body: without })).status).toBe(403);
    expect((await api(hub, 'DELETE', groupPath, { token: ann })).status).toBe(403);
    const saved = await api(hub, 'PUT', groupPath, { token: ann, body });
    expect(saved.status, saved.text).toBe(200);
    expect(await names('team')).toEqual(['crm-tell', 'crm-rest']);
    await rpc(hub.mcp('team'), 'tools/call', { name: 'crm-tell', arguments: { text: 'x' } });
    expect(received()).toMatchObject({ params: { arguments: { tenant: 'acme' } } });
    const overrides = { other: { name: 'rest' }, echo: body };
    const seen = await api(hub, 'GET', '/groups/team/server-configs/crm', { token: ann });
    expect(seen.body.data).toMatchObject({ overrides });
    expect((await api(hub, 'DELETE', groupPath, { token: admin })).status).toBe(200);
    expect(await names('team')).toEqual(['crm-say', 'crm-rest']);
  });

  test('the owner of a group who does not manage the server sees its tools as callers do', async () => {
    const shownTo = async (token: string, tool = 'echo') =>
      api(hub, 'GET', `/groups/team/server-configs/crm/tools/${tool}/override`, { token });
    const seen = await shownTo(ann);
    expect(seen.body.data).toMatchObject({ before: { ...shown, name: 'say' }, after: { name: 'say' } });
    expect(seen.text).not.toMatch(/tenant|Own words/);
    expect((await shownTo(admin)).text).toContain('tenant');
    expect((await shownTo(ann, 'other')).status).toBe(200);
    expect((await shownTo(ann, 'nowhere')).status).toBe(404);
    const off = (enabled: boolean) =>
      api(hub, 'POST', '/servers/crm/tools/other/toggle', { token: admin, body: { enabled } });
    expect((await off(false)).status).toBe(200);
    const at = '/groups/team/server-configs/crm/tools/other/override';
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const body = method === 'PUT' ? { body: { name: 'x' } } : {};
      expect((await api(hub, method, at, { token: ann, ...body })).status, method).toBe(404);
    }
    expect((await shownTo(admin, 'other')).status).toBe(200);
    expect((await off(true)).status).toBe(200);
    const pins = (mode: string) =>
      api(hub, 'PUT', '/servers/crm', { token: admin, body: { config: { pins: { mode } } } });
    expect((await pins('hold')).status).toBe(200);
    const reject = { items: [{ kind: 'tool', name: 'other' }] };
    expect((await api(hub, 'POST', '/pins/crm/reject', { token: admin, body: reject })).status).toBe(200);
    expect((await shownTo(ann, 'other')).status).toBe(404);
    expect((await shownTo(admin, 'other')).status).toBe(200);
    expect((await api(hub, 'POST', '/pins/crm/approve', { token: admin, body: reject })).status).toBe(200);
    expect((await shownTo(ann, 'other')).status).toBe(200);
  });

  test('is for those who may change the server or the group, and others do not see values', async () => {
    const bob = await userToken(hub, admin, 'bob');
    expect((await api(hub, 'GET', path, { token: bob })).status).toBe(403);
    expect((await api(hub, 'PUT', path, { token: bob, body: {} })).status).toBe(403);
    expect((await api(hub, 'PUT', groupPath, { token: bob, body: {} })).status).toBe(403);
    const seen = await api(hub, 'GET', '/groups/team/server-configs', { token: bob });
    expect(seen.status).toBe(200);
    expect(seen.text).not.toContain('overrides');
    expect((await api(hub, 'GET', '/servers/crm', { token: bob })).text).not.toContain('acme');
  });
});

test('a value that the tool does not take is told in the answer, and in the log where the settings have it', async () => {
  const path = '/servers/crm/tools/other/override';
  const body = { arguments: { limit: { value: 1 } } };
  const fine = await api(hub, 'PUT', `${path}?dryRun=true`, { token: admin, body });
  expect([fine.status, fine.body.message]).toEqual([200, expect.stringContaining('has no argument "limit"')]);
  const own = await testHub({
    env: { LOG_LEVEL: 'warn' },
    mcpServers: { crm: { ...crm.config, tools: { echo: { arguments: { limit: { value: 'many' } } } } } },
    groups: [
      { name: 'team', servers: [{ name: 'crm', overrides: { echo: { arguments: { text: { default: 7 } } } } }] },
    ],
  });
  const token = await login(own);
  const warnings = async () =>
    ((await api(own, 'GET', '/logs?level=warn', { token })).body.data as { message: string }[])
      .map(({ message }) => message)
      .filter((message) => message.includes('does not take'));
  await until('both are told', async () => (await warnings()).length === 2);
  expect(await warnings()).toEqual([
    expect.stringMatching(/^mcpServers\.crm\.echo: The tool does not take the value of "limit": /),
    expect.stringMatching(/^groups\.team\.crm\.echo: The tool does not take the value of "text": /),
  ]);
  const answer = await api(own, 'PUT', '/servers/crm/tools/echo/override', {
    token,
    body: { arguments: { limit: { value: true } } },
  });
  expect([answer.status, answer.body.message]).toEqual([200, expect.stringContaining('value of "limit"')]);
  await until('the new one is told', async () => (await warnings()).length === 3);
});
