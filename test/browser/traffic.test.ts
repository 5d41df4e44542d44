import { beforeAll, expect, test } from 'vitest';
import { api, login, passwordOf, userToken } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { visit, violationsInEveryLook } from './kit.ts';

// The picture of who calls what.

let hub: TestHub;
const ann = { username: 'ann', password: passwordOf('ann') };

/** A client that says its name, and calls tools on one endpoint. */
async function calls(name: string, endpoint: string, tool: string, times: number, token?: string): Promise<void> {
  const credential = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const clientInfo = { name, version: '1' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const { headers } = await rpc(hub.mcp(endpoint), 'initialize', params, { headers: credential });
  const session = { ...credential, 'mcp-session-id': String(headers['mcp-session-id']) };
  for (let call = 0; call < times; call++)
    await rpc(hub.mcp(endpoint), 'tools/call', { name: tool, arguments: {} }, { headers: session });
}

beforeAll(async () => {
  hub = await testHub({
    mcpServers: {
      alpha: (await hostileHttp({ tools: ['echo', 'fail'] })).config,
      beta: (await hostileHttp({ tools: ['echo'] })).config,
    },
    groups: [{ id: 'g1', name: 'dev', servers: ['alpha', 'beta'], owner: 'admin' }],
  });
  await hub.connected(2);
  const admin = await login(hub);
  const own = await userToken(hub, admin, 'ann', { servers: ['beta'] });
  await calls('Cursor', '', 'alpha-echo', 3);
  await calls('Cursor', 'dev', 'alpha-fail', 2);
  await calls('Claude Code', 'dev', 'beta-echo', 4);
  await calls('Ann Desktop', '', 'beta-echo', 1, own);
  await api(hub, 'POST', '/tools/call/alpha', { token: admin, body: { toolName: 'echo' } });
});

test('leads one step deeper with each click: a client, a server, a tool, and then the calls', async () => {
  const page = await visit(hub, '/');
  await page.getByRole('link', { name: 'Traffic', exact: true }).click();
  const servers = page.getByRole('list', { name: 'Servers' });
  await page.getByText('11 calls, 2 failed.').waitFor();
  expect(await violationsInEveryLook(page)).toEqual([]);
  const names = (list: string) => page.getByRole('list', { name: list }).getByRole('link').allInnerTexts();
  const plain = (texts: string[]) => texts.map((text) => text.split('\n')[0]);
  expect(plain(await names('Clients'))).toEqual(['Cursor', 'Claude Code', 'No name (plain HTTP)', 'Ann Desktop']);
  expect(plain(await names('Endpoints'))).toEqual(['dev', 'All servers', 'alpha']);
  await page
    .getByRole('list', { name: 'Clients' })
    .getByRole('link', { name: 'Cursor 5 calls, 2 failed' })
    .press('Enter');
  await page.getByText('5 calls, 2 failed.').waitFor();
  expect(plain(await names('Servers'))).toEqual(['alpha']);
  await servers.getByRole('link', { name: /^alpha/ }).click();
  await page.getByRole('list', { name: 'Tools' }).getByRole('link', { name: 'fail 2 calls, 2 failed' }).click();
  await page.waitForURL(/\/activity\?/);
  const { searchParams } = new URL(page.url());
  expect(Object.fromEntries(searchParams)).toEqual({ since: '24h', client: 'Cursor', server: 'alpha', tool: 'fail' });
  await page.getByText('Page 1 of 1, 2 calls').waitFor();
});

test('leads to the calls of clients without a name, and of the endpoint of all servers', async () => {
  const page = await visit(hub, '/activity/traffic');
  await page.getByRole('link', { name: /^No name/ }).click();
  await page.getByText('1 call, 0 failed.').waitFor();
  await page.getByRole('link', { name: /^No name/ }).click();
  await page.getByText('Page 1 of 1, 1 call', { exact: true }).waitFor();
  await page.goto(`${hub.url}/activity/traffic?without=scope`);
  await page.getByText('4 calls, 0 failed.').waitFor();
  await page.getByRole('button', { name: 'Endpoint: All servers' }).click();
  await page.getByText('11 calls, 2 failed.').waitFor();
});

test('is a table too, and shows a user the own calls', async () => {
  const page = await visit(hub, '/activity/traffic', { as: ann, width: 390, height: 800 });
  await page.getByText('1 call, 0 failed.').waitFor();
  await page.getByText('As a table').click();
  const cells = page.getByRole('region', { name: 'The picture as a table' }).getByRole('cell');
  expect(await cells.allInnerTexts()).toEqual(['Ann Desktop', 'All servers', 'beta', '1', '0']);
});

test('moves with new calls', async () => {
  const page = await visit(hub, '/activity/traffic?client=Codex');
  await page.getByText('No call in this time').waitFor();
  await calls('Codex', '', 'beta-echo', 1);
  await page.getByText('1 call, 0 failed.').waitFor();
});
