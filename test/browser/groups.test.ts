import type { Request } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { api, login, passwordOf, userToken } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { closePages, follow, nextNews, settled, tab, visit, violationsAt } from './kit.ts';

// Groups: made, filled with servers and tools, connected to, shared, taken away.

let hub: TestHub;
let admin: string;

beforeAll(async () => {
  hub = await testHub({
    mcpServers: {
      alpha: (await hostileHttp({ tools: ['echo', 'add', 'env'] })).config,
      beta: (await hostileHttp({ tools: ['echo', 'list_notes', 'delete_notes'] })).config,
      many: (await hostileHttp({ tools: 10_000 })).config,
    },
    groups: [
      { id: 'g1', name: '写作 & co', servers: ['alpha'], owner: 'admin', visibility: 'public' },
      { id: 'g2', name: 'both', servers: [{ name: 'alpha', tools: ['echo'] }, 'lost'], owner: 'admin' },
    ].map((group) => ({ ...group, name: group.name.replace(' & co', '') })),
  });
  await hub.connected(3);
  admin = await login(hub);
  await userToken(hub, admin, 'ann', { groups: ['g1'] });
});

const configs = async (id: string) => {
  const { body } = await api(hub, 'GET', `/groups/${id}/server-configs`, { token: admin });
  return body.data as { name: string; tools: string[] | 'all' }[];
};

test('a group is made, filled, and its endpoint given to each client, with what it costs', async () => {
  const page = await visit(hub, '/groups', { expected: /4\d\d/ });
  await page.getByRole('button', { name: 'Create a group' }).click();
  await page.getByLabel('Name').fill('both');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  // The name is taken: the form stays.
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Name').fill('writers');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('heading', { name: /writers/, level: 1 }).waitFor();
  await page.getByRole('checkbox', { name: 'alpha is in the group' }).click();
  await page.getByText('All 3 tools').waitFor();
  await page.getByRole('button', { name: /^alpha/ }).click();
  await page.getByRole('checkbox', { name: 'add of alpha' }).click();
  await page.getByText('2 of 3 tools').waitFor();
  await expect.poll(async () => (await configs('writers'))[0]?.tools).toEqual(['echo', 'env']);
  await page.getByText(/2 tools, ≈ .* tokens/).waitFor();
  await page.getByRole('checkbox', { name: 'All tools, also those to come' }).click();
  await expect.poll(async () => (await configs('writers'))[0]?.tools).toBe('all');
  await page.getByLabel('What clients get').selectOption('smart');
  await page.getByText('/mcp/%24smart/writers').first().waitFor();
  await page.getByLabel('What clients get').selectOption('code');
  await page.getByText('/mcp/%24code/writers').first().waitFor();
  await page.getByLabel('What clients get').selectOption('all');
  await page.getByRole('main').getByRole('link', { name: 'Connect a client' }).click();
  for (const client of ['Claude Code', 'Claude Desktop', 'Cursor', 'VS Code', 'Codex', 'Windsurf', 'Cline']) {
    await page.getByRole('button', { name: client, exact: true }).click();
    if (client === 'Claude Code') await page.getByRole('button', { name: /^With nothing/ }).click();
    await page
      .getByRole('region', { name: `What to paste for ${client}` })
      .getByText(/\/mcp\/writers/)
      .waitFor();
    await page.getByRole('button', { name: 'Change: Which client?' }).click();
  }
});

test('tools are searched for across servers, and many are chosen at once', async () => {
  await api(hub, 'POST', '/groups', { token: admin, body: { name: 'searched' } });
  const page = await visit(hub, '/groups/searched');
  await page.getByLabel('Search servers and tools').fill('notes');
  await page.getByRole('checkbox', { name: 'list_notes of beta' }).waitFor();
  await page.getByRole('button', { name: 'Select all found', exact: true }).click();
  await expect.poll(() => configs('searched')).toMatchObject([{ name: 'beta', tools: ['list_notes', 'delete_notes'] }]);
  await page.getByLabel('Search servers and tools').fill('delete');
  await page.getByRole('checkbox', { name: 'delete_notes of beta' }).waitFor();
  await page.getByRole('button', { name: 'Deselect all found' }).click();
  await expect.poll(() => configs('searched')).toMatchObject([{ name: 'beta', tools: ['list_notes'] }]);
});

test('a group gives a tool another name; who manages the server says more of it', async () => {
  await api(hub, 'POST', '/groups', { token: admin, body: { name: 'renaming', servers: ['alpha'], owner: 'ann' } });
  const page = await visit(hub, '/groups/renaming', { expected: /400/ });
  await page.getByRole('button', { name: /^alpha/ }).click();
  const change = page.getByRole('button', { name: 'Change what clients of this group see of add' });
  await change.click();
  const form = page.getByRole('dialog');
  await form.getByText('Every model reads it').waitFor();
  await form.getByLabel('Name for clients').fill('sum');
  await form.getByText('+ "name": "sum",').waitFor();
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByText('overridden').waitFor();
  expect(await configs('renaming')).toMatchObject([{ name: 'alpha', overrides: { add: { name: 'sum' } } }]);

  const hers = await visit(hub, '/groups/renaming', { as: { username: 'ann', password: passwordOf('ann') } });
  await hers.getByRole('button', { name: /^alpha/ }).click();
  await hers.getByRole('button', { name: 'Change what clients of this group see of add' }).click();
  await hers.getByText('you can give its tools other names').waitFor();
  expect(await hers.getByText('Every model reads it').count()).toBe(0);
});

test('one tool of a server that is not in the group comes without the others, in one request', async () => {
  await api(hub, 'POST', '/groups', { token: admin, body: { name: 'one' } });
  const page = await visit(hub, '/groups/one', { expected: /403/ });
  // What would come second is refused.
  await page.route('**/server-configs/**', (route) =>
    route.request().method() === 'GET' ? route.continue() : route.fulfill({ status: 403, json: { success: false } }),
  );
  await page.getByRole('button', { name: /^alpha/ }).click();
  await page.getByRole('checkbox', { name: 'add of alpha' }).click();
  await page.getByText('1 of 3 tools').waitFor();
  await expect.poll(() => configs('one')).toMatchObject([{ name: 'alpha', tools: ['add'] }]);
});

test('of quick ticks each counts, in their order, and none goes back for a moment', async () => {
  await api(hub, 'POST', '/groups', { token: admin, body: { name: 'quick', servers: ['alpha'] } });
  const page = await visit(hub, '/groups/quick');
  await page.getByRole('button', { name: /^alpha/ }).click();
  const box = (tool: string) => page.getByRole('checkbox', { name: `${tool} of alpha` });
  await box('add').waitFor();
  const sent: string[] = [];
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/tools', async (route) => {
    if (route.request().method() !== 'PUT') return route.continue();
    sent.push(route.request().postData() ?? '');
    // The first is slow on its way.
    if (sent.length === 1) await held;
    await route.continue();
  });
  await box('add').click();
  await box('env').click();
  await expect.poll(() => box('env').isChecked()).toBe(false);
  // Something else changes meanwhile, and every page hears of it.
  const asked: Request[] = [];
  page.on('request', (request) => asked.push(request));
  const news = await nextNews(page);
  await api(hub, 'POST', '/groups', { token: admin, body: { name: 'elsewhere' } });
  await news.heard;
  await settled(page);
  // What it asks for then, if it does, has been answered, and shown.
  for (const request of asked) await (await request.response())?.finished();
  await settled(page);
  expect([await box('add').isChecked(), await box('env').isChecked(), sent.length]).toEqual([false, false, 1]);
  release();
  await expect.poll(() => configs('quick')).toMatchObject([{ name: 'alpha', tools: ['echo'] }]);
  expect(sent.map((body) => JSON.parse(body))).toEqual([{ tools: ['echo', 'env'] }, { tools: ['echo'] }]);
  expect([await box('add').isChecked(), await box('env').isChecked()]).toEqual([false, false]);
});

test('10 000 tools are opened and scrolled', async () => {
  const page = await visit(hub, '/groups/both');
  await page.getByRole('button', { name: /^many/ }).click();
  await page
    .getByRole('checkbox', { name: / of many$/ })
    .first()
    .waitFor();
  expect(await page.getByRole('checkbox').count()).toBeLessThan(60);
});

test('two tabs change one group, and both see what the other does', async () => {
  await api(hub, 'POST', '/groups', { token: admin, body: { name: 'shared', servers: ['alpha'] } });
  // What the other tab has deleted is asked for once more.
  const first = await visit(hub, '/groups/shared', { expected: /404/ });
  const second = await tab(first, '/groups/shared');
  await first.getByRole('checkbox', { name: 'beta is in the group' }).click();
  await expect.poll(() => second.getByRole('checkbox', { name: 'beta is in the group' }).isChecked()).toBe(true);
  await second.getByRole('checkbox', { name: 'alpha is in the group' }).click();
  await expect.poll(() => first.getByRole('checkbox', { name: 'alpha is in the group' }).isChecked()).toBe(false);
  expect((await configs('shared')).map(({ name }) => name)).toEqual(['beta']);
  // The answer comes later than the news: meanwhile the tab that deletes does not ask for what it knows to go.
  await second.route('**/api/groups/*', async (route) => {
    if (route.request().method() !== 'DELETE') return route.continue();
    const response = await route.fetch();
    await first.getByText('There is no such page').waitFor();
    await route.fulfill({ response });
  });
  await second.getByRole('button', { name: 'Delete' }).click();
  await second.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await second.waitForURL(/\/groups$/);
});

test('a group has its name in the address, also when it gets another one, and is found by its id', async () => {
  const { body } = await api(hub, 'POST', '/groups', { token: admin, body: { name: 'früher' } });
  const { id } = body.data as { id: string };
  const page = await visit(hub, '/groups', { expected: /404/ });
  await page.getByRole('link', { name: 'früher' }).click();
  await page.waitForURL(`**/groups/${encodeURIComponent('früher')}`);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByLabel('Name').fill('now');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.waitForURL('**/groups/now');
  await page.getByRole('heading', { name: 'now', level: 1 }).waitFor();
  // Elsewhere.
  await api(hub, 'PUT', `/groups/${id}`, { token: admin, body: { name: 'later' } });
  await page.waitForURL('**/groups/later');
  await follow(page, `/groups/${id}`);
  await page.getByRole('heading', { name: 'later', level: 1 }).waitFor();
});

test('who may not change a group sees what is in it, and nothing beside', async () => {
  await userToken(hub, admin, 'eve', { groups: ['g1'], servers: ['beta'] });
  const page = await visit(hub, '/groups/g1', { as: { username: 'eve', password: passwordOf('eve') } });
  await page.getByRole('checkbox', { name: 'alpha is in the group' }).waitFor();
  expect(await page.getByRole('checkbox', { name: 'beta is in the group' }).count()).toBe(0);
});

test('a form writes what was changed in it, and nothing else', async () => {
  await userToken(hub, admin, 'writer');
  const { body } = await api(hub, 'POST', '/groups', { token: admin, body: { name: 'formal', visibility: 'public' } });
  const { id } = body.data as { id: string };
  const page = await visit(hub, `/groups/${id}`);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  // Meanwhile another admin closes it to most.
  const closed = { visibility: 'group', sharedWithUsers: ['writer'] };
  expect((await api(hub, 'PUT', `/groups/${id}`, { token: admin, body: closed })).status).toBe(200);
  await page.getByLabel('Description').fill('For formalities');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  const { body: now } = await api(hub, 'GET', `/groups/${id}`, { token: admin });
  expect(now.data).toMatchObject({ ...closed, description: 'For formalities' });
  const kept = async () => (await api(hub, 'GET', `/groups/${id}`, { token: admin })).body.data;
  for (const [typed, most] of [
    ['0', 0],
    ['4000', 4000],
    ['', undefined],
  ] as const) {
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByLabel('Most tokens of a result').fill(typed);
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(async () => ((await kept()) as { maxResultTokens?: number }).maxResultTokens).toBe(most);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
});

test('a choice that is refused is taken back', async () => {
  const page = await visit(hub, '/groups/both', { expected: /409/ });
  await page.getByText('There is no such server any more.').waitFor();
  await page.route('**/groups/g2/servers', (route) =>
    route.fulfill({ status: 409, json: { success: false, message: 'Another change came first.' } }),
  );
  const beta = page.getByRole('checkbox', { name: 'beta is in the group' });
  await beta.click();
  await page.getByText('Another change came first.').waitFor();
  await expect.poll(() => beta.isChecked()).toBe(false);
});

test('a user uses the groups within reach, and changes only their own', async () => {
  const page = await visit(hub, '/groups', { as: { username: 'ann', password: passwordOf('ann') } });
  await page.getByRole('link', { name: /写作/ }).click();
  await page.getByText('This group belongs to admin.').waitFor();
  expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
  for (const box of await page.getByRole('checkbox').all()) expect(await box.isDisabled()).toBe(true);
  await page.getByText('/mcp/%E5%86%99%E4%BD%9C').first().waitFor();
});

test('names and words without a place to break make no page wider than the screen', async () => {
  const long = 'x'.repeat(120);
  const config = { url: 'http://127.0.0.1:9/mcp', description: 'd'.repeat(500) };
  await api(hub, 'POST', '/servers', { token: admin, body: { name: long, config } });
  const group = { name: 'W'.repeat(64), description: 'd'.repeat(500), servers: [long] };
  await api(hub, 'POST', '/groups', { token: admin, body: group });
  const page = await visit(hub, '/', { width: 320 });
  const shown = {
    '/groups': page.getByRole('link', { name: group.name }),
    [`/groups/${group.name}`]: page.getByRole('heading', { name: group.name, level: 1 }),
    '/servers': page.getByRole('link', { name: long }),
    [`/servers/${long}`]: page.getByRole('heading', { name: long, level: 1 }),
    '/tools': page.locator('option', { hasText: long }),
  };
  for (const [path, only] of Object.entries(shown)) {
    await follow(page, path);
    await only.first().waitFor({ state: 'attached' });
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), path).toBeLessThanOrEqual(0);
  }
  await closePages();
  await api(hub, 'DELETE', `/servers/${long}`, { token: admin });
  await api(hub, 'DELETE', `/groups/${group.name}`, { token: admin });
});

test('readers of screens find nothing wrong at any page and dialog', async () => {
  const page = await visit(hub, '/account');
  const shown = {
    '/groups': page.getByRole('link', { name: 'both' }),
    '/groups/g2': page.getByRole('checkbox', { name: 'beta is in the group' }),
    '/groups?add=form': page.getByRole('dialog').getByLabel('Name'),
  };
  expect(await violationsAt(page, shown)).toEqual([]);
});
