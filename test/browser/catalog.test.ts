import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { login, passwordOf, userToken } from '../kit/api.ts';
import { atEnd } from '../kit/at-end.ts';
import { hostileHttp, hostileStdio } from '../kit/hostile.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { follow, violationsAt, visit } from './kit.ts';

// The catalogue: the list that comes with the hub, the registry, and what is pasted on the page.

let hub: TestHub;
/** What the registry was asked for. */
const searches: (string | null)[] = [];
const ann = { username: 'ann', password: passwordOf('ann') };

beforeAll(async () => {
  const registry = createServer((request, response) => {
    const search = new URL(request.url ?? '', 'http://x').searchParams.get('search');
    searches.push(search);
    const server = {
      name: 'io.example/notes',
      description: `Found by ${search}`,
      remotes: [
        {
          type: 'streamable-http',
          url: 'https://notes.example.com/mcp',
          headers: [{ name: 'Authorization', isRequired: true }],
        },
      ],
    };
    response.end(JSON.stringify({ servers: [{ server }], metadata: { count: 1 } }));
  });
  await new Promise<void>((listening) => registry.listen(0, '127.0.0.1', listening));
  atEnd(() => new Promise<void>((closed) => registry.close(() => closed())));
  const { port } = registry.address() as AddressInfo;
  hub = await testHub({
    mcpServers: { filesystem: hostileStdio({ tools: ['echo'] }).config },
    env: { MCP_REGISTRY_URL: `http://127.0.0.1:${port}` },
  });
  await hub.connected(1);
  await userToken(hub, await login(hub), ann.username);
});

/** Puts a text into the page as the browser does where no field has the focus. */
async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate((text) => navigator.clipboard.writeText(text), text);
  await page.keyboard.press('ControlOrMeta+V');
}

describe('a server of the list', () => {
  test('says what it needs, asks for it, and is offered another name where its own is taken', async () => {
    const page = await visit(hub, '/catalog', { expected: /40[49]/ });
    await page.getByRole('button', { name: 'Databases' }).click();
    await page.getByRole('button', { name: 'Add Filesystem' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Files' }).click();
    const card = page.getByRole('listitem').filter({ hasText: 'below the folder you name' });
    expect(await card.getByRole('list', { name: 'What it needs' }).textContent()).toBe('Node.jsA value');
    await card.getByRole('button', { name: 'Add Filesystem' }).click();
    // What is required is asked for before anything is sent.
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByLabel('Folder on the hub').fill('/srv/notes');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('button', { name: 'Use “filesystem-2”' }).click();
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    // Its program would be installed from the network.
    await page.route('**/api/servers', (route) => route.fulfill({ status: 201, json: { success: true, data: {} } }));
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    expect((await sent).postDataJSON()).toEqual({
      name: 'filesystem-2',
      config: {
        type: 'stdio',
        command: 'npx',
        args: ['-y', '@modelcontextprotocol/server-filesystem', '/srv/notes'],
        description: 'Reads, writes, moves and searches files below the folder you name.',
      },
    });
    await page.waitForURL(/\/servers\/filesystem-2$/);
  });

  test('is there without the registry, which is tried again', async () => {
    const lonely = await testHub({ mcpServers: {}, env: { MCP_REGISTRY_URL: 'http://127.0.0.1:9' } });
    const page = await visit(lonely, '/catalog?q=github', { expected: /503/ });
    await page.getByRole('button', { name: 'Add GitHub' }).waitFor();
    await page.getByText('The registry cannot be reached').waitFor();
    await page.route('**/api/registry/servers*', (route) =>
      route.fulfill({ json: { success: true, data: { servers: [] } } }),
    );
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No server in the registry matches.').waitFor();
  });
});

test('the registry is asked for words alone, through the hub, and what it finds is asked for its values', async () => {
  const page = await visit(hub, '/catalog');
  const box = page.getByLabel('Search, or paste');
  await box.fill('API_KEY=abc123 notes');
  await page.getByText('This is a command line.').waitFor();
  // It may be a key: it stays out of the address and its history as well.
  expect(page.url()).not.toContain('abc123');
  await box.fill('notes');
  await page.getByText('Found by notes').waitFor();
  expect(searches).toEqual(['notes']);
  await page.getByRole('button', { name: 'Add io.example/notes' }).click();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('notes');
  await page.getByLabel('Authorization', { exact: true }).fill('Bearer abc');
  await page.getByText('How it is reached').click();
  expect(await page.getByLabel('URL', { exact: true }).inputValue()).toBe('https://notes.example.com/mcp');
});

describe('what is pasted on the page', () => {
  test('is an address, a command line with a value to fill in, or settings, and leads to the server', async () => {
    const { url } = await hostileHttp({ tools: ['echo'] });
    const page = await visit(hub, '/catalog');
    await page.getByRole('heading', { name: 'Catalogue', level: 1 }).waitFor();
    await paste(page, url);
    expect(await page.getByLabel('URL', { exact: true }).inputValue()).toBe(url);
    await page.getByLabel('Name', { exact: true }).fill('remote');
    // Beside the fields a paste is another server; a whole command line in the name's place is one too.
    await paste(page, 'TOKEN=<YOUR_TOKEN> node -e "process.exit(3)"');
    await page.getByLabel('<YOUR_TOKEN>').fill('open sesame');
    expect(await page.getByLabel('Command', { exact: true }).inputValue()).toBe('node');
    await page.getByLabel('Name', { exact: true }).fill('local');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.waitForURL(/\/servers\/local$/);
    await follow(page, '/catalog');
    await page.getByRole('heading', { name: 'Catalogue', level: 1 }).waitFor();
    await paste(page, JSON.stringify({ mcpServers: { filesystem: { url } } }));
    await page.getByRole('button', { name: 'Use “filesystem-2”' }).click();
    await page.getByRole('button', { name: 'Add 1 server' }).click();
    await page.getByRole('heading', { name: /filesystem-2/, level: 1 }).waitFor();
    await page.getByText('1 of 1 on').waitFor();
  });

  test('is added by users as far as they may', async () => {
    const page = await visit(hub, '/catalog', { as: ann });
    const card = page.getByRole('listitem').filter({ hasText: 'below the folder you name' });
    await card.getByText('Added by admins').waitFor();
    await paste(page, 'npx -y some-server');
    await page.getByText('Only admins add programs').waitFor();
    await paste(page, 'https://mcp.example.com/mcp');
    await expect.poll(() => page.getByLabel('URL', { exact: true }).inputValue()).toBe('https://mcp.example.com/mcp');
    expect(await page.getByRole('tab').allTextContents()).toEqual(['Form']);
  });
});

test('in another language servers are described in it, and so is what is wrong with a value', async () => {
  const page = await visit(hub, '/catalog', { expected: /400/ });
  await page.evaluate(() => localStorage.setItem('toolhub.language', 'zh'));
  await page.reload();
  await page.getByText('在指定目录下读取、写入、移动和搜索文件。').waitFor();
  await page.getByRole('button', { name: '手动添加' }).click();
  await page.getByLabel('名称', { exact: true }).fill('a b');
  await page.getByLabel('命令', { exact: true }).fill('node');
  await page.getByRole('button', { name: '添加', exact: true }).click();
  await page.getByText('只能包含英文字母、数字、“.”、“_”和“-”。', { exact: true }).waitFor();
  await page.getByRole('alert').getByText('有一个值无法接受').waitFor();
});

test('in another language the list fits a phone, and is searched by what it shows and by the English text', async () => {
  const page = await visit(hub, '/catalog');
  await page.evaluate(() => localStorage.setItem('toolhub.language', 'de'));
  await page.reload();
  const list = page.getByRole('list', { name: 'Mitgelieferte Server' });
  // Its long words fit a phone.
  await list.getByRole('listitem').first().waitFor();
  await page.setViewportSize({ width: 360, height: 780 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  const german = 'Liest, schreibt, verschiebt und durchsucht Dateien in dem Ordner, den Sie angeben.';
  for (const words of ['Ordner angeben', 'folder you name']) {
    await page.getByLabel('Suchen, oder URL').fill(words);
    await page.getByText('Mitgeliefert (1)').waitFor();
    await list.getByText(german).waitFor();
  }
});

test('readers of screens find nothing wrong in it', async () => {
  const page = await visit(hub, '/account');
  const shown = {
    '/catalog': page.getByRole('button', { name: 'Add Filesystem' }),
    '/catalog?q=notes': page.getByText('Found by notes'),
  };
  expect(await violationsAt(page, shown)).toEqual([]);
  await page.getByRole('button', { name: 'Add io.example/notes' }).click();
  await page.getByLabel('Authorization', { exact: true }).waitFor();
});
