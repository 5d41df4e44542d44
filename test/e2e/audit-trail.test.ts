import { expect, test } from 'vitest';
import type { LogEntry } from '../../src/core/log-entry.ts';
import { api, login, userToken } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { testHub } from '../kit/test-hub.ts';

test('every change of a group is in the log with who made it; what was refused is not', async () => {
  const hub = await testHub({
    mcpServers: { alpha: (await hostileHttp({ name: 'alpha', tools: ['echo'] })).config },
    env: { LOG_LEVEL: 'info' },
  });
  const token = await login(hub);
  const call = async (method: string, path: string, body?: unknown) =>
    (await api(hub, method, `/groups${path}`, { token, body })).status;
  const statuses = [
    await call('POST', '', { name: 'dev' }),
    await call('POST', '', { name: 'dev' }),
    await call('POST', '/batch', { groups: [{ name: 'ops' }, { name: 'dev' }] }),
    await call('PUT', '/dev', { name: 'dev2' }),
    await call('POST', '/dev2/servers', { serverName: 'alpha' }),
    await call('PUT', '/dev2/servers/batch', { servers: ['alpha'] }),
    await call('PUT', '/dev2/server-configs/alpha/tools', { tools: ['echo'] }),
    await call('DELETE', '/dev2/servers/alpha'),
    await call('DELETE', '/dev2'),
    await call('DELETE', '/dev2'),
  ];
  expect(statuses).toEqual([201, 409, 207, 200, 200, 200, 200, 200, 200, 404]);
  const { body } = await api(hub, 'GET', '/logs?service=api&q=group', { token });
  const changed = 'group changed group=dev2 by=admin';
  expect((body.data as LogEntry[]).map(({ message }) => message)).toEqual([
    'group created group=dev by=admin',
    'group created group=ops by=admin',
    ...Array<string>(5).fill(changed),
    'group deleted group=dev2 by=admin',
  ]);
});

test('a login that fails is in the log, with who and from where, for admins, and the password nowhere', async () => {
  const hub = await testHub({ mcpServers: {}, env: { LOG_LEVEL: 'info', TRUST_PROXY: 'true' } });
  const admin = await login(hub);
  const ann = await userToken(hub, admin, 'ann');
  const body = { username: 'ann', password: 'canary-of-a-password' };
  const headers = { 'x-forwarded-for': '203.0.113.9' };
  expect((await api(hub, 'POST', '/auth/login', { body, headers })).status).toBe(401);
  const failures = async (token: string) => (await api(hub, 'GET', '/logs?q=login%20failed', { token })).text;
  expect(await failures(admin)).toMatch(/login failed.*ann.*203\.0\.113\.9/);
  expect(await failures(ann)).not.toContain('203.0.113.9');
  expect((await api(hub, 'GET', '/logs', { token: admin })).text).not.toContain('canary-of-a-password');
});
