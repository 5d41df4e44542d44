import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { upstreamLimits } from '../../src/upstream/limits.ts';
import { api, login, passwordOf, userToken } from '../kit/api.ts';
import { fakeNpx } from '../kit/fake-npx.ts';
import { hostileHttp, hostileStdio } from '../kit/hostile.ts';
import { hubProcess, type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';
import { visit, violationsInEveryLook } from './kit.ts';

// The first page: what the hub does now, and what needs a person.

let hub: TestHub;

beforeAll(async () => {
  hub = await testHub({
    mcpServers: {
      alpha: (await hostileHttp({ tools: ['echo', 'fail'] })).config,
      gone: { url: 'http://127.0.0.1:9/mcp' },
    },
  });
  await hub.connected(1);
});

test('shows servers, calls as they come, what is open, and how to connect', async () => {
  const token = await login(hub);
  const call = (toolName: string) => api(hub, 'POST', '/tools/call/alpha', { token, body: { toolName } });
  const page = await visit(hub, '/');
  await page.getByText('1 needs you').waitFor();
  await page.getByText('No call in this time').first().waitFor();
  await page.getByRole('link', { name: 'gone' }).waitFor();
  await page.getByText('Use 2 tools of alpha', { exact: false }).waitFor();
  await page.getByText(`${hub.url}/mcp`, { exact: true }).waitFor();
  await call('echo');
  await call('fail');
  const chart = page.getByRole('img', { name: 'Calls and errors' });
  await chart.waitFor();
  await page.getByText('1 failed (50%)').waitFor();
  await page.getByText('As a table').first().click();
  await page.getByRole('table').first().waitFor();
  expect(await violationsInEveryLook(page)).toEqual([]);
});

test('servers that are being installed need no person, say so with the time it takes, and those that wait for them say that', async () => {
  const npx = fakeNpx();
  const names = Array.from({ length: upstreamLimits.installsAtOnce + 1 }, (_, number) => `package-${number}`);
  const hub = await testHub({ mcpServers: Object.fromEntries(names.map((name) => [name, npx.server(name)])) });
  const page = await visit(hub, '/');
  await page.getByText(`${names.length} being started`).waitFor();
  await page.getByText(`No server needs you. ${names.length} are being started or installed.`).waitFor();
  await page.getByRole('link', { name: 'Servers', exact: true }).click();
  const list = page.getByRole('list', { name: 'Servers' });
  await expect.poll(() => list.getByText('Waiting to install', { exact: true }).count()).toBe(1);
  await expect.poll(() => list.getByText('Installing', { exact: true }).count()).toBe(upstreamLimits.installsAtOnce);
  await expect.poll(() => list.getByText(/\d+ (?:s|min) so far$/).count()).toBe(names.length);
});

test('a server whose settings cannot be used says what is wrong with them, and leads to where they are corrected', async () => {
  const { url } = await hostileHttp({ tools: ['echo'] });
  const hub = await testHub({ mcpServers: { wrong: { url: 'ftp://example.com' }, other: { command: 7 } } });
  const page = await visit(hub, '/');
  await page.getByText('2 need you').waitFor();
  await page.getByRole('listitem').filter({ hasText: 'mcpServers.wrong.url' }).getByText('Unusable settings').waitFor();
  expect(await page.getByText(/Next attempt|failed attempt/).count()).toBe(0);
  await page
    .getByRole('listitem')
    .filter({ hasText: 'mcpServers.wrong.url' })
    .getByRole('link', { name: 'Correct the settings' })
    .click();
  await page.getByText('Its settings have to be corrected.').waitFor();
  expect(await page.getByText(/tries again/).count()).toBe(0);
  await page.getByLabel('URL').fill(url);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Connected', { exact: true }).waitFor();
});

test('shows a user nothing of what concerns admins alone', async () => {
  await userToken(hub, await login(hub), 'ann');
  const own = await visit(hub, '/', { as: { username: 'ann', password: passwordOf('ann') } });
  await own.getByText('First steps').waitFor();
  await own.getByText('All enabled servers are connected.').or(own.getByText('There is no server yet.')).waitFor();
  expect(await own.getByText('Without a credential').count()).toBe(0);
});

test('a hub that is started again while the page is open is missed, and found again without a reload', async () => {
  const first = await hubProcess({ mcpServers: { alpha: hostileStdio({ tools: ['echo'] }).config } });
  await first.connected(1);
  const page = await visit(first, '/servers', { expected: /ERR_|Failed to load/ });
  await page.getByText('1 of 1 tools').waitFor();
  await page.evaluate(() => Object.assign(window, { notReloaded: true }));
  await first.stop('SIGTERM');
  await page.getByText('The hub cannot be reached. Trying again…').waitFor();
  // A page that was never opened cannot be loaded either. It appears when it can, in place of one of the browser.
  await page.getByRole('link', { name: 'Users' }).click();
  const { port } = new URL(first.url);
  first.write({
    mcpServers: { beta: hostileStdio({ tools: ['echo', 'add'] }).config },
    users: usersOf(first.settingsPath),
  });
  await hubProcess({ folder: first.folder, env: { PORT: port } });
  await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
  await page.getByText('The hub cannot be reached').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Servers' }).click();
  await page.getByText('2 of 2 tools').waitFor();
  expect(await page.evaluate(() => 'notReloaded' in window)).toBe(true);
});

function usersOf(path: string): Record<string, unknown>[] {
  return (JSON.parse(readFileSync(path, 'utf8')) as { users: Record<string, unknown>[] }).users;
}

test('eight servers that need a person are shown whole, and the others are one click away', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `broken${index}`);
  const hub = await testHub({
    mcpServers: Object.fromEntries(names.map((name) => [name, { command: `no-such-command-${name}` }])),
  });
  await until('all have failed', () => hub.hub.servers().every(({ error }) => error !== undefined));
  const page = await visit(hub, '/');
  const more = page.getByRole('link', { name: 'and 2 more' });
  await more.waitFor();
  expect(
    await page
      .getByRole('main')
      .getByRole('link', { name: /^broken/ })
      .count(),
  ).toBe(8);
  await more.click();
  await page.waitForURL(/status=needs/);
  await expect.poll(() => page.getByRole('list', { name: 'Servers' }).getByRole('listitem').count()).toBe(10);
});
