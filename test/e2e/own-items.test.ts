import { beforeAll, describe, expect, test } from 'vitest';
import { api, login, userToken } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { stream } from '../kit/raw.ts';
import { modern, modernRequest, session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Prompts and resources of the hub itself (CONTRACT §11; reference: MCPHub §1.10).

let hub: TestHub;
let admin: string;
let ann: string;
const greet = {
  id: 'p1',
  name: 'greet',
  title: 'Greet',
  description: 'Greets a person',
  template: 'Hello {{ name }}, from {{from}}!',
  arguments: [{ name: 'name', required: true }, { name: 'from' }],
  enabled: true,
};

beforeAll(async () => {
  const own = await hostileHttp({
    prompts: [{ name: 'write' }, { name: 'greet' }],
    resources: [{ uri: 'docs://guide', name: 'of the server' }],
  });
  hub = await testHub({
    mcpServers: { s: own.config },
    groups: [{ id: 'g', name: 'g', servers: ['s'] }],
    prompts: [greet, { name: 'off', template: 'x', enabled: false }],
    resources: [
      { uri: 'docs://guide', content: 'Read me', mimeType: 'text/markdown' },
      { uri: 'docs://b', content: '' },
    ],
  });
  await hub.connected(1);
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann');
});

describe.each(['', 'g', '$smart'])('at "%s"', (scope) => {
  test('they are listed before those of servers, and answered in both eras', async () => {
    const client = await session(hub.mcp(scope));
    const { prompts } = (await client.request('prompts/list')).result ?? {};
    expect(prompts?.[0]).toEqual({
      name: 'greet',
      title: 'Greet',
      description: 'Greets a person',
      arguments: [
        { name: 'name', required: true },
        { name: 'from', required: false },
      ],
    });
    expect(prompts?.map(({ name }) => name)).toEqual(['greet', 's-write', 's-greet']);
    const { resources } = (await client.request('resources/list')).result ?? {};
    expect(resources?.map(({ uri }) => uri)).toEqual(['docs://guide', 'docs://b']);
    expect(resources?.[0]).toMatchObject({ mimeType: 'text/markdown', size: 7 });
    const asked = { name: 'greet', arguments: { name: '{{from}}' } };
    const text = 'Hello {{from}}, from !';
    const messages = [{ role: 'user', content: { type: 'text', text } }];
    expect((await client.request('prompts/get', asked)).result).toEqual({ description: 'Greets a person', messages });
    expect((await modern(hub.mcp(scope), 'prompts/get', asked)).result).toMatchObject({
      messages,
      resultType: 'complete',
    });
    const contents = [{ uri: 'docs://guide', mimeType: 'text/markdown', text: 'Read me' }];
    expect((await client.request('resources/read', { uri: 'docs://guide' })).result).toEqual({ contents });
    expect((await modern(hub.mcp(scope), 'resources/read', { uri: 'docs://b' })).result?.contents).toEqual([
      { uri: 'docs://b', mimeType: 'text/plain', text: '' },
    ]);
  });

  test('what is missing, switched off or unknown is said', async () => {
    const client = await session(hub.mcp(scope));
    const missing = await client.request('prompts/get', { name: 'greet', arguments: { from: 'x' } });
    expect(missing.error).toMatchObject({ code: -32602, message: expect.stringContaining('"name"') });
    expect((await client.request('prompts/get', { name: 'off' })).error?.code).toBe(-32602);
    const ref = { type: 'ref/prompt', name: 'greet' };
    const completed = await client.request('completion/complete', { ref, argument: { name: 'name', value: '' } });
    expect(completed.result).toMatchObject({ completion: { values: [] } });
  });
});

test("at a server's own endpoint, what the server itself offers comes first", async () => {
  const client = await session(hub.mcp('s'));
  const { prompts } = (await client.request('prompts/list')).result ?? {};
  expect(prompts?.map(({ name }) => name)).toEqual(['write', 'greet']);
  const { resources } = (await client.request('resources/list')).result ?? {};
  expect(resources?.[0]).toMatchObject({ uri: 'docs://guide', name: 'of the server' });
});

test('policies hold for them', async () => {
  const set = (policies: object[]) => api(hub, 'PUT', '/system-config', { token: admin, body: { policies } });
  const text = 'forbid(principal, action == Action::"getPrompt", resource == Prompt::"$hub/greet");';
  expect((await set([{ id: 'p', text }])).status).toBe(200);
  const client = await session(hub.mcp());
  const asked = { name: 'greet', arguments: { name: 'a' } };
  expect((await client.request('prompts/get', asked)).error).toMatchObject({ code: -32001, data: { policy: 'p' } });
  await set([]);
  expect((await client.request('prompts/get', asked)).error).toBeUndefined();
});

test('subscribers hear when the settings change a resource, in both eras, and nothing else', async () => {
  const uri = 'docs://told';
  const put = (id: string, body: object) => api(hub, 'PUT', `/resources/${id}`, { token: admin, body });
  for (const id of ['told', 'later', 'untold']) {
    const body = { id, uri: `docs://${id}`, content: 'old' };
    expect((await api(hub, 'POST', '/resources', { token: admin, body })).status).toBe(201);
  }
  const policies = async (text: string[]) => {
    const body = { policies: text.map((one) => ({ id: 'p', text: one })) };
    expect((await api(hub, 'PUT', '/system-config', { token: admin, body })).status).toBe(200);
  };
  const listensTo = async (one: string) => {
    const notifications = { resourceSubscriptions: [one] };
    const request = modernRequest('subscriptions/listen', { notifications }, {});
    const opened = await stream(hub.mcp('g'), { method: 'POST', ...request });
    await until('the acknowledgement', () => opened.messages.length > 0);
    return opened;
  };
  const updates = ({ messages }: Awaited<ReturnType<typeof listensTo>>) =>
    messages.filter(({ method }) => method === 'notifications/resources/updated').length;
  // Changes are told in their order, a moment after they are made: the first ones before their readers are there.
  const elsewhere = await listensTo('docs://untold');
  await put('untold', { content: 'new' });
  await until('that they are there is told', () => updates(elsewhere) > 0);
  const client = await session(hub.mcp());
  const open = await client.listen();
  expect((await client.request('resources/subscribe', { uri })).error).toBeUndefined();
  const listening = await listensTo(uri);
  const afterwards = await listensTo('docs://later');
  expect(listening.messages[0]?.params).toMatchObject({ notifications: { resourceSubscriptions: [uri] } });

  const streams = [open, listening];
  const heard = () => streams.map(updates);
  // What it is called is news of the list, and what another says is none of theirs.
  await put('told', { name: 'named' });
  await put('untold', { content: 'newer' });
  await put('told', { content: 'new' });
  await until('both hear of the change', () => heard().every((count) => count > 0));
  expect(heard()).toEqual([1, 1]);
  for (const { messages } of streams)
    expect(messages.find(({ method }) => method === 'notifications/resources/updated')?.params).toMatchObject({ uri });
  expect((await client.request('resources/read', { uri })).text).toContain('new');

  // Who may not read it hears nothing more of it.
  await policies(['forbid(principal, action == Action::"readResource", resource == Resource::"$hub/docs://told");']);
  await put('told', { content: 'hidden' });
  await put('later', { content: 'new' });
  await until('the change after it is told', () => updates(afterwards) > 0);
  expect((await client.request('resources/subscribe', { uri })).error).toBeUndefined();
  expect((await (await session(hub.mcp())).request('resources/subscribe', { uri })).error?.code).toBe(-32002);
  await policies([]);
  await put('told', { content: 'shown' });
  await until('both hear again', () => heard().every((count) => count > 1));
  expect(heard()).toEqual([2, 2]);
  await client.request('resources/unsubscribe', { uri });
  await put('told', { content: 'last' });
  await until('the other hears', () => (heard()[1] ?? 0) > 2);
  expect(heard()).toEqual([2, 3]);
});

test('are read over REST too', async () => {
  const read = await api(hub, 'POST', '/resources/read', { token: ann, body: { uri: 'docs://guide' } });
  expect(read.body.data).toMatchObject({ contents: [{ text: 'Read me' }] });
});

describe('the API', () => {
  test('admins create, change and delete; clients are told', async () => {
    const client = await session(hub.mcp());
    const stream = await client.listen();
    const body = { name: 'new', template: 'Hi' };
    const made = await api(hub, 'POST', '/prompts', { token: admin, body });
    expect([made.status, made.body]).toMatchObject([201, { success: true, data: { ...body, enabled: true } }]);
    const { id } = made.body.data as { id: string };
    await until('the news', () =>
      stream.messages.some(({ method }) => method === 'notifications/prompts/list_changed'),
    );
    expect((await api(hub, 'GET', `/prompts/${id}`, { token: ann })).body.data).toMatchObject(body);
    const changed = await api(hub, 'PUT', `/prompts/${id}`, { token: admin, body: { template: 'Ho', title: 'New' } });
    expect(changed.body.data).toMatchObject({ id, name: 'new', template: 'Ho', title: 'New' });
    expect((await client.request('prompts/get', { name: 'new' })).text).toContain('Ho');
    expect((await api(hub, 'DELETE', `/prompts/${id}`, { token: admin })).body).toMatchObject({ success: true });
    expect((await api(hub, 'GET', `/prompts/${id}`, { token: admin })).status).toBe(404);
    expect((await api(hub, 'DELETE', `/prompts/${id}`, { token: admin })).status).toBe(404);
  });

  test('resources likewise', async () => {
    const body = { uri: 'docs://c', content: 'C' };
    const made = await api(hub, 'POST', '/resources', { token: admin, body });
    expect([made.status, made.body.data]).toMatchObject([201, body]);
    const { id } = made.body.data as { id: string };
    expect((await api(hub, 'POST', '/resources', { token: admin, body })).status).toBe(409);
    const changed = await api(hub, 'PUT', `/resources/${id}`, { token: admin, body: { content: 'D', name: 'd' } });
    expect(changed.body.data).toMatchObject({ id, content: 'D', name: 'd' });
    expect((await api(hub, 'DELETE', `/resources/${id}`, { token: admin })).status).toBe(200);
  });

  test.each([
    ['POST', '/prompts', { name: 'x' }, 400],
    ['POST', '/prompts', { name: 'greet', template: 'x' }, 409],
    ['POST', '/prompts', { name: 'a b', template: 'x' }, 400],
    ['POST', '/resources', { uri: 'no uri', content: 'x' }, 400],
    ['POST', '/resources', { uri: 'docs://z' }, 400],
    ['PUT', '/prompts/p1', {}, 400],
    ['PUT', '/prompts/p1', { name: 'off' }, 409],
    ['PUT', '/prompts/none', { title: 'x' }, 404],
  ])('%s %s %j is %i', async (method, path, body, status) => {
    expect((await api(hub, method, path, { token: admin, body })).status).toBe(status);
  });

  test('others read what their clients get, and change nothing', async () => {
    const seen = (await api(hub, 'GET', '/prompts', { token: ann })).body.data as { name: string }[];
    expect(seen.map(({ name }) => name)).toEqual(['greet']);
    const all = (await api(hub, 'GET', '/prompts', { token: admin })).body.data as { name: string }[];
    expect(all.map(({ name }) => name)).toEqual(['greet', 'off']);
    expect((await api(hub, 'GET', '/prompts')).status).toBe(401);
    for (const [method, path] of [
      ['POST', '/prompts'],
      ['PUT', '/prompts/p1'],
      ['DELETE', '/prompts/p1'],
    ] as const) {
      const body = method === 'DELETE' ? undefined : { name: 'x', template: 'x' };
      expect((await api(hub, method, path, { token: ann, body })).status).toBe(403);
    }
  });
});
