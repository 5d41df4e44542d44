import { join } from 'node:path';
import { expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { clientWithId, fieldsOf, handClient, submit } from '../kit/authorizing.ts';
import { person } from '../kit/command.ts';
import { copyOfEmbedded } from '../kit/embedded-template.ts';
import { temporaryFolder } from '../kit/hostile.ts';
import { setUpTotp } from '../kit/second-factor.ts';
import { testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// `toolhub reset-factor`: the last admin has lost the second factor; who can read the data folder takes it off.

test('the second factor of an admin is taken off on the machine of the hub, running or not, and the audit log says so', async () => {
  const folder = temporaryFolder();
  await copyOfEmbedded(join(folder, 'data'));
  const start = () => testHub({ folder, env: { DB_URL: '' } });
  const first = await start();
  const operator = person(first);
  const env = {
    TOOLHUB_URL: '',
    DATA_DIR: join(folder, 'data'),
    SETTINGS_PATH: join(folder, 'mcp_settings.json'),
  };
  const reset = (...words: string[]) => operator.run(['reset-factor', ...words], { env });
  const protect = async (hub: typeof first) => {
    await setUpTotp(hub, { token: await login(hub) });
    await expect(login(hub)).rejects.toThrow();
  };
  const resets = async (hub: typeof first) => {
    const token = await login(hub);
    const data = await until('the audit log answers', async () => {
      const { body } = await api(hub, 'GET', '/audit?action=second-factor.reset', { token });
      return body.data as { actor: object; via: string; target: string }[] | undefined;
    });
    return data.map(({ actor, via, target }) => ({ actor, via, target }));
  };
  await protect(first);
  // At once: when all logins of a user end, tokens of the next minute end too, for other clocks may be ahead.
  expect(await reset('admin')).toMatchObject({ code: 0 });
  const byMachine = { actor: { kind: 'hub', name: '' }, via: 'cli', target: 'admin' };
  expect(await resets(first)).toEqual([byMachine]);
  expect(await reset('admin')).toMatchObject({ code: 2 });
  expect(await reset('none')).toMatchObject({ code: 2 });
  expect(await reset()).toMatchObject({ code: 2 });
  const { token, recoveryCodes } = await setUpTotp(first, { token: await login(first) });
  const code = () => recoveryCodes.pop() ?? '';
  // Each kind of login that goes on after the hub has stopped.
  const named = { username: 'admin', password: 'correct horse', cookie: true };
  const { challenge } = (await api(first, 'POST', '/auth/login', { body: named })).body;
  const entered = await api(first, 'POST', '/auth/login', { body: { challenge, code: code(), cookie: true } });
  const given = [entered.headers['set-cookie'] ?? []].flat();
  const cookie = given.map((one) => one.split(';')[0]).join('; ');
  const client = await handClient(first.url);
  const page = async (answer: Promise<Response>) => fieldsOf(await (await answer).text());
  const asked = await page(fetch(client.address()));
  const half = await page(submit(client.address(), { ...asked, username: 'admin', password: 'correct horse' }));
  const consent = await page(submit(client.address(), { ...half, code: code() }));
  const allowed = await submit(client.address(), { ...consent, decision: 'allow', reach: 'all' });
  const tokens = await client.redeem(new URL(allowed.headers.get('location') ?? ''));
  const reads = (hub: typeof first) =>
    Promise.all(
      [{ token }, { headers: { cookie } }].map(async (as) => (await api(hub, 'GET', '/auth/user', as)).status),
    );
  expect(await reads(first)).toEqual([200, 200]);
  await first.close();
  expect(await reset('admin')).toMatchObject({ code: 0 });
  expect(await reset('admin')).toMatchObject({ code: 2 });
  const again = await start();
  expect(await reads(again)).toEqual([401, 401]);
  const later = { ...client, ...clientWithId(again.url, client.id) };
  expect((await later.refresh(tokens.body.refresh_token)).body).toMatchObject({ error: 'invalid_grant' });
  expect(await resets(again)).toEqual([byMachine, byMachine]);
});
