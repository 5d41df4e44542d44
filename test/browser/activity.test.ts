import { beforeAll, describe, expect, test } from 'vitest';
import type { Activity } from '../../src/core/answers/records.ts';
import { api, keyToken, login, passwordOf, userToken } from '../kit/api.ts';
import { hostileHttp, hostileStdio } from '../kit/hostile.ts';
import type { Page } from 'playwright-core';
import { raw } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';
import { follow, nextNews, settled, visit, violations, violationsAt, waitsForAnswers } from './kit.ts';

// What was called and searched for, by whom, and how it ended.

let hub: TestHub;
let admin: string;
let ann: string;
let bob: string;
let key: string;

const call = (token: string, server: string, toolName: string, args: object = {}) =>
  api(hub, 'POST', `/tools/call/${server}`, { token, body: { toolName, arguments: args } });

/** One request to the endpoint that searches; sessionless, so that who asks is what ties a call to its search. */
const smart = (name: string, args: object) =>
  raw(hub.mcp('$smart'), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  });

beforeAll(async () => {
  const { args, ...own } = hostileStdio({ tools: ['echo', 'fail'] }).config as { command: string; args: string[] };
  const script = `echo 'WARN the disk is nearly full' >&2; exec "$0" "$@"`;
  hub = await testHub({
    mcpServers: {
      alpha: { ...own, command: 'sh', args: ['-c', script, own.command, ...args] },
      beta: (await hostileHttp({ tools: [{ name: 'water_plants', description: 'Waters the plants in the garden' }] }))
        .config,
    },
    systemConfig: { activityLog: { storeToolPayload: true } },
    env: { LOG_LEVEL: 'info', LOG_FORMAT: 'json' },
  });
  await hub.connected(2);
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann', { servers: ['alpha'] });
  key = await keyToken(hub, admin, { name: 'robot' });
  bob = await userToken(hub, admin, 'bob', { servers: ['alpha'] });
  await call(ann, 'alpha', 'echo', { text: 'the words of ann' });
  for (let index = 0; index < 60; index += 1) await call(admin, 'alpha', index % 6 === 0 ? 'fail' : 'echo');
  await smart('search_tools', { query: 'water the plants' });
  await smart('call_tool', { toolName: 'beta-water_plants' });
  await smart('search_tools', { query: 'qqq zzz xxx' });
});

/** Not those of the tables that the charts have for who cannot see them. */
const rows = 'tbody tr:visible';

/** Nothing that the page would do every second or more rarely is done. */
const withoutIntervals = (page: Page) =>
  page.addInitScript(() => {
    const real = window.setInterval.bind(window);
    window.setInterval = ((work: () => void, ms = 0) => (ms < 1_000 ? real(work, ms) : 0)) as typeof setInterval;
  });

/** As when the user goes to another tab, and comes back. */
const show = (page: Page, state: DocumentVisibilityState) =>
  page.evaluate((now) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: now });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  }, state);

describe('calls', () => {
  test('that failed are told by cause, and lead to a record', async () => {
    const page = await visit(hub, '/');
    await page.getByRole('link', { name: /^Calls/ }).click();
    await page.waitForURL(/status=failed/);
    await page.getByText('Page 1 of 1, 10 calls').waitFor();
    const causes = page.getByRole('list', { name: 'Why calls failed' });
    await causes.getByText('10 calls').waitFor();
    expect(await causes.getByRole('listitem').count()).toBe(1);
    await causes.getByRole('button', { name: 'the tool failed' }).click();
    await page.getByRole('dialog', { name: 'fail' }).waitFor();
  });

  test('that failed in one second have one time', async () => {
    const page = await visit(hub, '/account');
    await page.route('**/api/activities/failures*', async (route) => {
      const answer = await route.fetch();
      const { data } = (await answer.json()) as { data: object[] };
      const times = { first: '2026-01-02T03:04:05.006Z', last: '2026-01-02T03:04:05.007Z' };
      await route.fulfill({ response: answer, json: { data: data.map((cause) => ({ ...cause, ...times })) } });
    });
    await follow(page, '/activity');
    const causes = page.getByRole('list', { name: 'Why calls failed' });
    await causes.getByText(/2 Jan 2026|Jan 2, 2026/).waitFor();
    expect((await causes.textContent())?.match(/2026/g)).toHaveLength(1);
  });

  test('that failed come with what their server said meanwhile, for those who may read its log', async () => {
    const [failed] = (await api(hub, 'GET', '/activities?status=error&limit=1', { token: admin })).body
      .data as Activity[];
    const said = {
      id: 1,
      timestamp: failed?.timestamp,
      level: 'warn',
      service: 'server:alpha',
      message: 'no space left',
    };
    const page = await visit(hub, `/activity?status=error&call=${failed?.id}`);
    const drawer = page.getByRole('dialog', { name: 'fail' });
    await drawer.getByText('the tool failed').first().waitFor();
    // The server says nothing when its tool fails: what it could have said comes from here.
    await page.route('**/api/logs?*', (route) => route.fulfill({ json: { success: true, data: [said] } }));
    await page.reload();
    await drawer.getByRole('list', { name: 'What the server said meanwhile' }).getByText('no space left').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.unroute('**/api/logs?*');
    await drawer.getByRole('link', { name: 'Log of that time' }).click();
    await page.waitForURL(/\/logs\?service=server%3Aalpha&from=.*&to=/);
    await page.getByText(/^From .* to /).waitFor();
    await page.getByRole('button', { name: 'Show all, live' }).click();
    await page.getByText('the disk is nearly full').waitFor();
    await page.getByText('warn', { exact: true }).first().waitFor();
  });

  test('are listed page by page, with how many there were and how they ended', async () => {
    const page = await visit(hub, '/activity');
    await page.getByText('Page 1 of 2, 62 calls').waitFor();
    await page.getByRole('img', { name: 'Calls and errors' }).waitFor();
    await page.getByText(/62 calls, 10 failed/).waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Page 2 of 2, 62 calls').waitFor();
    await page.waitForURL(/page=2/);
    expect(await page.locator(rows).filter({ hasText: 'echo' }).count()).toBeGreaterThan(5);
  });

  test('are narrowed, in an address that can be shared, and new ones come by themselves', async () => {
    const page = await visit(hub, '/activity');
    await page.getByRole('combobox', { name: 'Outcome' }).selectOption('error');
    await page.getByText('Page 1 of 1, 10 calls').waitFor();
    await page.getByRole('combobox', { name: 'User' }).selectOption('ann');
    await page.getByText('Nothing matches.').waitFor();
    await page.getByRole('combobox', { name: 'Outcome' }).selectOption('');
    await page.getByText('Page 1 of 1, 1 call').waitFor();
    await page.reload();
    await page.getByText('Page 1 of 1, 1 call').waitFor();
    await call(ann, 'alpha', 'fail');
    await page.getByText('Page 1 of 1, 2 calls').waitFor();
  });

  test('of a time are chosen in a chart, by keyboard or by dragging, and given up again', async () => {
    const page = await visit(hub, '/activity');
    const chart = page.getByRole('slider', { name: 'Calls and errors: choose a time' });
    const all = page.getByText(/Page 1 of 2, \d+ calls/);
    await all.waitFor();
    await chart.press('Home');
    await page.getByText(/^Succeeded\s*0$/).waitFor();
    await chart.press('Enter');
    await page.waitForURL(/from=.*&to=/);
    await page.getByText('Nothing matches.').waitFor();
    await page.getByRole('button', { name: /No longer only this time/ }).click();
    await all.waitFor();
    const { x, y, width, height } = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    await page.mouse.move(x + 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width - 2, y + height / 2);
    await page.mouse.up();
    await page.waitForURL(/from=.*&to=/);
    await all.waitFor();
    expect(await page.getByRole('combobox', { name: 'Time' }).inputValue()).toBe('');
    expect(await violations(page)).toEqual([]);
  });

  test('of a time are what a chart of the overview leads to, which keeps how far back it shows', async () => {
    const page = await visit(hub, '/');
    const period = page.getByRole('combobox', { name: 'Time' });
    await period.selectOption('7d');
    await page.reload();
    await page.getByRole('slider', { name: 'Calls and errors: choose a time' }).press('Shift+Home');
    expect(await period.inputValue()).toBe('7d');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/activity\?from=.*&to=/);
    await page.getByText(/Page 1 of 2, \d+ calls/).waitFor();
  });

  test('are coloured by what they are of, and the name of a colour narrows to it', async () => {
    const page = await visit(hub, '/activity');
    await page.getByRole('combobox', { name: 'Colours' }).selectOption('client');
    // Callers over REST, and those without a session, have none.
    await page.getByText(/^None\s*\d+$/).waitFor();
    await page.getByRole('combobox', { name: 'Colours' }).selectOption('tool');
    await page.getByRole('button', { name: 'beta · water_plants' }).click();
    await page.waitForURL(/server=beta&tool=water_plants/);
    await page.getByText('Page 1 of 1, 1 call').waitFor();
  });

  test('show where they fail, where they are slow and when there are many, and each leads to its calls', async () => {
    const page = await visit(hub, '/activity?username=admin');
    await page.getByRole('tab', { name: 'Patterns' }).click();
    const failing = page.getByRole('list', { name: 'What fails most' });
    await failing.getByText('10 of 10').waitFor();
    expect(await failing.getByRole('listitem').count()).toBe(1);
    expect(await page.getByRole('list', { name: 'What is slowest' }).getByRole('listitem').count()).toBe(2);
    await failing.getByRole('link', { name: /^fail alpha/ }).click();
    await page.waitForURL(/tool=fail&status=failed|status=failed.*tool=fail/);
    await page.getByText('Page 1 of 1, 10 calls').waitFor();
    await page.getByRole('tab', { name: 'Patterns' }).click();
    const hours = page.getByRole('grid', { name: 'Busy hours' });
    await hours.getByRole('gridcell').first().press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    // Yesterday, from one to two.
    await page
      .getByRole('gridcell', { name: /, 1:00: 0 calls, 0 failed$/ })
      .and(page.locator(':focus'))
      .waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/from=.*&to=/);
    await page.getByText('Nothing matches.').waitFor();
  });

  test('tell everything about themselves, by keyboard too, and can be made again', async () => {
    const page = await visit(hub, '/activity?username=ann&status=success');
    await page.getByRole('button', { name: 'echo' }).focus();
    await page.keyboard.press('Enter');
    const drawer = page.getByRole('dialog', { name: 'echo' });
    await drawer.getByText('the words of ann').first().waitFor();
    await page.waitForURL(/call=/);
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    await page.goBack();
    await drawer.getByRole('link', { name: 'Try it in the playground' }).click();
    await page.waitForURL(/\/tools\?.*tool=echo/);
    await page.getByText(/^Filled in from the call of .* Nothing has run yet\.$/).waitFor();
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    expect(await page.getByLabel('Arguments as JSON').inputValue()).toContain('the words of ann');
  });

  test('say where their time went, and lead to the next and the one before by J, K and buttons', async () => {
    const page = await visit(hub, '/activity?username=admin&status=success');
    await page.locator(rows).first().getByRole('button').click();
    await page.waitForURL(/call=/);
    const first = new URL(page.url()).searchParams.get('call');
    const drawer = page.getByRole('dialog', { name: 'echo' });
    await drawer.getByText('At the server').waitFor();
    expect(await drawer.getByRole('button', { name: 'Previous (K)' }).isDisabled()).toBe(true);
    await page.keyboard.press('j');
    await page.waitForURL((url) => url.searchParams.get('call') !== first);
    const second = new URL(page.url()).searchParams.get('call');
    await drawer.getByRole('button', { name: 'Next (J)' }).click();
    await page.waitForURL((url) => url.searchParams.get('call') !== second);
    await page.keyboard.press('k');
    await page.waitForURL((url) => url.searchParams.get('call') === second);
    await page.keyboard.press('k');
    await page.waitForURL((url) => url.searchParams.get('call') === first);
    expect(await violations(page)).toEqual([]);
  });

  test('have their arguments kept for an hour when an admin wants that, which the page of the server shows and ends', async () => {
    await call(admin, 'alpha', 'nope');
    const page = await visit(hub, '/activity?server=alpha&status=refused');
    await page.getByRole('button', { name: 'nope' }).first().click();
    const drawer = page.getByRole('dialog', { name: 'nope' });
    await drawer.getByRole('button', { name: 'Keep them for alpha for the next hour' }).click();
    await drawer.getByText(/are kept until/).waitFor();
    expect(await violations(page)).toEqual([]);
    await follow(page, '/servers/alpha');
    await page.getByText(/are kept until/).waitFor();
    await page.getByRole('button', { name: 'Stop keeping them' }).click();
    await page.getByText(/are kept until/).waitFor({ state: 'detached' });
  });

  test('of tools that are not there say so in words, can be chosen, and cannot be made again', async () => {
    await smart('call_tool', { toolName: 'alpha-gone' });
    const page = await visit(hub, '/activity');
    await page.getByRole('combobox', { name: 'Server' }).selectOption({ label: 'Unknown to the caller' });
    await page.getByText('Page 1 of 1, 1 call').waitFor();
    await page.locator(rows).getByText('Unknown to the caller').waitFor();
    expect(await page.getByRole('combobox', { name: 'Server' }).innerText()).not.toContain('$');
    await page.getByRole('button', { name: 'alpha-gone', exact: true }).click();
    const drawer = page.getByRole('dialog', { name: 'alpha-gone' });
    await drawer.getByText('Unknown to the caller').waitFor();
    expect(await drawer.getByRole('link').count()).toBe(0);
    expect(await page.getByText('$unknown').count()).toBe(0);
  });

  test('of others are nothing for a user', async () => {
    const page = await visit(hub, '/activity', { as: { username: 'ann', password: passwordOf('ann') } });
    await page.getByText(/Page 1 of 1, [12] calls?/).waitFor();
    expect(await page.getByRole('combobox', { name: 'User' }).count()).toBe(0);
  });

  test('that were never made are said to be missing, with what to do', async () => {
    const empty = await testHub();
    const page = await visit(empty, '/activity');
    await page.getByText('No call yet').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Playground' }).waitFor();
  });

  test('are shown when the hub tells of them: nothing is asked at intervals, nothing while the page is hidden, nothing else', async () => {
    await call(bob, 'alpha', 'echo');
    const page = await visit(hub, '/activity?username=bob', { before: withoutIntervals });
    const total = async () => Number(/, (\d+) calls?$/.exec(await page.getByText(/^Page 1 of 1,/).innerText())?.[1]);
    await expect.poll(total).toBe(1);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await call(bob, 'alpha', 'echo');
    await expect.poll(total).toBe(2);
    await until('the page has all its answers', () => !waitsForAnswers(page));
    // The count in the navigation is asked for once, after the first page.
    expect(asked.filter((path) => path === '/api/approvals/waiting').length).toBeLessThan(2);
    expect(asked.filter((path) => !/^\/api\/(activities|approvals\/waiting)/.test(path))).toEqual([]);
    await show(page, 'hidden');
    asked.length = 0;
    const { heard } = await nextNews(page);
    await call(bob, 'alpha', 'echo');
    await heard;
    await settled(page);
    expect(asked).toEqual([]);
    await show(page, 'visible');
    await expect.poll(total).toBe(3);
  });
});

describe('searches', () => {
  test('show their query, what was found, at which place the tool stood that was called, and what was of no use', async () => {
    const page = await visit(hub, '/activity');
    await page.getByRole('tab', { name: 'Searches' }).click();
    await page.getByText('Page 1 of 1, 2 searches').waitFor();
    const useful = page.locator(rows).filter({ hasText: 'water the plants' });
    await useful.getByText('Called').waitFor();
    await useful.getByText('water_plants, place 1').waitFor();
    await page.locator(rows).filter({ hasText: 'qqq zzz xxx' }).getByText('not used').waitFor();
    await page.getByText('100% stood first').waitFor();
    await page.getByRole('button', { name: 'water the plants' }).click();
    const drawer = page.getByRole('dialog', { name: 'Search: water the plants' });
    await drawer.getByRole('listitem').filter({ hasText: 'water_plants' }).getByText('Succeeded').last().waitFor();
  });

  test('are named by the calls that came of them', async () => {
    const page = await visit(hub, '/activity?server=beta');
    await page.getByRole('button', { name: 'water_plants' }).click();
    await page.getByText('Found by the search “water the plants”, at place 1.').waitFor();
    const steps = page.getByRole('list', { name: 'From the search to the call' });
    await expect.poll(() => steps.getByRole('listitem').count()).toBe(2);
    await steps.getByRole('link', { name: /Searched water the plants/ }).click();
    await page.getByRole('dialog', { name: 'Search: water the plants' }).waitFor();
  });
});

test('readers of screens find nothing wrong, in light and dark, wide and narrow', async () => {
  const page = await visit(hub, '/account');
  const shown = {
    '/activity': page.locator(rows).filter({ hasText: 'echo' }).first(),
    '/activity?kind=patterns': page.getByRole('grid', { name: 'Busy hours' }),
    '/activity?kind=search': page.locator(rows).filter({ hasText: 'water the plants' }),
  };
  expect(await violationsAt(page, shown)).toEqual([]);
});
