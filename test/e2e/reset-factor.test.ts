import { join } from 'node:path';
import { expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
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
    const { body } = await api(hub, 'GET', '/audit?action=second-factor.reset', { token: await login(hub) });
    return (body.data as { actor: object; via: string; target: string }[]).map(({ actor, target }) => ({
      actor,
      target,
    }));
  };
  await protect(first);
  // Tokens of the second in which all logins ended do not count, those of the command among them.
  await until('that second is over', async () => (await reset('admin')).code === 0);
  expect(await resets(first)).toEqual([{ actor: { kind: 'user', name: 'admin' }, target: 'admin' }]);
  expect(await reset('admin')).toMatchObject({ code: 1 });
  expect(await reset('none')).toMatchObject({ code: 1 });
  expect(await reset()).toMatchObject({ code: 2 });
  await protect(first);
  await first.close();
  expect(await reset('admin')).toMatchObject({ code: 0 });
  expect(await reset('admin')).toMatchObject({ code: 1 });
  const again = await start();
  expect(await resets(again)).toEqual([
    { actor: { kind: 'hub', name: '' }, target: 'admin' },
    { actor: { kind: 'user', name: 'admin' }, target: 'admin' },
  ]);
});
