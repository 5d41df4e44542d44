import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { api, login, passwordOf, userToken } from '../kit/api.ts';
import { atEnd } from '../kit/at-end.ts';
import { hostileHttp, hostileStdio } from '../kit/hostile.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { copied, visit } from './kit.ts';

// What people come for most often, each from the first page, with the clicks it may take. Typing and Enter are none.

let hub: TestHub;
const ann = { username: 'ann', password: passwordOf('ann') };

beforeAll(async () => {
  const { url } = await hostileHttp({ tools: ['echo'] });
  const registry = createServer((_request, response) => {
    const server = {
      name: 'io.example/tasks',
      description: 'Keeps tasks',
      remotes: [{ type: 'streamable-http', url }],
    };
    response.end(JSON.stringify({ servers: [{ server }], metadata: { count: 1 } }));
  });
  await new Promise<void>((listening) => registry.listen(0, '127.0.0.1', listening));
  atEnd(() => new Promise<void>((closed) => registry.close(() => closed())));
  const { port } = registry.address() as AddressInfo;
  hub = await testHub({
    mcpServers: {
      alpha: (await hostileHttp({ tools: ['echo', 'list_notes', 'delete_notes', 'fail'] })).config,
      broken: hostileStdio({ exitAt: 'start', lastWords: 'no key in the environment' }).config,
    },
    env: { ADMIN_PASSWORD: '', MCP_REGISTRY_URL: `http://127.0.0.1:${port}` },
  });
  await hub.connected(1);
  const token = await login(hub, 'admin', hub.hub.adminPassword);
  await userToken(hub, token, ann.username, { role: 'admin' });
  await api(hub, 'POST', '/tools/call/alpha', { token, body: { toolName: 'fail' } });
});

/** The clicks of one job, counted by the page: more of them than `allowed` fail it. */
async function counted(page: Page, allowed: number): Promise<(target: Locator) => Promise<void>> {
  await page.evaluate(() => {
    const counting = window as unknown as { clicks?: number };
    // The page stays for the next job.
    if (counting.clicks === undefined)
      window.addEventListener('pointerdown', () => (counting.clicks = (counting.clicks ?? 0) + 1), true);
    counting.clicks = 0;
  });
  return async (target) => {
    await target.click();
    const clicks = await page.evaluate(() => (window as unknown as { clicks: number }).clicks);
    expect(clicks, `clicks, the last of them on ${target.toString()}`).toBeLessThanOrEqual(allowed);
  };
}

async function job(allowed: number) {
  const page = await visit(hub, '/', { as: ann });
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  const click = await counted(page, allowed);
  const link = (name: string) => click(page.getByRole('navigation').getByRole('link', { name, exact: true }));
  const button = (name: string) => click(page.getByRole('button', { name, exact: true }));
  return { page, click, link, button };
}

/** As the one who wrote it: key by key, and on with the next field. */
async function type(page: Page, ...texts: readonly string[]): Promise<void> {
  for (const [index, text] of texts.entries()) {
    if (index > 0) await page.keyboard.press('Tab');
    await page.keyboard.insertText(text);
  }
}

test('signing in, with a password of one’s own: 3', async () => {
  // The strength of the new password may still be asked for with the session before.
  const page = await visit(hub, '/', { as: undefined, expected: /401/ });
  await page.getByLabel('Password').waitFor();
  const click = await counted(page, 3);
  await type(page, hub.hub.adminPassword ?? '');
  await page.keyboard.press('Enter');
  await click(page.getByRole('link', { name: 'Change the password' }).first());
  await click(page.getByLabel('Current password'));
  await type(page, hub.hub.adminPassword ?? '', 'my own words', 'my own words');
  await page.keyboard.press('Enter');
  await page.getByText('Password changed.').waitFor();
});

test('a program as a server: 3', async () => {
  const { page, link, button } = await job(3);
  const { command, args } = hostileStdio({ tools: ['echo'] }).config as { command: string; args: string[] };
  await link('Servers');
  await button('Add a server');
  await page.getByLabel('Name', { exact: true }).waitFor();
  await type(page, 'program', '', command, args.join('\n'));
  await button('Add');
  await page.getByRole('heading', { name: /program/, level: 1 }).waitFor();
  await page.getByText('1 of 1 on').waitFor();
});

test('an address as a server: 3', async () => {
  const { url } = await hostileHttp({ tools: ['echo'] });
  const { page, link, button } = await job(3);
  await link('Servers');
  await button('Add a server');
  await page.getByLabel('Name', { exact: true }).waitFor();
  await type(page, 'address', '', url);
  expect(await page.getByLabel('URL').inputValue()).toBe(url);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /address/, level: 1 }).waitFor();
  await page.getByText('1 of 1 on').waitFor();
});

test('what another client has, pasted: 4', async () => {
  const { config } = hostileStdio({ tools: ['echo'] });
  const { page, link, button } = await job(4);
  await page.evaluate(
    (text) => navigator.clipboard.writeText(text),
    JSON.stringify({ mcpServers: { pasted: config } }),
  );
  await link('Servers');
  await button('Add a server');
  await page.getByLabel('Name', { exact: true }).waitFor();
  await page.keyboard.press('ControlOrMeta+V');
  await button('Add 1 server');
  await page.waitForURL(/\/servers\/pasted/);
});

test('a server from the registry: 3', async () => {
  const { page, click, link, button } = await job(3);
  await link('Catalogue');
  await click(page.getByLabel('Search, or paste'));
  await type(page, 'tasks');
  await button('Add io.example/tasks');
  await page.getByLabel('Name', { exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /tasks/, level: 1 }).waitFor();
});

test('a group of some tools of a server: 4', async () => {
  const { page, click, link, button } = await job(4);
  await link('Groups');
  await click(page.getByRole('button', { name: 'Create a group' }).first());
  await page.getByLabel('Name', { exact: true }).waitFor();
  await type(page, 'readers');
  await page.keyboard.press('Enter');
  await click(page.getByLabel('Search servers and tools'));
  await type(page, 'notes');
  await page.getByRole('checkbox', { name: 'list_notes of alpha' }).waitFor();
  await button('Select all found');
  await page.getByText(/2 tools, ≈ .* tokens/).waitFor();
});

test('a key, and what the client wants to have pasted with it: 4', async () => {
  const { page, click, link } = await job(4);
  await link('Access keys');
  await click(page.getByRole('button', { name: 'Make an access key' }).first());
  await page.getByLabel('Name', { exact: true }).waitFor();
  await type(page, 'laptop');
  await page.keyboard.press('Enter');
  await click(page.getByRole('tab', { name: 'Cursor' }));
  const snippet = page.getByRole('region', { name: 'What to paste for Cursor' });
  await click(snippet.locator('..').getByRole('button', { name: 'Copy' }));
  await expect.poll(() => copied(page)).toMatch(/Bearer mcphub_[0-9a-f]{64}/);
  await page.getByRole('dialog').press('Escape');
  await page.getByRole('alertdialog').getByRole('button').last().press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('a tool in the playground: 3', async () => {
  const { page, click, link } = await job(3);
  await link('Playground');
  await click(page.getByRole('list', { name: 'Servers' }).getByRole('link', { name: /^alpha/ }));
  await click(page.getByRole('button', { name: /^echo/ }));
  await page.keyboard.press('Enter');
  await page.getByText('OK', { exact: true }).waitFor();
});

test('why a server is broken: 2', async () => {
  const { page, click } = await job(2);
  await click(page.getByRole('main').getByRole('link', { name: 'broken' }));
  await page.getByText('no key in the environment').first().waitFor();
});

test('which calls fail, and why: 2', async () => {
  const { page, click } = await job(2);
  await click(page.getByRole('link', { name: /^Calls/ }));
  await click(page.getByRole('list', { name: 'Why calls failed' }).getByRole('button').first());
  await page.getByRole('dialog').getByText('fail').first().waitFor();
});
