import { beforeAll, describe, expect, test } from 'vitest';
import { api, login, userToken } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Policies, arguments and approvers made to cost the hub its time, or its decision.

let hub: TestHub;
let admin: string;
beforeAll(async () => {
  const db = await hostileHttp();
  hub = await testHub({
    mcpServers: { db: { ...db.config, visibility: 'public' } },
    groups: [{ id: 'g-ops', name: 'ops', servers: ['db'] }],
    systemConfig: { routing: { enableBearerAuth: true } },
  });
  await hub.connected(1);
  admin = await login(hub);
});

const set = (...policies: object[]) => api(hub, 'PUT', '/system-config', { token: admin, body: { policies } });
const call = (args: string, token = admin) =>
  api(hub, 'POST', '/tools/call/db', { token, body: { toolName: 'echo', arguments: JSON.parse(args) as object } });

test('policies of 1 MB are refused with what to do, and the set before stays', async () => {
  const text = '@message("No.") forbid(principal, action, resource) when { context.arguments.text == "no" };';
  expect((await set({ id: 'small', text })).status).toBe(200);
  const filler = `// ${'x'.repeat(32_000)}\nforbid(principal, action, resource in Server::"other");`;
  const long = await set({ id: 'long', text: `// ${'x'.repeat(1_048_576)}\n${text}` });
  expect([long.status, long.text]).toEqual([400, expect.stringMatching(/longer than 32768 characters/)]);
  const many = await set(...Array.from({ length: 33 }, (_, i) => ({ id: `p${i}`, text: filler })));
  expect([many.status, many.text]).toEqual([400, expect.stringMatching(/characters/)]);
  expect((await call('{"text":"no"}')).status).toBe(403);
  expect((await call('{"text":"yes"}')).status).toBe(200);
});

describe('arguments that are hard to judge', () => {
  const nested = (levels: number) => `{"text":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`;
  const keys = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, i]));
  test.each([
    ['nested deeply', nested(500)],
    ['of 100 000 members', JSON.stringify({ text: keys })],
    ['long', JSON.stringify({ text: { a: 'a'.repeat(300_000) } })],
    ['long, against a long pattern', JSON.stringify({ text: 'a'.repeat(200_000) })],
  ])('%s are refused, and the next call is answered', async (_, args) => {
    const pattern = `*${'a'.repeat(10_000)}b*`;
    const text = `forbid(principal, action, resource) when { if true then context.arguments.text like "${pattern}" else false };`;
    expect((await set({ id: 'reads', text })).status).toBe(200);
    const refused = await call(args);
    expect([refused.status, refused.text]).toEqual([403, expect.stringMatching(/cannot judge this call/)]);
    expect((await call('{"text":"a"}')).status).toBe(200);
    // What no policy reads may be as it is.
    expect((await set({ id: 'reads', text: text.replaceAll('.text', '.other') })).status).toBe(200);
    expect((await call(args)).status).toBe(200);
  });
});

describe('an approver who is gone', () => {
  test.each(['has left the group', 'is no user any more'])('%s answers nothing, and others still can', async (how) => {
    const text = '@approve("ops") forbid(principal, action, resource == Tool::"db/echo");';
    expect((await set({ id: 'ask', text })).status).toBe(200);
    const ops = await userToken(hub, admin, 'kim');
    const change = async (groups: string[]) => {
      const changed = await api(hub, 'PUT', '/users/kim', { token: admin, body: { groups } });
      expect(changed.status, changed.text).toBe(200);
    };
    await change(['g-ops']);
    const running = rpc(
      hub.mcp(),
      'tools/call',
      { name: 'db-echo', arguments: { text: how } },
      { headers: { authorization: `Bearer ${admin}` } },
    );
    const waiting = async (token: string) => {
      const { body } = await api(hub, 'GET', '/approvals', { token });
      return ((body.data ?? []) as { id: string; state: string }[]).filter(({ state }) => state === 'waiting');
    };
    const [asked] = await until('the approver sees it', async () => {
      const found = await waiting(ops);
      return found.length > 0 && found;
    });
    if (how === 'has left the group') await change([]);
    else expect((await api(hub, 'DELETE', '/users/kim', { token: admin })).status).toBe(200);
    const late = await api(hub, 'POST', `/approvals/${asked?.id}`, { token: ops, body: { decision: 'approve' } });
    expect(late.status).toBe(how === 'has left the group' ? 404 : 401);
    expect(await waiting(admin)).toHaveLength(1);
    const decided = await api(hub, 'POST', `/approvals/${asked?.id}`, { token: admin, body: { decision: 'approve' } });
    expect(decided.status, decided.text).toBe(200);
    expect((await running).error).toBeUndefined();
    await api(hub, 'DELETE', '/users/kim', { token: admin });
  });
});
