import { createHmac } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, login, userToken } from '../kit/api.ts';
import { authorize, handClient } from '../kit/authorizing.ts';
import { mcpLimits } from '../../src/mcp/limits.ts';
import { begin, reply, askable } from '../kit/asking.ts';
import { type Hostile, hostileHttp, temporaryFolder } from '../kit/hostile.ts';
import { setLimits } from '../kit/limits.ts';
import { receiver } from '../kit/receiver.ts';
import { jsonHeaders, raw, rpc, stream } from '../kit/raw.ts';
import { legacySession, modern, modernMeta, modernRequest, session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Policies, approvals, limits and `why` (CONTRACT §9).

const key = `mcphub_${'a'.repeat(64)}`;
let hub: TestHub;
let db: Hostile;
let admin: string;
let ann: string;
beforeAll(async () => {
  const resources = [{ uri: 'note://1', name: 'one' }];
  db = await hostileHttp({ resources, capabilities: { tools: {}, resources: { subscribe: true } } });
  hub = await testHub({
    mcpServers: { db: { ...db.config, visibility: 'public' } },
    groups: [
      { id: 'g-dev', name: 'dev', servers: ['db'] },
      { id: 'g-ops', name: 'ops', servers: ['db'] },
    ],
    bearerKeys: [{ id: 'k', name: 'ci', token: key, accessType: 'all' }],
    systemConfig: { routing: { enableBearerAuth: true } },
  });
  await hub.connected(1);
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann');
});

const put = (body: object) => api(hub, 'PUT', '/system-config', { token: admin, body });
const set = async (...policies: object[]) => {
  const answer = await put({ policies });
  expect(answer.status, answer.text).toBe(200);
};
const call = (args: Record<string, unknown> = { text: 'hello' }, token = admin, name = 'db-echo') =>
  rpc(hub.mcp(), 'tools/call', { name, arguments: args }, { headers: { authorization: `Bearer ${token}` } });
const dropped =
  '@message("No tables are dropped here.") forbid(principal, action, resource == Tool::"db/echo") when { context.arguments.text like "*DROP TABLE*" };';

describe('a policy', () => {
  test('refuses a call with the text of its author, over MCP and REST, and nothing else', async () => {
    await set({ id: 'no-drop', text: dropped });
    expect((await call()).result?.isError ?? false).toBe(false);
    const refused = await call({ text: 'x; DROP TABLE t' });
    expect(refused.message).toMatchObject({
      error: { code: -32001, message: 'No tables are dropped here.', data: { reason: 'policy', policy: 'no-drop' } },
    });
    const rest = await api(hub, 'POST', '/tools/call/db', {
      token: admin,
      body: { toolName: 'echo', arguments: { text: 'DROP TABLE' } },
    });
    expect([rest.status, rest.body]).toEqual([
      403,
      { success: false, message: 'No tables are dropped here.', error: 'policy', reason: 'policy', policy: 'no-drop' },
    ]);
    const smart = await rpc(
      hub.mcp('$smart'),
      'tools/call',
      { name: 'call_tool', arguments: { toolName: 'db-echo', arguments: { text: 'DROP TABLE' } } },
      { headers: { authorization: `Bearer ${admin}` } },
    );
    expect(smart.message).toMatchObject({ error: { code: -32001 } });
  });

  test('cannot be got around by a name that is twice', async () => {
    await set({ id: 'no-drop', text: dropped });
    for (const args of ['{"text":"DROP TABLE","text":"hello"}', '{"text":"hello","te\\u0078t":"DROP TABLE"}']) {
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"db-echo","arguments":${args}}}`;
      const answer = await raw(hub.mcp(), { body, headers: { ...jsonHeaders, authorization: `Bearer ${admin}` } });
      expect(answer.message).toMatchObject({ error: { code: -32001, data: { reason: 'policy' } } });
    }
    const twice =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"db-echo","arguments":{"text":"DROP TABLE"},"arguments":{"text":"x"}}}';
    const answer = await raw(hub.mcp(), { body: twice, headers: { ...jsonHeaders, authorization: `Bearer ${admin}` } });
    expect(answer.message).toMatchObject({ error: { code: -32001 } });
  });

  test('holds for the own key of a user, and names groups and keys', async () => {
    const made = await api(hub, 'POST', '/auth/keys', { token: ann, body: { name: 'mine' } });
    const own = (made.body.data as { token: string }).token;
    await set({ id: 'ann', text: 'forbid(principal == User::"ann", action, resource);' });
    expect((await call({}, own)).message).toMatchObject({ error: { data: { policy: 'ann' } } });
    expect((await call({}, key)).message).not.toHaveProperty('error');
    await set({
      id: 'key',
      text: 'forbid(principal == Key::"k", action == Action::"call", resource in Server::"db");',
    });
    expect((await call({}, key)).message).toMatchObject({ error: { data: { policy: 'key' } } });
    expect((await call({}, own)).message).not.toHaveProperty('error');
    await api(hub, 'PUT', '/users/ann', { token: admin, body: { groups: ['dev'] } });
    await set({ id: 'dev', text: 'forbid(principal in Group::"dev", action, resource);' });
    expect((await call({}, own)).message).toMatchObject({ error: { data: { policy: 'dev' } } });
    expect((await call({}, admin)).message).not.toHaveProperty('error');
  });

  test('about reading holds for subscriptions too, also for those that are there', async () => {
    const own = await session(hub.mcp(), { headers: { authorization: `Bearer ${admin}` } });
    const ask = (method: string) => own.request(method, { uri: 'note://1' });
    expect((await ask('resources/subscribe')).error).toBeUndefined();
    await set({ id: 'read', text: 'forbid(principal, action == Action::"readResource", resource in Server::"db");' });
    expect((await ask('resources/read')).error).toMatchObject({ code: -32001, data: { policy: 'read' } });
    await until('the server is told that it is over', () => db.received('resources/unsubscribe').length > 0);
    expect((await ask('resources/unsubscribe')).error).toBeUndefined();
    expect((await ask('resources/subscribe')).error).toBeDefined();
    await set();
    expect((await ask('resources/subscribe')).error).toBeUndefined();
  });

  test('about reading a part of what is subscribed to holds for news of that part', async () => {
    const own = await session(hub.mcp(), { headers: { authorization: `Bearer ${admin}` } });
    const open = await own.listen();
    await set({
      id: 'part',
      text: 'forbid(principal, action == Action::"readResource", resource == Resource::"db/note://1/secret");',
    });
    expect((await own.request('resources/subscribe', { uri: 'note://1' })).error).toBeUndefined();
    const say = (uri: string) =>
      db.control({
        emit: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } }),
      });
    const heard = () =>
      open.messages.flatMap(({ method, params }) => (method?.endsWith('updated') ? params?.['uri'] : []));
    await say('note://1/secret');
    await say('note://1/open');
    await until('the open part is heard', () => heard().includes('note://1/open'));
    expect(heard()).toEqual(['note://1/open']);
    await own.request('resources/unsubscribe', { uri: 'note://1' });
    await set();
  });

  test('that does not parse is refused with line and column, and the last good set stays', async () => {
    await set({ id: 'no-drop', text: dropped });
    const bad = await put({
      policies: [{ id: 'bad', text: 'permit(principal, action, resource);\nforbid(principal, action resource);' }],
    });
    expect(bad.status).toBe(400);
    expect(bad.text).toContain('line 2, column 26');
    expect((await call({ text: 'DROP TABLE' })).message).toMatchObject({ error: { data: { policy: 'no-drop' } } });
  });

  test('in a folder counts, and a change there too', async () => {
    const folder = temporaryFolder();
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, 'a.cedar'),
      'forbid(principal, action, resource) when { context.arguments.text == "a" };',
    );
    expect((await put({ policies: null, policyFolder: folder })).status).toBe(200);
    expect((await call({ text: 'a' })).message).toMatchObject({ error: { data: { policy: 'a.cedar' } } });
    writeFileSync(
      join(folder, 'a.cedar'),
      'forbid(principal, action, resource) when { context.arguments.text == "b" };',
    );
    await until('the change is seen', async () => (await call({ text: 'b' })).message?.error !== undefined);
    writeFileSync(join(folder, 'a.cedar'), 'forbid(');
    const listed = await api(hub, 'GET', '/policies', { token: admin });
    expect(listed.body.data).toMatchObject([{ id: 'a.cedar', source: 'file', enabled: true }]);
    expect((await call({ text: 'b' })).message).toHaveProperty('error');
    writeFileSync(
      join(folder, 'a.cedar'),
      'forbid(principal, action, resource) when { context.arguments.text == "c" };',
    );
    await until('it is in order again', async () => (await call({ text: 'c' })).message?.error !== undefined);
    expect((await put({ policyFolder: null })).status).toBe(200);
    expect((await put({ policyFolder: '/does/not/exist' })).status).toBe(400);
  });

  test('in a folder that is gone keep every change out but the one that no longer names it', async () => {
    const gone = join(temporaryFolder(), 'policies');
    mkdirSync(gone);
    expect((await put({ policies: null, policyFolder: gone })).status).toBe(200);
    rmSync(gone, { recursive: true });
    const other = { policies: [{ id: 'other', text: dropped }] };
    await until('it is missed', async () => (await put(other)).status === 409);
    expect((await put({ policyFolder: null })).status).toBe(200);
    expect((await put(other)).status).toBe(200);
  });

  test('is tried on recorded calls before it counts', async () => {
    await put({ policies: null, activityLog: { storeToolPayload: true } });
    await call({ text: 'DELETE FROM t' });
    await call({ text: 'SELECT' });
    const policies = [
      { id: 'no-delete', text: 'forbid(principal, action, resource) when { context.arguments.text like "DELETE*" };' },
      {
        id: 'ask',
        text: '@approve("admin") forbid(principal, action, resource) when { context.arguments.text == "SELECT" };',
      },
    ];
    const answer = await api(hub, 'POST', '/policies/simulate', { token: admin, body: { policies } });
    const data = answer.body.data as Record<string, unknown>;
    expect(data['refused']).toEqual([expect.objectContaining({ tool: 'db/echo', policy: 'no-delete' })]);
    expect(data['asked']).toEqual([expect.objectContaining({ tool: 'db/echo', policy: 'ask' })]);
    expect(data['checked']).toBeGreaterThan(1);
    expect(data['warnings']).toEqual([]);
    // As long as a text may be, and about what is not there.
    const long = `forbid(principal, action, resource in Server::"nowhere"); // ${'x'.repeat(20_000)}`;
    const other = await api(hub, 'POST', '/policies/simulate', {
      token: admin,
      body: { policies: [{ id: 'long', text: long }] },
    });
    expect(other.body.data).toMatchObject({
      refused: [],
      warnings: [{ policy: 'long', text: expect.stringContaining('no server "nowhere"') as string }],
    });
    expect((await api(hub, 'POST', '/policies/simulate', { token: ann, body: { policies } })).status).toBe(403);
  });

  test('is not tried on calls whose callers are gone: they do not count as anonymous', async () => {
    await put({ policies: null, activityLog: { storeToolPayload: true } });
    const gone = await userToken(hub, admin, 'gone');
    expect((await call({ text: 'GONE' }, gone)).message).not.toHaveProperty('error');
    const policies = [
      { id: 'gone', text: 'forbid(principal, action, resource) when { context.arguments.text == "GONE" };' },
    ];
    const simulated = async () =>
      (await api(hub, 'POST', '/policies/simulate', { token: admin, body: { policies } })).body.data;
    expect(await simulated()).toMatchObject({ refused: [{ caller: 'gone' }], unknownCallers: 0 });
    expect((await api(hub, 'DELETE', '/users/gone', { token: admin })).status).toBe(200);
    expect(await simulated()).toMatchObject({ refused: [], unknownCallers: 1 });
  });

  test('that names what is not there is said', async () => {
    await set({ id: 'typo', text: 'forbid(principal in Group::"dve", action, resource == Tool::"db/ecko");' });
    const { body } = await api(hub, 'GET', '/policies', { token: admin });
    const [{ warnings, concerns }] = body.data as [{ warnings: string[]; concerns: string[] }];
    expect(concerns).toEqual(['Group::"dve"', 'Tool::"db/ecko"']);
    expect(warnings.join()).toContain('no group with the name "dve"');
    expect(warnings.join()).toContain('offers no such thing');
    await put({ policies: null });
  });
});

describe('an approval', () => {
  const ask = (who: string) => ({
    id: 'ask',
    text: `@approve("${who}") @message("Echo?") forbid(principal, action, resource == Tool::"db/echo");`,
  });
  const waiting = async (token = admin) => {
    const { body } = await api(hub, 'GET', '/approvals', { token });
    return (body.data as { id: string; state: string; arguments: string; mayDecide: boolean }[]).filter(
      ({ state }) => state === 'waiting',
    );
  };
  const asked = async (text: string, token = admin) => {
    await until('it is asked', async () => (await waiting(token)).some((one) => one.arguments.includes(text)));
    return (await waiting(token)).find((one) => one.arguments.includes(text))?.id ?? '';
  };
  const decide = (id: string, decision: string, token = admin) =>
    api(hub, 'POST', `/approvals/${id}`, { token, body: { decision } });

  test('by an admin lets the call go on, once', async () => {
    await set(ask('admin'));
    const running = call({ text: 'one' }, ann);
    const id = await asked('one');
    expect((await decide(id, 'approve')).status).toBe(200);
    expect((await decide(id, 'deny')).status).toBe(409);
    expect((await running).message).not.toHaveProperty('error');
    const again = call({ text: 'one' }, ann);
    const second = await asked('one');
    expect(second).not.toBe(id);
    await decide(second, 'deny');
    expect((await again).message).toMatchObject({
      error: { code: -32001, data: { reason: 'approval', approval: second } },
    });
  });

  test('holds for a caller who gave up and comes back with the same arguments, and for no other', async () => {
    await set(ask('admin'));
    const left = new AbortController();
    const gone = fetch(hub.mcp(), {
      method: 'POST',
      signal: left.signal,
      headers: {
        authorization: `Bearer ${ann}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'db-echo', arguments: { text: 'later' } },
      }),
    }).catch(() => undefined);
    const id = await asked('later');
    left.abort();
    await gone;
    await decide(id, 'approve');
    const other = call({ text: 'later' }, admin);
    const others = await asked('later');
    expect(others).not.toBe(id);
    expect((await call({ text: 'later' }, ann)).message).not.toHaveProperty('error');
    await decide(others, 'deny');
    expect((await other).message).toHaveProperty('error');
  });

  test('is not used up by a call that was not sent: a limit refused it, or a guard', async () => {
    await set(ask('admin'));
    const ben = await userToken(hub, admin, 'ben');
    expect((await put({ guards: [{ id: 'away', url: 'http://127.0.0.1:1/', on: ['call'] }] })).status).toBe(200);
    const running = call({ text: 'unsent' }, ben);
    const id = await asked('unsent');
    await decide(id, 'approve');
    expect((await running).message).toMatchObject({ error: { data: { reason: 'guard' } } });
    await put({ guards: null });
    await api(hub, 'PUT', '/users/ben', { token: admin, body: { limits: { callsPerMinute: 1 } } });
    const before = call({ text: 'counted' }, ben);
    await decide(await asked('counted'), 'approve');
    expect((await before).message).not.toHaveProperty('error');
    expect((await call({ text: 'unsent' }, ben)).message).toMatchObject({ error: { code: -32005 } });
    await api(hub, 'PUT', '/users/ben', { token: admin, body: { limits: null } });
    expect((await call({ text: 'unsent' }, ben)).message).not.toHaveProperty('error');
    const { body } = await api(hub, 'GET', `/approvals/${id}`, { token: admin });
    expect((body.data as { state: string }).state).toBe('used');
  });

  test('is for the group that is named; others see nothing of it', async () => {
    await api(hub, 'PUT', '/users/ann', { token: admin, body: { groups: ['ops'] } });
    const bob = await userToken(hub, admin, 'bob');
    await set(ask('ops'));
    const running = call({ text: 'for ops' }, admin);
    const id = await asked('for ops', ann);
    expect(await waiting(bob)).toEqual([]);
    expect((await decide(id, 'approve', bob)).status).toBe(404);
    expect((await decide(id, 'approve', ann)).status).toBe(200);
    expect((await running).message).not.toHaveProperty('error');
  });

  test('is seen by who made the call, who may withdraw it and not answer it; others neither', async () => {
    const [cat, dan] = [await userToken(hub, admin, 'cat'), await userToken(hub, admin, 'dan')];
    await set(ask('admin'));
    const made = await api(hub, 'POST', '/auth/keys', { token: cat, body: { name: 'of cat' } });
    const running = call({ text: 'mine' }, (made.body.data as { token: string }).token);
    const id = await asked('mine', cat);
    const count = async (token: string) =>
      ((await api(hub, 'GET', '/approvals/waiting', { token })).body.data as { count: number }).count;
    expect([await count(admin), await count(cat)]).toEqual([1, 0]);
    const own = await api(hub, 'GET', `/approvals/${id}`, { token: cat });
    expect(own.body.data).toMatchObject({ who: 'admin', mayDecide: false, mayWithdraw: true });
    expect((await api(hub, 'GET', `/approvals/${id}`, { token: dan })).status).toBe(404);
    expect((await decide(id, 'approve', cat)).status).toBe(404);
    const withdraw = (token: string) => api(hub, 'DELETE', `/approvals/${id}`, { token });
    expect([(await withdraw(dan)).status, (await withdraw(admin)).status]).toEqual([404, 404]);
    expect((await withdraw(cat)).body.data).toMatchObject({ state: 'withdrawn', mayWithdraw: false });
    expect((await running).message).toMatchObject({
      error: { code: -32001, message: expect.stringContaining('withdrawn by cat') as string, data: { approval: id } },
    });
    expect((await decide(id, 'approve')).status).toBe(409);
    expect(await count(admin)).toBe(0);
  });

  test('shows arguments as they are sent: numbers as written, what is not seen as escapes, long ones as a whole', async () => {
    await set(ask('admin'));
    const long = 'x'.repeat(5_000);
    const args = `{"id":12345678901234567890,"price":1.0,"to":"a\u202eb","text":"${long}end"}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"db-echo","arguments":${args}}}`;
    const running = raw(hub.mcp(), { body, headers: { ...jsonHeaders, authorization: `Bearer ${ann}` } });
    const id = await asked('12345678901234567890');
    const [listed] = (await waiting()) as unknown as [{ shown: string; argumentsCut: boolean }];
    expect(listed.argumentsCut).toBe(true);
    expect(listed.shown).toContain('"id": 12345678901234567890,\n  "price": 1.0,\n  "to": "a\\u202eb"');
    const whole = (await api(hub, 'GET', `/approvals/${id}`, { token: admin })).body.data;
    expect(whole).toMatchObject({ arguments: args, argumentsCut: false });
    expect((whole as { shown: string }).shown).toContain('xend"\n}');
    await decide(id, 'deny');
    expect((await running).message).toHaveProperty('error');
  });

  test('ends for both sides when the account of the caller goes, and is not for an approver who lost the group', async () => {
    await set(ask('ops'));
    const eve = await userToken(hub, admin, 'eve');
    const fay = await userToken(hub, admin, 'fay', { groups: ['ops'] });
    const made = await api(hub, 'POST', '/auth/keys', { token: eve, body: { name: 'of eve' } });
    const { id: keyId, token } = made.body.data as { id: string; token: string };
    const running = call({ text: 'by a key' }, token);
    const id = await asked('by a key', fay);
    await api(hub, 'PUT', '/users/fay', { token: admin, body: { groups: [] } });
    expect((await decide(id, 'approve', fay)).status).toBe(404);
    expect((await api(hub, 'DELETE', `/auth/keys/${keyId}`, { token: eve })).status).toBe(200);
    const { status, error } = await running;
    expect(status < 500 && (status >= 400 || error !== undefined)).toBe(true);
    await until('the question is over', async () => !(await waiting()).some((one) => one.id === id));
    const over = await api(hub, 'GET', `/approvals/${id}`, { token: admin });
    expect(over.body.data).toMatchObject({ state: 'withdrawn' });
    const late = await decide(id, 'approve');
    const message = 'This was withdrawn already: the caller has no access any more.';
    expect(late).toMatchObject({ status: 409, body: { message } });
  });

  test('ends when the user shuts out the app that asked', async () => {
    await set(ask('ops'));
    const client = await handClient(hub.url);
    const { body } = await client.redeem(await authorize(client.address()));
    const running = call({ text: 'by an app' }, body.access_token);
    const id = await asked('by an app');
    const [grant] = (await api(hub, 'GET', '/auth/grants', { token: admin })).body.data as [{ id: string }];
    expect((await api(hub, 'DELETE', `/auth/grants/${grant.id}`, { token: admin })).status).toBe(200);
    expect((await running).error).toBeDefined();
    await until('the question is over', async () => !(await waiting()).some((one) => one.id === id));
    const over = await api(hub, 'GET', `/approvals/${id}`, { token: admin });
    expect(over.body.data).toMatchObject({ state: 'withdrawn' });
  });

  test('says to clients that want progress what their call waits for, in both eras and over legacy SSE', async () => {
    setLimits(mcpLimits, { approvalProgressMs: 5 });
    await set(ask('admin'));
    const headers = { authorization: `Bearer ${ann}` };
    const meta = { progressToken: 'p' };
    const params = (text: string) => ({ name: 'db-echo', arguments: { text } });
    const [own, legacy] = [await session(hub.mcp(), { headers }), await legacySession(hub.sse(), { headers })];
    const now = modernRequest('tools/call', params('era two'), { id: 'call', meta: modernMeta(meta), headers });
    const streams = [
      await own.begin('tools/call', { ...params('era one'), _meta: meta }, { id: 'call' }),
      await stream(hub.mcp(), { method: 'POST', ...now, headers: { ...jsonHeaders, ...now.headers } }),
      legacy.stream,
    ];
    const made = { jsonrpc: '2.0', id: 'call', method: 'tools/call', params: { ...params('legacy'), _meta: meta } };
    await legacy.post(made);
    const message = 'Waiting for approval by an admin: echo of server "db".';
    for (const each of streams) {
      const later = await each.message('progress that grows', ({ params: told }) => Number(told?.progress) > 0);
      expect(later).toMatchObject({ method: 'notifications/progress', params: { progressToken: 'p', message } });
    }
    for (const text of ['era one', 'legacy', 'era two']) await decide(await asked(text), 'approve');
    for (const each of streams)
      expect(await each.message('the answer', ({ id }) => id === 'call')).toHaveProperty('result');
  });

  test('is told to a webhook, without secrets, and so is its answer', async () => {
    const { url, received } = await receiver();
    await put({ approvals: { webhook: { url, secret: 'known to both' } } });
    await set(ask('admin'));
    const running = call({ text: 'pay', password: 'not to be told' }, ann);
    await decide(await asked('pay'), 'deny');
    expect((await running).message).toHaveProperty('error');
    await until('both are told', () => received.length >= 2);
    const [first, second] = received.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    expect(first).toMatchObject({
      event: 'approval.asked',
      url: `${hub.url}/approvals`,
      approval: { server: 'db', tool: 'echo', caller: 'ann', arguments: '{"text":"pay","password":"••••"}' },
    });
    expect(second).toMatchObject({ event: 'approval.denied', approval: { decidedBy: 'admin' } });
    const signature = createHmac('sha256', 'known to both')
      .update(received[0]?.body ?? '')
      .digest('hex');
    expect(received[0]?.headers['x-toolhub-signature']).toBe(`sha256=${signature}`);
    const shown = await api(hub, 'GET', '/settings', { token: admin });
    expect(shown.text).toContain(url);
    expect(shown.text).not.toContain('known to both');
    await put({ approvals: null });
  });

  test('by the caller is asked of its client, in both eras', async () => {
    await set(ask('caller'));
    expect((await call({ text: 'no answer' }, admin)).message).toMatchObject({
      error: { code: -32001, data: { reason: 'approval' }, message: expect.stringContaining('cannot ask') as string },
    });
    const headers = { authorization: `Bearer ${admin}` };
    const own = await session(hub.mcp(), { capabilities: askable, headers });
    for (const [action, isDone] of [
      ['accept', true],
      ['decline', false],
    ] as const) {
      const begun = await begin(own, 'db-echo', { text: action });
      const { id, method, params } = await begun.asked();
      expect(method).toBe('elicitation/create');
      expect(params?.['message']).toContain(action);
      await reply(hub.mcp(), own, id, { result: { action, content: {} } });
      const told = await begun.stream.message('the answer', (message) => message.id === 'call');
      expect('error' in told).toBe(!isDone);
    }
    const meta = modernMeta({ 'io.modelcontextprotocol/clientCapabilities': askable });
    const params = { name: 'db-echo', arguments: { text: 'round' } };
    const first = await modern(hub.mcp(), 'tools/call', params, { meta, headers });
    const { inputRequests, requestState } = first.result as unknown as {
      inputRequests: Record<string, { method: string }>;
      requestState: string;
    };
    const [name = ''] = Object.keys(inputRequests);
    const inputResponses = { [name]: { action: 'accept', content: {} } };
    const second = await modern(
      hub.mcp(),
      'tools/call',
      { ...params, requestState, inputResponses },
      { meta, headers },
    );
    expect(second.result?.['resultType'], second.text).toBe('complete');
    // What policies say when the answer comes is what counts, and the arguments are those that were shown.
    const again = await modern(hub.mcp(), 'tools/call', params, { meta, headers });
    const { inputRequests: asked, requestState: state } = again.result as unknown as typeof first.result & {
      inputRequests: Record<string, object>;
      requestState: string;
    };
    await set({ id: 'never', text: 'forbid(principal, action, resource == Tool::"db/echo");' });
    const responses = { [Object.keys(asked)[0] ?? '']: { action: 'accept', content: {} } };
    const late = await modern(
      hub.mcp(),
      'tools/call',
      { ...params, requestState: state, inputResponses: responses },
      { meta, headers },
    );
    expect(late.error).toMatchObject({ code: -32001, data: { reason: 'policy', policy: 'never' } });
    await set();
  });
});

describe('limits', () => {
  test('of a user, a key and a group are refused past them, over MCP and REST', async () => {
    await api(hub, 'PUT', '/users/ann', { token: admin, body: { limits: { callsPerMinute: 2 } } });
    expect(
      [(await call({}, ann)).message, (await call({}, ann)).message].every((one) => one && !('error' in one)),
    ).toBe(true);
    const refused = await call({}, ann);
    expect(refused.message).toMatchObject({
      error: { code: -32005, data: { retryAfterMs: expect.toSatisfy(Number.isInteger) as number } },
    });
    const rest = await api(hub, 'POST', '/tools/call/db', { token: ann, body: { toolName: 'echo', arguments: {} } });
    expect(rest.status).toBe(429);
    expect(Number(rest.headers['retry-after'])).toBeGreaterThan(0);
    expect((await call({}, admin)).message).not.toHaveProperty('error');
    const users = await api(hub, 'GET', '/users', { token: admin });
    expect(users.text).toContain('"limits":{"callsPerMinute":2}');
    await api(hub, 'PUT', '/users/ann', { token: admin, body: { limits: null } });
    expect((await call({}, ann)).message).not.toHaveProperty('error');
    await api(hub, 'PUT', '/auth/keys/k', { token: admin, body: { limits: { callsPerDay: 1 } } });
    await call({}, key);
    expect((await call({}, key)).message).toMatchObject({ error: { code: -32005 } });
    await api(hub, 'PUT', '/groups/dev', { token: admin, body: { limits: { callsPerMinute: 1 } } });
    const inGroup = () =>
      rpc(
        hub.mcp('dev'),
        'tools/call',
        { name: 'db-echo', arguments: {} },
        { headers: { authorization: `Bearer ${admin}` } },
      );
    await inGroup();
    expect((await inGroup()).message).toMatchObject({ error: { code: -32005 } });
    expect((await call({}, admin)).message).not.toHaveProperty('error');
    await api(hub, 'PUT', '/groups/dev', { token: admin, body: { limits: null } });
  });

  test('that are mistyped are refused', async () => {
    for (const limits of [{ callsPerHour: 1 }, { callsPerMinute: 0 }, { callsPerMinute: 1.5 }, 'many'])
      expect((await api(hub, 'PUT', '/users/ann', { token: admin, body: { limits } })).status).toBe(400);
    expect((await put({ limits: { default: { callsPerMinute: -1 } } })).status).toBe(400);
  });
});

describe('why', () => {
  const why = async (query: string, token = admin) => {
    const { status, body } = await api(hub, 'GET', `/why?${query}`, { token });
    return {
      status,
      ...(body.data as { allowed: boolean; steps: { step: string; result: string; reason: string; ref?: string }[] }),
    };
  };

  test('names every step, for tools as exposed and as the server names them', async () => {
    for (const tool of ['db-echo', 'db/echo']) {
      const { allowed, steps } = await why(`tool=${tool}&user=ann`);
      expect(allowed).toBe(true);
      expect(steps.map(({ step }) => step)).toEqual(['access', 'pin', 'policy', 'approval', 'limit']);
    }
    await set({ id: 'no-drop', text: dropped });
    const args = encodeURIComponent(JSON.stringify({ text: 'DROP TABLE' }));
    expect(await why(`tool=db-echo&arguments=${args}`)).toMatchObject({
      allowed: false,
      steps: [{ step: 'access', result: 'allow' }, {}, { step: 'policy', result: 'refuse', ref: 'no-drop' }, {}, {}],
    });
    expect((await why('tool=db-echo')).steps[2]?.reason).toContain('arguments that were not given');
    await set();
  });

  test.each([
    ['tool=db-nothing', 'offers no tool'],
    ['tool=nothing', 'No server offers'],
    ['tool=db-echo&group=nowhere', 'does not exist for this caller'],
    ['tool=other/x', 'No server offers'],
  ])('%s says what is wrong', async (query, reason) => {
    const { allowed, steps } = await why(query);
    expect(allowed).toBe(false);
    expect(steps[0]).toMatchObject({
      step: 'access',
      result: 'refuse',
      reason: expect.stringContaining(reason) as string,
    });
  });

  test('is for admins about all, for others about themselves', async () => {
    expect((await why('tool=db-echo', ann)).allowed).toBe(true);
    // What is hidden from her is as what does not exist.
    const config = { url: 'http://127.0.0.1:9/mcp', enabled: false };
    await api(hub, 'POST', '/servers', { token: admin, body: { name: 'vault', config } });
    const [hidden, none] = [await why('tool=vault/open', ann), await why('tool=nowhere/open', ann)];
    expect(JSON.stringify(hidden).replaceAll('vault', 'nowhere')).toBe(JSON.stringify(none));
    expect((await why('tool=db-echo&user=admin', ann)).status).toBe(403);
    expect((await why('tool=db-echo&key=k', ann)).status).toBe(404);
    expect((await why('tool=db-echo&key=ci')).allowed).toBe(false);
    expect((await why('tool=db-echo&user=who')).status).toBe(404);
    expect((await why('user=ann')).status).toBe(400);
  });
});
