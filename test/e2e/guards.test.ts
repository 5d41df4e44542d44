import { beforeAll, describe, expect, test } from 'vitest';
import { api, login, userToken } from '../kit/api.ts';
import { type Hostile, hostileHttp } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { modern, session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// What looks at calls and results besides policies: secrets in them, and webhooks (docs/guards.md).

const secret = `ghp_${'aB3dE5gH7j'.repeat(4)}`;
const content = (text: string) => ({ content: [{ type: 'text', text }] });
let hub: TestHub;
let db: Hostile;
let admin: string;
let ann: string;
beforeAll(async () => {
  db = await hostileHttp({
    tools: ['echo', 'leak', 'progress', 'rpc_error', 'huge', 'hang'],
    prompts: [{ name: 'hello', arguments: [{ name: 'who' }] }],
    resources: [{ uri: 'note://1', name: 'one' }],
    results: {
      leak: JSON.stringify({ ...content(`one\n${secret}`), structuredContent: { token: secret, n: 1 } }),
      huge: JSON.stringify(content(`${'x'.repeat(300_000)} ${secret}`)),
      hello: JSON.stringify({ messages: [{ role: 'user', content: { type: 'text', text: secret } }] }),
      'note://1': JSON.stringify({ contents: [{ uri: 'note://1', text: secret }] }),
    },
  });
  hub = await testHub({
    mcpServers: { db: { ...db.config, visibility: 'public' } },
    systemConfig: { routing: { enableBearerAuth: true }, activityLog: { storeToolPayload: true } },
  });
  await hub.connected(1);
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann');
});

const bearer = (token = ann) => ({ headers: { authorization: `Bearer ${token}` } });
const call = (name: string, args: Record<string, unknown> = {}) =>
  rpc(hub.mcp(), 'tools/call', { name: `db-${name}`, arguments: args }, bearer());
const sent = (method = 'tools/call') => db.received(method).map(({ params }) => params);
const change = async (path: string, body: object) => {
  const answer = await api(hub, 'PUT', path, { token: admin, body });
  expect(answer.status, answer.text).toBe(200);
};

describe('secrets in calls', () => {
  const set = (secretsInCalls: object | null) => change('/servers/db', { config: { secretsInCalls } });
  const ways: [string, () => Promise<{ text: string }>][] = [
    ['a tool', () => call('leak')],
    ['a large result', () => call('huge')],
    ['a prompt', () => rpc(hub.mcp(), 'prompts/get', { name: 'db-hello' }, bearer())],
    ['a resource', () => rpc(hub.mcp(), 'resources/read', { uri: 'note://1' }, bearer())],
    ['a tool, of the stateless revision', () => modern(hub.mcp(), 'tools/call', { name: 'db-leak' }, bearer())],
    ['a tool, over REST', () => api(hub, 'POST', '/tools/call/db', { token: ann, body: { toolName: 'leak' } })],
  ];

  test('pass as they are where nothing is set', async () => {
    for (const [name, way] of ways) expect((await way()).text, name).toContain(secret);
    await call('echo', { text: secret });
    expect(sent().at(-1)).toMatchObject({ arguments: { text: secret } });
  });

  test('are masked in results, whatever the way, and the rest stays', async () => {
    await set({ results: 'mask' });
    for (const [name, way] of ways) {
      const { text } = await way();
      expect(text, name).not.toContain(secret);
      expect(text, name).toContain('••••');
    }
    const masked = await call('leak');
    expect(masked.result).toEqual({ ...content('one\n••••'), structuredContent: { token: '••••', n: 1 } });
  });

  test('are a reason to withhold a result, which is recorded as refused', async () => {
    await set({ results: 'refuse' });
    for (const [name, way] of ways) {
      const { text } = await way();
      expect(text, name).not.toContain(secret);
      expect(text, name).toMatch(/holds a GitHub token and is withheld/);
    }
    const { error } = await call('leak');
    expect(error).toMatchObject({ code: -32001, data: { reason: 'guard', guard: 'secrets' } });
    const { body } = await api(hub, 'GET', '/activities?limit=1', { token: admin });
    expect(body.data).toMatchObject([{ tool: 'leak', status: 'refused', errorMessage: error?.message }]);
    const rest = await api(hub, 'POST', '/tools/call/db', { token: ann, body: { toolName: 'leak' } });
    expect([rest.status, rest.body]).toMatchObject([403, { reason: 'guard', guard: 'secrets' }]);
  });

  test('are masked in arguments, before anything else looks at them', async () => {
    await set({ arguments: 'mask' });
    const policies = [
      { id: 'p', text: 'forbid(principal, action, resource) when { context.arguments.text like "*ghp_*" };' },
    ];
    await change('/system-config', { policies });
    const own = await session(hub.mcp(), bearer());
    for (const answer of [
      await call('echo', { text: secret, n: 1 }),
      await own.call('db-echo', { text: secret, n: 1 }),
    ])
      expect(answer.error).toBeUndefined();
    const masked = { arguments: { text: '••••', n: 1 } };
    expect(sent().slice(-2)).toMatchObject([masked, masked]);
    const params = { name: 'db-hello', arguments: { who: secret } };
    await rpc(hub.mcp(), 'prompts/get', params, bearer());
    expect(sent('prompts/get').at(-1)).toMatchObject({ arguments: { who: '••••' } });
    await change('/system-config', { policies: null });
    const { text } = await api(hub, 'GET', '/activities?limit=5', { token: admin });
    expect(text).not.toContain(secret);
  });

  test('are a reason to refuse a call before its server sees it, on smart endpoints too', async () => {
    await set({ arguments: 'refuse' });
    const before = sent().length;
    const smart = { name: 'call_tool', arguments: { toolName: 'db-echo', arguments: { text: secret } } };
    const answers = [
      await call('echo', { text: secret }),
      await call('echo', { nested: [{ [secret]: 1 }] }),
      await rpc(hub.mcp('$smart'), 'tools/call', smart, bearer()),
    ];
    for (const { error } of answers) {
      expect(error).toMatchObject({ code: -32001, data: { reason: 'guard', guard: 'secrets' } });
      expect(error?.message).toContain('hold a GitHub token');
    }
    expect(sent()).toHaveLength(before);
    expect((await call('echo', { text: 'nothing' })).error).toBeUndefined();
  });

  test('are looked for by what admins decide', async () => {
    const made = await api(hub, 'POST', '/servers', {
      token: ann,
      body: { name: 'own', config: { url: 'https://example.com/mcp', secretsInCalls: { results: 'mask' } } },
    });
    expect(made.status).toBe(403);
    const wrong = await api(hub, 'PUT', '/servers/db', {
      token: admin,
      body: { config: { secretsInCalls: { results: 'hide' } } },
    });
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('expected \\"allow\\", \\"mask\\" or')]);
    await set(null);
  });
});
