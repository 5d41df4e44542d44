import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { api, login, userToken } from '../kit/api.ts';
import { askable, askingStdio, filled } from '../kit/asking.ts';
import { type Hostile, hostileHttp, temporaryFolder } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { json, scriptedHttp } from '../kit/scripted-http.ts';
import { modern, modernMeta } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// What an admin sets while a call waits holds for that call too: for a person, for its server, for its client.

const secret = `ghp_${'aB3dE5gH7j'.repeat(4)}`;
const gate = join(temporaryFolder(), 'gate');
const ask = { id: 'ask', text: '@approve("admin") forbid(principal, action, resource == Tool::"db/echo");' };
let hub: TestHub;
let db: Hostile;
let admin: string;
let ann: string;
let guard: object;
beforeAll(async () => {
  const { origin } = await scriptedHttp((_, response) => json(response, { decision: 'refuse' }));
  guard = { id: 'no', url: origin, on: ['call'] };
  db = await hostileHttp({ name: 'db', tools: ['echo', 'other'], gate });
  hub = await testHub({
    mcpServers: {
      db: { ...db.config, visibility: 'public' },
      pipe: { ...askingStdio(), visibility: 'public' },
    },
    systemConfig: { routing: { enableBearerAuth: true } },
  });
  await hub.connected(2);
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann');
});

const change = async (path: string, body: object) => {
  const answer = await api(hub, 'PUT', path, { token: admin, body });
  expect(answer.status, answer.text).toBe(200);
};
const system = (body: object) => change('/system-config', body);
const secrets = (mode: string | null) =>
  change('/servers/db', { config: { secretsInCalls: mode && { arguments: mode } } });
const call = (tool: string, args: object = {}) =>
  rpc(
    hub.mcp(),
    'tools/call',
    { name: `db-${tool}`, arguments: args },
    { headers: { authorization: `Bearer ${ann}` } },
  );
afterEach(async () => {
  await system({ policies: null, guards: null });
  await secrets(null);
  await change('/users/ann', { limits: null });
});
const got = () => db.received('tools/call').map(({ params }) => params);

const refused = { message: expect.stringMatching(/guard "no" refuses|changed while the call waited/) as string };
/** What is set, and why the call is refused. */
const sets: [string, () => Promise<void>, object][] = [
  [
    'a policy that forbids',
    () => system({ policies: [{ id: 'no', text: 'forbid(principal, action, resource);' }] }),
    { code: -32001, data: { reason: 'policy' } },
  ],
  ['a guard', () => system({ guards: [guard] }), refused],
  ['that secrets are refused', () => secrets('refuse'), refused],
  ['that secrets are masked', () => secrets('mask'), refused],
];

describe('while a call waits for a person', () => {
  const waiting = async () => {
    const { body } = await api(hub, 'GET', '/approvals', { token: admin });
    return (body.data as { id: string; state: string }[]).filter(({ state }) => state === 'waiting');
  };
  const begun = async (args: object) => {
    const running = call('echo', args);
    const [asked] = await until('it is asked', async () => {
      const found = await waiting();
      return found.length > 0 && found;
    });
    const approve = () => api(hub, 'POST', `/approvals/${asked?.id}`, { token: admin, body: { decision: 'approve' } });
    return { running, approve };
  };

  test.each(sets)('%s is set', async (name, set, refusal) => {
    await system({ policies: [ask] });
    const before = got().length;
    const { running, approve } = await begun({ name, secret });
    await set();
    await approve();
    expect((await running).error).toMatchObject(refusal);
    expect(got()).toHaveLength(before);
  });

  test('a limit of its caller is set, and used up', async () => {
    await system({ policies: [ask] });
    const { running, approve } = await begun({ name: 'limited' });
    await change('/users/ann', { limits: { callsPerMinute: 1 } });
    expect((await call('other')).error).toBeUndefined();
    const before = got().length;
    await approve();
    expect((await running).error).toMatchObject({ code: -32005 });
    expect(got()).toHaveLength(before);
  });
});

describe('while a call waits for its server', () => {
  test.each(sets)('%s is set', async (name, set, refusal) => {
    writeFileSync(gate, '');
    expect((await api(hub, 'POST', '/servers/db/reload', { token: admin })).status).toBe(200);
    const before = got().length;
    const running = call('echo', { name, secret });
    await hub.health();
    await set();
    rmSync(gate);
    expect((await running).error).toMatchObject(refusal);
    expect(got()).toHaveLength(before);
  });
});

test('while a call waits for its client, a policy begins to ask', async () => {
  const meta = modernMeta({ 'io.modelcontextprotocol/clientCapabilities': askable });
  const how = { meta, headers: { authorization: `Bearer ${ann}` } };
  const round = (more: object = {}) =>
    modern(hub.mcp(), 'tools/call', { name: 'pipe-form', arguments: { label: 'who?' }, ...more }, how);
  const { result } = await round();
  const [name = ''] = Object.keys(result?.['inputRequests'] as object);
  const again = { requestState: result?.['requestState'], inputResponses: { [name]: filled('me').result } };
  await system({ policies: [{ id: 'ask', text: '@approve("admin") forbid(principal, action, resource);' }] });
  expect((await round(again)).error).toMatchObject({ code: -32001, data: { reason: 'approval', policy: 'ask' } });
  await system({ policies: null });
  expect((await round(again)).result).toMatchObject({ resultType: 'complete' });
});
