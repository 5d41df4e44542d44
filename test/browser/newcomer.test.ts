import { beforeAll, expect, test } from 'vitest';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { login, passwordOf, userToken } from '../kit/api.ts';
import { hostileHttp, hostileStdio } from '../kit/hostile.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { closePages, follow, violationsInEveryLook, visit } from './kit.ts';

// From the first start to the first call of a real client, and the page that connects one.

/** A client as it is in use: with its own name, and what its settings say. */
async function client(name: string, url: string, authorization?: string): Promise<Client> {
  const made = new Client({ name, version: '1.0.0' });
  const headers = authorization === undefined ? {} : { authorization };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  await made.connect(transport);
  return made;
}

test('a newcomer goes from the first start to the first call of a client, and sees each step done', async () => {
  const hub = await testHub({ firstStart: true, env: { ADMIN_PASSWORD: '' } });
  await hub.connected(3);
  // The strength of the new password may still be asked for with the session before.
  const page = await visit(hub, '/', { as: undefined, expected: /401/ });
  await page.getByLabel('Password').fill(hub.hub.adminPassword ?? '');
  await page.keyboard.press('Enter');
  const done = async (number: number) => page.getByText(`${number} of 4 done.`, { exact: false }).waitFor();
  await done(0);
  expect(await page.getByText('Calls and errors').count()).toBe(0);
  expect(await violationsInEveryLook(page)).toEqual([]);

  await page.getByRole('main').getByRole('listitem').getByRole('link', { name: 'Change the password' }).click();
  await page.getByLabel('Current password').fill(hub.hub.adminPassword ?? '');
  await page.getByLabel('New password', { exact: true }).fill('my own words');
  await page.getByLabel('New password again').fill('my own words');
  await page.keyboard.press('Enter');
  await page.getByText('Password changed.').waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await done(1);

  await page.getByRole('main').getByRole('listitem').getByRole('link', { name: 'Connect a client' }).click();
  await page.getByRole('button', { name: 'Cursor' }).click();
  await page.getByRole('button', { name: /^Everything/ }).click();
  await page.getByRole('button', { name: /^With a new access key/ }).click();
  await page.getByText('Waiting for Cursor…').waitFor();
  const text = await page.getByRole('region', { name: 'What to paste for Cursor' }).textContent();
  const { mcpServers } = JSON.parse(text ?? '') as { mcpServers: Record<string, Entry> };
  const [entry] = Object.values(mcpServers);
  const cursor = await client('cursor-vscode', entry?.url ?? '', entry?.headers?.Authorization);
  await page.getByText('Cursor is connected').waitFor();
  await page.getByText('It calls itself “cursor-vscode”.').waitFor();
  await cursor.callTool({ name: 'everything-echo', arguments: { message: 'hello' } });
  await page.getByText('Its first call has arrived.').waitFor();
  expect(await violationsInEveryLook(page)).toEqual([]);
  await cursor.close();

  await page.getByRole('link', { name: 'To the overview' }).click();
  await done(3);
  await page.getByRole('main').getByRole('listitem').getByRole('link', { name: 'Add a server' }).click();
  await page.getByLabel('Name', { exact: true }).fill('own');
  const { command, args } = hostileStdio({ tools: ['echo'] }).config as { command: string; args: string[] };
  await page.getByLabel('Command').fill(command);
  await page.getByRole('textbox', { name: 'Arguments' }).fill(args.join('\n'));
  await page.keyboard.press('Tab');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('heading', { name: /own/, level: 1 }).waitFor();
  await follow(page, '/');
  await page.getByText('All first steps are done').waitFor();
  await page.getByRole('button', { name: 'Put away' }).click();
  await page.getByText('Calls and errors').waitFor();
  await page.reload();
  await page.getByText('Calls and errors').waitFor();
  expect(await page.getByText('first steps').count()).toBe(0);
});

interface Entry {
  readonly url?: string;
  readonly headers?: { readonly Authorization: string };
}

let hub: TestHub;
const ann = { username: 'ann', password: passwordOf('ann') };

beforeAll(async () => {
  hub = await testHub({
    mcpServers: { alpha: (await hostileHttp({ tools: ['echo'] })).config },
    groups: [{ id: 'g1', name: 'dev', servers: ['alpha'], owner: 'admin' }],
  });
  await hub.connected(1);
  await userToken(hub, await login(hub), 'ann', { groups: ['g1'] });
});

test('each step of connecting is gone back to, and a reload keeps all but the key', async () => {
  const page = await visit(hub, '/groups/g1');
  await page.getByRole('main').getByRole('link', { name: 'Connect a client' }).click();
  await page.getByRole('button', { name: 'VS Code' }).press('Enter');
  // The group was chosen where one came from.
  await page.getByText('One group: dev').waitFor();
  // The keyboard goes on where the next step is.
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Key or sign-in?');
  await page.getByRole('button', { name: /^With a new access key/ }).click();
  const key = await page.getByRole('region', { name: 'Its access key' }).textContent();
  expect(key).toMatch(/^mcphub_[0-9a-f]{64}$/);
  await page.getByText('/mcp/dev').first().waitFor();
  // It asks for the key itself, so its link has none in it.
  const link = await page.getByRole('link', { name: 'Add to VS Code' }).getAttribute('href');
  expect(link).toMatch(/^vscode:mcp\/install\?/);
  expect(link).not.toContain(key);
  expect(page.url()).not.toContain(key);
  const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));
  expect(kept).not.toContain(key);
  await page.reload();
  await page.getByText('The key is shown only once', { exact: false }).waitFor();
  const vscode = await client('Visual Studio Code', `${hub.url}/mcp/dev`, `Bearer ${key}`);
  await page.getByText('VS Code is connected').waitFor();
  await vscode.close();
  await page.getByRole('button', { name: 'Change: What should it reach?' }).click();
  await page.getByLabel('One server').selectOption('alpha');
  await page.getByText('One server: alpha').waitFor();
  await page.getByRole('button', { name: 'Change: Which client?' }).click();
  await page.getByRole('button', { name: 'Codex' }).click();
  await page.goBack();
  await page.getByRole('button', { name: 'Codex' }).waitFor();
});

test('where a text belongs is said in the language of the page', async () => {
  const page = await visit(hub, '/account/connect?client=codex&reach=all&credential=have');
  await page.evaluate(() => localStorage.setItem('toolhub.language', 'de'));
  await page.reload();
  await page.getByText('in ~/.codex/config.toml, und der Zugriffsschlüssel in die Umgebungsvariable').waitFor();
  await follow(page, '/account/connect?client=vscode&reach=all&credential=have');
  await page.getByText('in .vscode/mcp.json (oder über „MCP').waitFor();
  await follow(page, '/account/connect?client=cursor&reach=all&credential=have');
  await page.getByText('in ~/.cursor/mcp.json (oder .cursor/mcp.json in einem Projekt)').waitFor();
});

test('what a stranger calls itself is shown as it is written, and taken for no other client', async () => {
  const page = await visit(hub, '/account/connect?client=cursor&reach=all&credential=none');
  await page.getByText('Waiting for Cursor…').waitFor();
  await page.waitForURL(/since=/);
  const line = await page.getByRole('region', { name: 'Command line that connects Cursor' }).textContent();
  expect(line).toBe(`toolhub connect cursor --url ${hub.url} --write`);
  const evil = await client('<img src=x onerror=alert(1)>\u202Eevil', `${hub.url}/mcp`);
  await page.getByText('Another client has connected meanwhile: “<img src=x onerror=alert(1)>evil”.').waitFor();
  expect(await page.getByText('Cursor is connected').count()).toBe(0);
  const cursor = await client('Cursor', `${hub.url}/mcp`);
  await page.getByText('Cursor is connected').waitFor();
  for (const each of [evil, cursor]) await each.close();
  await closePages();

  // A user sees no client of others, and their own by their key.
  const own = await visit(hub, '/account/connect?client=cursor&reach=all', { as: ann });
  await own.getByRole('button', { name: /^With a new access key/ }).click();
  await own.getByText('Waiting for Cursor…').waitFor();
  expect(await own.getByText('evil').count()).toBe(0);
  const text = await own.getByRole('region', { name: 'Its access key' }).textContent();
  const anns = await client('any name', `${hub.url}/mcp`, `Bearer ${text}`);
  await own.getByText('Cursor is connected').waitFor();
  await follow(own, '/');
  await own.getByText('1 of 2 done.', { exact: false }).waitFor();
  await anns.callTool({ name: 'alpha-echo', arguments: {} });
  // Seen while one looks.
  await own.getByText('All first steps are done').waitFor();
  await anns.close();
});
