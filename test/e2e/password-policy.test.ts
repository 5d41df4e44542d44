import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createPasswords } from '../../src/auth/passwords.ts';
import { api, login, userToken } from '../kit/api.ts';
import { storedSettings } from '../kit/hub-database.ts';
import { failedStart, hubProcess, type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Which passwords may be set (CONTRACT §7 and the specification: six characters at least), and what becomes of weak
// ones.

const policyOf = (passwordPolicy: unknown) => ({ systemConfig: { auth: { passwordPolicy } } });
const userIn = async (hub: TestHub, name: string) => {
  const { users } = JSON.parse(await storedSettings(hub)) as { users: Record<string, unknown>[] };
  return users.find(({ username }) => username === name);
};

describe('a policy', () => {
  let hub: TestHub;
  let admin: string;
  let ann: string;
  beforeAll(async () => {
    hub = await testHub({ mcpServers: {} });
    admin = await login(hub);
    ann = await userToken(hub, admin, 'ann');
    const body = { auth: { passwordPolicy: { minLength: 10, refuseCommon: true } } };
    expect((await api(hub, 'PUT', '/system-config', { token: admin, body })).status).toBe(200);
  });

  test.each([
    ['short one', 'must have at least 10 characters'],
    ['password123!', 'among the most common passwords'],
    ['          ', 'repeats the same few characters'],
    ['1234567890', 'row of the alphabet'],
    ['ToolHub-2024', 'name of this program'],
    ['ann.smith-12', 'is the user name'],
  ])('refuses %j wherever one is set, at its place, and nothing changes', async (password, why) => {
    const before = await storedSettings(hub);
    const currentPassword = 'password of ann';
    for (const [method, path, token, body, place] of [
      ['POST', '/users', admin, { username: 'ann.smith', password }, 'password'],
      ['PUT', '/users/ann', admin, { newPassword: password }, 'password'],
      ['POST', '/auth/change-password', ann, { currentPassword, newPassword: password }, 'newPassword'],
    ] as const) {
      // The name is another one there.
      if (path !== '/users' && why.includes('user name')) continue;
      const answer = await api(hub, method, path, { token, body });
      expect([answer.status, answer.body.errors?.map((problem) => problem.path)], answer.text).toEqual([400, [place]]);
      expect(answer.body.message).toContain(why);
      expect(answer.text).not.toContain(password);
    }
    expect(await storedSettings(hub)).toBe(before);
  });

  test('lets those in who had one before, and lets them choose a better one', async () => {
    expect(await login(hub, 'ann', 'password of ann')).toMatch(/^eyJ/);
    const body = { currentPassword: 'password of ann', newPassword: 'a duck in the snow' };
    expect((await api(hub, 'POST', '/auth/change-password', { token: ann, body })).status).toBe(200);
  });

  test.each([
    { minLength: 5 },
    { minLength: 1_000 },
    { minLength: '12' },
    { refuseCommon: 'yes' },
    { minLenght: 12 },
    'strict',
  ])('that is %j is refused at its path, and the one before stays', async (passwordPolicy) => {
    const token = await login(hub);
    const answer = await api(hub, 'PUT', '/system-config', { token, body: { auth: { passwordPolicy } } });
    expect([answer.status, answer.text], answer.text).toEqual([400, expect.stringContaining('passwordPolicy')]);
    const { strength, minLength } = (
      await api(hub, 'POST', '/auth/password-check', { token, body: { password: 'dragon77' } })
    ).body.data as Record<string, unknown>;
    expect([strength, minLength]).toEqual(['weak', 10]);
  });
});

test.each([{ minLength: 5 }, { refuseCommon: 1 }, { minLenght: 12 }])(
  'a file with the policy %j stops the start',
  async (policy) => {
    const { code, output } = await failedStart(policyOf(policy));
    expect([code, output]).toEqual([2, expect.stringContaining('systemConfig.auth.passwordPolicy')]);
  },
);

test('ADMIN_PASSWORD that the policy refuses makes no first admin, and the start says so', async () => {
  const options = { ...policyOf({ refuseCommon: true }), env: { ADMIN_PASSWORD: 'password1' } };
  const { code, output } = await failedStart(options);
  expect([code, output]).toEqual([2, expect.stringMatching(/ADMIN_PASSWORD: .*most common passwords/)]);
  expect(output).not.toContain('password1');
});

test('without a policy six characters are enough, and what is weak is judged and noted', async () => {
  const hub = await testHub({ mcpServers: {} });
  const admin = await login(hub);
  const made = await api(hub, 'POST', '/users', { token: admin, body: { username: 'ann', password: '123456' } });
  expect(made.status, made.text).toBe(201);
  expect(made.text).not.toContain('Weak');
  expect(await userIn(hub, 'ann')).toMatchObject({ passwordIsWeak: true });
  const ann = await login(hub, 'ann', '123456');
  expect((await api(hub, 'GET', '/auth/user', { token: ann })).body['user']).toMatchObject({ passwordIsWeak: true });
  const judge = async (body: object) =>
    (await api(hub, 'POST', '/auth/password-check', { token: ann, body })).body.data;
  expect(await judge({ password: 'annann1' })).toEqual({ strength: 'weak', weakness: 'name', minLength: 6 });
  expect(await judge({ password: 'annann1', username: 'bob' })).not.toMatchObject({ weakness: 'name' });
  expect(await judge({ password: 'a duck in the snow' })).toEqual({ strength: 'strong', minLength: 6 });
  expect((await api(hub, 'POST', '/auth/password-check', { body: { password: 'x' } })).status).toBe(401);
  await api(hub, 'PUT', '/users/ann', { token: admin, body: { password: 'a duck in the snow' } });
  expect(await userIn(hub, 'ann')).not.toHaveProperty('passwordIsWeak');
});

test('a weak password of before is noted at its next login, and an exposed hub warns of it at the next start', async () => {
  const password = await createPasswords().hash('letmein99');
  const users = [{ username: 'admin', password, isAdmin: true }];
  const first = await hubProcess({ mcpServers: {}, users, env: { ADMIN_PASSWORD: '' } });
  expect(first.output()).not.toContain('weak');
  await login(first, 'admin', 'letmein99');
  await until('it is noted', () => readFileSync(first.settingsPath, 'utf8').includes('passwordIsWeak'));
  await first.stop('SIGTERM');
  const exposed = await hubProcess({ folder: first.folder, env: { HOST: '0.0.0.0', ADMIN_PASSWORD: '' } });
  await until('the start has warned', () =>
    /passwords of these users are weak.*"users":"admin"/.test(exposed.output()),
  );
  expect(exposed.output()).not.toContain('letmein99');
});

test('ADMIN_PASSWORD that is weak and still in use is noted at the start', async () => {
  const first = await testHub({ mcpServers: {}, env: { ADMIN_PASSWORD: 'a duck in the snow' } });
  expect(await userIn(first, 'admin')).not.toHaveProperty('passwordIsWeak');
  const second = await testHub({ mcpServers: {}, env: { ADMIN_PASSWORD: 'letmein99' } });
  expect(await userIn(second, 'admin')).toMatchObject({ passwordIsWeak: true });
});

describe('the first password, where the start is written to a log', () => {
  test('is in a file of the owner alone and not in the log, and the file goes with the password', async () => {
    const hub = await hubProcess({
      mcpServers: {},
      env: { ADMIN_PASSWORD: '', LOG_LEVEL: 'info', LOG_FORMAT: 'json' },
    });
    const path = join(hub.folder, 'data', 'first-admin-password');
    expect(hub.output()).toContain(`username admin, password in ${path}`);
    const password = readFileSync(path, 'utf8').trim();
    expect(password).toMatch(/^[\w-]{24}$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const token = await login(hub, 'admin', password);
    expect(hub.output()).not.toContain(password);
    expect((await api(hub, 'GET', '/logs', { token })).text).not.toContain(password);
    const other = await api(hub, 'POST', '/users', { token, body: { username: 'ann', password: 'long enough' } });
    expect(other.status, other.text).toBe(201);
    expect(existsSync(path)).toBe(true);
    const body = { currentPassword: password, newPassword: 'a duck in the snow' };
    expect((await api(hub, 'POST', '/auth/change-password', { token, body })).status).toBe(200);
    await until('the file is gone', () => !existsSync(path));
  });

  test('goes too when another way has changed it, also while the hub was stopped', async () => {
    const start = (folder?: string) =>
      testHub({ ...(folder === undefined ? { mcpServers: {} } : { folder }), env: { ADMIN_PASSWORD: '' } });
    const hub = await start();
    const path = join(hub.folder, 'data', 'first-admin-password');
    const token = await login(hub, 'admin', readFileSync(path, 'utf8').trim());
    const changed = await api(hub, 'PUT', '/users/admin', { token, body: { password: 'a duck in the snow' } });
    expect(changed.status, changed.text).toBe(200);
    await until('the file is gone', () => !existsSync(path));
    expect(await userIn(hub, 'admin')).not.toHaveProperty('passwordIsInitial');
  });

  test('has no file when it was given', async () => {
    const hub = await testHub({ mcpServers: {} });
    expect(existsSync(join(hub.folder, 'data', 'first-admin-password'))).toBe(false);
  });
});
