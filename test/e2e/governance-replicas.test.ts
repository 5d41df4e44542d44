import { beforeAll, expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { sharedPostgres } from '../kit/databases.ts';
import { type Hostile, hostileHttp } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { receiver } from '../kit/receiver.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Hubs that share a PostgreSQL count together, and a question of one is answered at the other, once.

let hubs: readonly [TestHub, TestHub];
let db: Hostile;
let admin: string;
beforeAll(async () => {
  const url = await (await sharedPostgres()).createDatabase();
  const env = { DB_URL: url, JWT_SECRET: 'a secret of all hubs that share this database' };
  db = await hostileHttp({ capabilities: { tools: { listChanged: true } } });
  const first = await testHub({
    mcpServers: { db: { ...db.config, visibility: 'public' } },
    systemConfig: { routing: { enableBearerAuth: true } },
    env,
  });
  const second = await testHub({ mcpServers: {}, env });
  await Promise.all([first.connected(1), second.connected(1)]);
  hubs = [first, second];
  admin = await login(first);
});

const call = (hub: TestHub, text: string) =>
  rpc(
    hub.mcp(),
    'tools/call',
    { name: 'db-echo', arguments: { text } },
    { headers: { authorization: `Bearer ${admin}` } },
  );
const put = async (body: object) => {
  const answer = await api(hubs[0], 'PUT', '/system-config', { token: admin, body });
  expect(answer.status, answer.text).toBe(200);
};

test('a limit is one limit for both', async () => {
  await put({ limits: { default: { callsPerMinute: 4 } } });
  await until('the second hub knows', async () =>
    (await api(hubs[1], 'GET', '/settings', { token: admin })).text.includes('callsPerMinute'),
  );
  const answers = await Promise.all([0, 1, 0, 1, 0, 1].map((at, i) => call(hubs[at as 0 | 1], `limited ${i}`)));
  expect(answers.filter(({ error }) => error === undefined)).toHaveLength(4);
  expect(answers.filter(({ error }) => error?.code === -32005)).toHaveLength(2);
  await put({ limits: null });
  await until('the second hub knows', async () => (await call(hubs[1], 'free')).error === undefined);
});

test('a question of one hub is answered at the other; of two answers one counts', async () => {
  const text = '@approve("admin") forbid(principal, action, resource == Tool::"db/echo");';
  const { url, received } = await receiver();
  await put({ policies: [{ id: 'ask', text }], approvals: { webhook: { url } } });
  await until('the second hub knows', async () =>
    (await api(hubs[1], 'GET', '/policies', { token: admin })).text.includes('"ask"'),
  );
  const running = [call(hubs[0], 'together'), call(hubs[1], 'alone')];
  const waiting = async (hub: TestHub) => {
    const { body } = await api(hub, 'GET', '/approvals', { token: admin });
    return (body.data as { id: string; state: string; arguments: string }[]).filter(({ state }) => state === 'waiting');
  };
  await until('both hubs show both', async () => {
    const lists = await Promise.all(hubs.map(waiting));
    return lists.every((list) => list.length === 2);
  });
  for (const { id } of await waiting(hubs[1])) {
    const decisions = await Promise.all(
      hubs.map((hub) => api(hub, 'POST', `/approvals/${id}`, { token: admin, body: { decision: 'approve' } })),
    );
    expect(decisions.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  }
  for (const answer of await Promise.all(running)) expect(answer.error, answer.text).toBeUndefined();
  // One hub tells of each.
  await until('the webhook is told', () => received.length >= 4);
  const events = received.map(({ body }) => (JSON.parse(body) as { event: string }).event);
  expect(events.toSorted()).toEqual(['approval.approved', 'approval.approved', 'approval.asked', 'approval.asked']);
  await put({ policies: null, approvals: null });
});

test('of decisions about the pins of one server at both at the same moment none is lost, and a change is told once', async () => {
  const names = Array.from({ length: 8 }, (_, i) => `tool${i}`);
  const tools = names.map((name) => ({ name, description: 'New.', inputSchema: { type: 'object' } }));
  await db.control({
    set: { tools },
    emit: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }),
  });
  const states = async (hub: TestHub) => {
    const { body } = await api(hub, 'GET', '/pins?server=db', { token: admin });
    const found = body.data as { name: string; state: string }[];
    return found.filter(({ name }) => names.includes(name)).map(({ name, state }) => `${name} ${state}`);
  };
  await until('both hubs have read the new list', async () =>
    (await Promise.all(hubs.map(states))).every((list) => list.length === names.length),
  );
  const decided = await Promise.all(
    names.map((name, i) => {
      const body = { items: [{ kind: 'tool', name }] };
      return api(hubs[(i % 2) as 0 | 1], 'POST', `/pins/db/${i < 4 ? 'approve' : 'reject'}`, { token: admin, body });
    }),
  );
  expect(decided.map(({ status }) => status)).toEqual(names.map(() => 200));
  const expected = names.map((name, i) => `${name} ${i < 4 ? 'approved' : 'rejected'}`);
  await until('both hubs have all of them', async () =>
    (await Promise.all(hubs.map(states))).every((list) => list.join() === expected.join()),
  );
  const told = async () => {
    const { body } = await api(hubs[0], 'GET', '/audit?action=pin.noticed', { token: admin });
    return (body.data as { after: { name: string } }[]).map(({ after }) => after.name).toSorted();
  };
  await until('the audit log has all of them', async () => {
    const all = await told();
    return names.every((name) => all.includes(name));
  });
  const all = await told();
  expect(all).toEqual([...new Set(all)]);
});
