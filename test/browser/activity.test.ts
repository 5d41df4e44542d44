import { beforeAll, describe, expect, test } from 'vitest';
import { api, login, passwordOf, userToken } from '../kit/api.ts';
import { type Hostile, hostileStdio } from '../kit/hostile.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { visit, violations } from './kit.ts';

// The activity: the calls that were made.

let hub: TestHub;
let admin: string;
let ann: string;
let alpha: Hostile;
const asAnn = { username: 'ann', password: passwordOf('ann') };

beforeAll(async () => {
  alpha = hostileStdio({ tools: ['echo', 'fail'] });
  hub = await testHub({
    mcpServers: { alpha: alpha.config, beta: hostileStdio({ tools: ['echo'] }).config },
    systemConfig: { activityLog: { storeToolPayload: true } },
    env: { LOG_LEVEL: 'debug' },
  });
  await hub.connected(2);
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann', { servers: ['beta'] });
  const call = (token: string, server: string, toolName: string, args = {}) =>
    api(hub, 'POST', `/tools/call/${server}`, { token, body: { toolName, arguments: args } });
  await call(admin, 'alpha', 'echo', { tag: 'the argument' });
  await call(admin, 'alpha', 'fail');
  await call(ann, 'beta', 'echo');
});

describe('the activity', () => {
  test('has charts and calls, is filtered, and shows one call with what was kept of it', async () => {
    const page = await visit(hub, '/activity');
    const table = page.getByRole('table').last();
    await table.getByText('fail', { exact: true }).waitFor();
    await page.getByRole('img', { name: 'Calls and errors' }).waitFor();
    await page.getByLabel('Outcome').selectOption('success');
    await table.getByText('fail', { exact: true }).waitFor({ state: 'detached' });
    await page.waitForURL(/status=success/);
    await page.getByLabel('Server').selectOption('alpha');
    await page.getByRole('button', { name: 'echo' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('the argument').first().waitFor();
    await dialog.getByRole('link', { name: 'Try it in the playground' }).click();
    await page.waitForURL(/\/tools\?server=alpha&tool=echo/);
    await page.goto(`${hub.url}/activity?server=nope`);
    await page.getByText('No call matches').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.getByRole('button', { name: 'fail' }).waitFor();
  });

  test('shows a user their own calls', async () => {
    const page = await visit(hub, '/activity', { as: asAnn });
    await page.getByText('Page 1 of 1, 1 calls').waitFor();
    expect(await page.getByLabel('Access key').count()).toBe(0);
  });
});

test('readers of screens find nothing wrong', async () => {
  for (const options of [{}, { dark: true }, { width: 390 }]) {
    const page = await visit(hub, '/activity', options);
    await page.getByText('Calls and errors', { exact: true }).first().waitFor();
    expect(await violations(page)).toEqual([]);
  }
});
