import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { api, login, passwordOf, userToken } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { follow, settled, visit, violations, violationsInEveryLook } from './kit.ts';

// The search over everything, and the keys that work on every page.

let hub: TestHub;
let admin: string;
const ann = { username: 'ann', password: passwordOf('ann') };

beforeAll(async () => {
  hub = await testHub({
    mcpServers: {
      github: (await hostileHttp({ tools: ['create_issue', 'search_code'] })).config,
      gitlab: (await hostileHttp({ tools: ['create_issue'] })).config,
      many: (await hostileHttp({ tools: 10_000 })).config,
    },
    groups: [{ id: 'g1', name: 'writers', servers: ['github'], owner: 'admin' }],
  });
  await hub.connected(3);
  admin = await login(hub);
  await userToken(hub, admin, 'ann', { groups: ['g1'] });
  await api(hub, 'POST', '/auth/keys', { token: admin, body: { name: 'laptop', accessType: 'all' } });
});

const field = (page: Page) => page.getByRole('combobox', { name: 'Search everything' });
const options = (page: Page) => page.getByRole('option').allInnerTexts();
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name, level: 1 }).waitFor();

/** Opens it, types, and waits for the first that is found. */
async function find(page: Page, q: string, first: string | RegExp): Promise<void> {
  await page.keyboard.press('Control+k');
  // The first letters come while it is being loaded.
  await page.keyboard.type(q);
  await expect.poll(() => field(page).inputValue()).toBe(q);
  await page.getByRole('option', { selected: true }).filter({ hasText: first }).waitFor();
}

test('finds pages, servers, tools, groups, keys, users and actions, and goes there by Enter', async () => {
  const page = await visit(hub, '/');
  await heading(page, 'Overview');
  await find(page, 'github', 'github');
  expect((await options(page))[0]).toMatch(/^github\s*Server$/);
  await page.keyboard.press('Enter');
  await heading(page, /github/);
  await find(page, 'code', 'search_code');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/tools\?server=github&tool=search_code$/);
  await find(page, 'writers', 'writers');
  await page.keyboard.press('Enter');
  await heading(page, 'writers');
  await find(page, 'laptop', 'laptop');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByLabel('Name').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await find(page, 'ann', 'ann');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/users\?open=ann$/);
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await find(page, 'reconnect gitl', 'Reconnect gitlab');
  const asked = page.waitForRequest(/\/servers\/gitlab\/reload$/);
  await page.keyboard.press('Enter');
  await asked;
  await find(page, 'add a server', 'Add a server');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor();
});

test('10 000 tools are searched, and few of them are shown', async () => {
  const page = await visit(hub, '/');
  await heading(page, 'Overview');
  await find(page, 'tool_09', 'tool_09');
  expect(await page.getByRole('option').count()).toBeLessThanOrEqual(50);
  await field(page).fill('tool_09876');
  await page.getByRole('option', { selected: true }).filter({ hasText: 'tool_09876' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/server=many&tool=tool_09876$/);
});

test('is a list that a reader of screens follows, and gives the focus back', async () => {
  const page = await visit(hub, '/groups');
  await heading(page, 'Groups');
  const button = page.getByRole('button', { name: 'Search…' });
  await button.click();
  await field(page).waitFor();
  const active = () => field(page).getAttribute('aria-activedescendant');
  const first = await active();
  await page.keyboard.press('ArrowDown');
  await expect.poll(active).not.toBe(first);
  const shown = page.locator(`[id="${await active()}"]`);
  expect(await shown.getAttribute('aria-selected')).toBe('true');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await page.getByRole('option', { name: 'Log out', selected: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  await field(page).fill('no such thing anywhere');
  await page.getByText('Nothing matches.').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await field(page).waitFor({ state: 'detached' });
  // It comes back a moment after the dialog has gone.
  await expect.poll(() => button.evaluate((element) => element === document.activeElement)).toBe(true);
});

test('a user finds what is within reach, and nothing for admins', async () => {
  const page = await visit(hub, '/', { as: ann });
  await heading(page, 'Overview');
  await find(page, 'issue', 'create_issue');
  expect(await options(page)).toHaveLength(1);
  for (const q of ['gitlab', 'laptop', 'smart', 'reconnect', 'admin', 'users']) {
    await field(page).fill(q);
    await page.getByText('Nothing matches.').waitFor();
  }
  await page.keyboard.press('Escape');
  for (const [q, name] of [
    ['apps', 'Connected apps'],
    ['credentials', 'Your credentials'],
  ] as const) {
    await find(page, q, name);
    await page.keyboard.press('Enter');
    await heading(page, name);
  }
});

test('the parts of the page of one’s account are found, and shown, on a phone and in Chinese too', async () => {
  const page = await visit(hub, '/', { as: ann, width: 390, height: 600 });
  await heading(page, 'Overview');
  await find(page, 'logged', 'Where you are logged in');
  await page.keyboard.press('Enter');
  const sessions = page.getByRole('heading', { name: 'Where you are logged in' });
  await expect.poll(() => sessions.evaluate((title) => title.getBoundingClientRect().top < innerHeight)).toBe(true);
  await page.evaluate(() => localStorage.setItem('toolhub.language', 'zh'));
  await page.reload();
  await heading(page, '账户');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('凭据');
  await page.getByRole('option', { name: '你的凭据', selected: true }).waitFor();
});

test('keys lead to pages, to the search of a page and to their own list, and do nothing while one types', async () => {
  const page = await visit(hub, '/');
  await heading(page, 'Overview');
  for (const [letter, name] of [
    ['g', 'Groups'],
    ['a', 'Activity'],
    ['k', 'Access keys'],
    ['s', 'Servers'],
  ] as const) {
    await page.keyboard.press('g');
    await page.keyboard.press(letter);
    await heading(page, name);
  }
  const search = page.getByLabel('Search servers');
  // It comes with the servers, after the heading.
  await search.waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('ga?/');
  await settled(page);
  expect(new URL(page.url()).pathname).toBe('/servers');
  expect(await search.inputValue()).toBe('ga?/');
  expect(await page.getByRole('dialog').count()).toBe(0);
  await search.fill('');
  await search.blur();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  // Not while a dialog is open.
  await page.keyboard.press('g');
  await page.keyboard.press('o');
  expect(await violationsInEveryLook(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await heading(page, 'Servers');
  // On another system Ctrl-K is this, and Cmd-K nothing.
  await page.keyboard.press('Meta+k');
  expect(await field(page).count()).toBe(0);
  await follow(page, '/account');
  await page.getByLabel('Current password').waitFor();
  await page.keyboard.press('/');
  await field(page).waitFor();
});
