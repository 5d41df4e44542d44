import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { api, login, passwordOf, userToken } from '../kit/api.ts';
import { copyOfEmbedded } from '../kit/embedded-template.ts';
import { temporaryFolder } from '../kit/hostile.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { visit, violationsInEveryLook } from './kit.ts';

// The page of the audit log: who did what, what it was before, and whether the chain holds.

let hub: TestHub;

beforeAll(async () => {
  const folder = temporaryFolder();
  await copyOfEmbedded(join(folder, 'data'));
  const server = { command: 'node', enabled: false, env: { KEY: 'first-secret-value' } };
  hub = await testHub({ mcpServers: { github: server }, folder, env: { DB_URL: '' } });
  const token = await login(hub);
  await userToken(hub, token, 'ann');
  for (let i = 0; i < 3; i++)
    await api(hub, 'POST', '/auth/login', { body: { username: 'eve', password: 'not the right one' } });
  const config = { ...server, enabled: true, env: { KEY: 'second-secret-value' } };
  expect((await api(hub, 'PUT', '/servers/github', { token, body: { config } })).status).toBe(200);
  for (let i = 0; i < 60; i++) await api(hub, 'POST', '/groups', { token, body: { name: `team ${i}` } });
});

test('an admin finds a change, reads it value by value, and sees that the chain holds', async () => {
  const page = await visit(hub, '/audit');
  const list = page.getByRole('region', { name: 'Records' });
  await list.getByRole('button', { name: 'group.create' }).first().waitFor();
  await list.getByRole('button', { name: 'Show older ones' }).click();
  await list.getByText('3 times').waitFor();

  await list.getByRole('combobox', { name: 'What' }).selectOption('server');
  await page.waitForURL(/action=server/);
  await list.getByRole('searchbox', { name: 'Target' }).fill('GITHUB');
  await page.waitForURL(/target=GITHUB/);
  await list.getByRole('button', { name: 'server.update' }).click();
  const details = page.getByRole('dialog');
  await details.getByText('mcpServers › github › env › KEY').waitFor();
  const changes = await details.getByRole('region', { name: 'What changed' }).textContent();
  expect(changes).toContain('•••• (changed)');
  expect(changes).toMatch(/Before: false.*After: true/s);
  expect(changes).not.toContain('secret-value');
  expect(await violationsInEveryLook(page)).toEqual([]);
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Check the chain' }).click();
  await page.getByText('The chain is whole.').waitFor();
  await list.getByRole('searchbox', { name: 'Who' }).fill('no one of that name');
  await page.getByText('Nothing fits').waitFor();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Export' }).click()]);
  expect(file.suggestedFilename()).toBe('audit.jsonl');
});

test('only admins have the page, and phones show it whole', async () => {
  const ann = await visit(hub, '/audit', { as: { username: 'ann', password: passwordOf('ann') } });
  await ann.getByRole('heading', { level: 1 }).waitFor();
  expect(await ann.getByRole('link', { name: 'Audit log' }).count()).toBe(0);
  expect(await ann.getByRole('button', { name: 'Check the chain' }).count()).toBe(0);
  const page = await visit(hub, '/audit', { width: 390, height: 800 });
  await page.getByRole('button', { name: 'group.create' }).first().waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
});
