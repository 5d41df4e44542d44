import { beforeAll, expect, test } from 'vitest';
import { api, login, passwordOf, userToken } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';
import { follow, visit, violationsInEveryLook } from './kit.ts';

// What tools cost every client, and what is never called.

let hub: TestHub;
let admin: string;
const many = 10_000;

beforeAll(async () => {
  hub = await testHub({
    mcpServers: {
      alpha: (await hostileHttp({ tools: ['echo', 'add', 'env'] })).config,
      beta: (await hostileHttp({ tools: ['echo', 'fail'] })).config,
      many: { ...(await hostileHttp({ tools: many })).config, enabled: false },
    },
    groups: [{ id: 'g1', name: 'dev', servers: [{ name: 'alpha', tools: ['echo'] }], owner: 'admin' }],
  });
  await hub.connected(2);
  admin = await login(hub);
  await userToken(hub, admin, 'ann', { servers: ['alpha'] });
  await api(hub, 'POST', '/tools/call/alpha', { token: admin, body: { toolName: 'echo' } });
});

const listed = async () =>
  ((await rpc(hub.mcp(), 'tools/list', {})).result?.tools ?? []).map(({ name }) => name).sort();

test('tools that were never called are switched off together, and on again', async () => {
  const page = await visit(hub, '/');
  await page.getByRole('link', { name: /^Tools/ }).click();
  // The records begin with this hub: of no day before them is said that nothing was called.
  await page.getByText(/4 tools were never called since /).waitFor();
  await page.getByText(/Calls are known only since /).waitFor();
  const list = page.getByRole('list', { name: 'Tools by cost' });
  await list.getByText('1 call', { exact: true }).waitFor();
  await page.getByRole('figure', { name: /Tokens by server and tool: .*alpha/ }).waitFor();
  expect(await violationsInEveryLook(page)).toEqual([]);
  await page.getByRole('button', { name: 'Select them' }).click();
  await page.getByText(/4 tools selected/).waitFor();
  expect(await list.getByRole('listitem').count()).toBe(4);
  // By keyboard, too.
  await list.getByLabel('Select env of alpha').press('Space');
  const changes: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') changes.push(new URL(request.url()).pathname);
  });
  await page.getByRole('button', { name: 'Switch off' }).click();
  await page.getByText(/3 tools of alpha, beta are off/).waitFor();
  expect(changes).toEqual(['/api/servers/alpha/tools/toggle', '/api/servers/beta/tools/toggle']);
  expect(await listed()).toEqual(['alpha-echo', 'alpha-env']);
  await page.getByRole('button', { name: 'Undo' }).click();
  await until('they are on again', async () => (await listed()).length === 5);
  await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' });
});

test('one tool is switched off from its row, found among those that are off, and on again', async () => {
  const page = await visit(hub, '/servers/beta');
  await page.getByRole('main').getByRole('link', { name: 'Token bill' }).click();
  await page.getByRole('switch', { name: 'Enable fail of beta' }).click();
  await page.getByText(/1 tool of beta is off/).waitFor();
  await page.getByLabel('Which tools').selectOption('off');
  await page.getByRole('switch', { name: 'Enable fail of beta' }).click();
  await page.getByText(/1 tool of beta is on again/).waitFor();
  expect(await listed()).toHaveLength(5);
});

test('a group is made of the tools that were called, and says what it saves', async () => {
  const page = await visit(hub, '/tools/costs?server=alpha');
  await page.getByRole('button', { name: 'Make a group of the others' }).click();
  const dialog = page.getByRole('dialog');
  await dialog
    .getByText(/^1 tool that was called since .*, of alpha: ≈ \d+ tokens in place of \d+, [\d.]+% less\.$/)
    .waitFor();
  expect(await dialog.getByLabel('Name').inputValue()).toBe('alpha-used');
  expect(await violationsInEveryLook(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.waitForURL('**/groups/alpha-used');
  const tools = (await rpc(hub.mcp('alpha-used'), 'tools/list', {})).result?.tools ?? [];
  expect(tools.map(({ name }) => name)).toEqual(['alpha-echo']);
});

test('a user sees what the own clients are told, and nothing to switch', async () => {
  const page = await visit(hub, '/tools/costs', { as: { username: 'ann', password: passwordOf('ann') } });
  const list = page.getByRole('list', { name: 'Tools by cost' });
  await list.getByText('env', { exact: true }).waitFor();
  expect(await list.getByRole('listitem').count()).toBe(3);
  // Nothing of hers is recorded: of no tool is said that she never called it.
  expect(await list.getByText('not known').count()).toBe(3);
  expect(await page.getByRole('switch').count()).toBe(0);
  expect(await page.getByRole('checkbox').count()).toBe(0);
});

test('a group costs what it shows, and a search its own two tools', async () => {
  const page = await visit(hub, '/groups/dev');
  await page.getByRole('main').getByRole('link', { name: 'Token bill' }).click();
  const items = page.getByRole('list', { name: 'Tools by cost' }).getByRole('listitem');
  await page.getByText('1 tool, ≈').waitFor();
  expect(await items.count()).toBe(1);
  await page.getByLabel('Endpoint').selectOption({ label: 'Search in place of lists' });
  await items.getByText('search_tools').waitFor();
  expect(await items.count()).toBe(2);
});

test('ten thousand tools are a few rows and a few rectangles', async () => {
  const at = { token: admin };
  await api(hub, 'POST', '/servers/many/toggle', { ...at, body: { enabled: true } });
  await hub.connected(3);
  const page = await visit(hub, '/tools/costs');
  await page.getByText(/^10,005 tools/).waitFor();
  const drawn = await page.evaluate(() => [
    document.querySelectorAll('main li').length,
    document.querySelectorAll('main figure span').length,
  ]);
  expect(drawn[0]).toBeLessThan(100);
  expect(drawn[1]).toBeLessThan(500);
  await page.getByLabel('Search tools').fill('09999');
  await page.getByText('1 tool, ≈').waitFor();
  await follow(page, '/account');
  await api(hub, 'POST', '/servers/many/toggle', { ...at, body: { enabled: false } });
});
