import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, login, passwordOf, userToken } from '../kit/api.ts';
import { hostileStdio, temporaryFolder } from '../kit/hostile.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { tab, visit, violationsInEveryLook } from './kit.ts';

// The log page: live, whole, and not slowed down by how long the log is.

let hub: TestHub;
let admin: string;

/** The server `talker` writes to its stderr what is appended here. */
let words: string;
const say = (...texts: string[]) => appendFileSync(words, texts.map((text) => `${text}\n`).join(''));
const entries = (page: Page) => page.getByRole('list', { name: 'Log entries' }).getByRole('listitem');
const quiet = { LOG_LEVEL: 'info', LOG_FORMAT: 'json' };

function talkers() {
  const { args, ...own } = hostileStdio({ tools: ['echo'] }).config as { command: string; args: string[] };
  const script = `tail -n +1 -f '${words}' >&2 & exec "$0" "$@"`;
  return {
    talker: { ...own, command: 'sh', args: ['-c', script, own.command, ...args] },
    secretive: hostileStdio({ tools: ['echo'], firstWords: 'not for ann\n' }).config,
  };
}

beforeAll(async () => {
  words = join(temporaryFolder(), 'words');
  writeFileSync(words, 'the first word\n');
  hub = await testHub({ mcpServers: talkers(), env: quiet });
  await hub.connected(2);
  admin = await login(hub);
  await userToken(hub, admin, 'ann', { servers: ['talker'] });
});

describe('the log', () => {
  test('goes on while one looks, and is narrowed by level, service and words, in an address that can be shared', async () => {
    const page = await visit(hub, '/logs');
    await page.getByText('the first word').waitFor();
    await page.getByText('Live').waitFor();
    say('the second word');
    await page.getByText('the second word').waitFor();

    await page.getByRole('combobox', { name: 'Service' }).selectOption('server:talker');
    await page.waitForURL(/service=server%3Atalker/);
    await page.getByText('the second word').waitFor();
    await page.getByRole('searchbox', { name: 'Search messages' }).fill('SECOND');
    await page.locator('mark', { hasText: 'second' }).waitFor();
    await expect.poll(() => entries(page).count()).toBe(1);
    say('the second coming', 'something else');
    await expect.poll(() => entries(page).count()).toBe(2);
    await page.reload();
    await expect.poll(() => entries(page).count()).toBe(2);

    await page.getByRole('button', { name: 'error', exact: true }).click();
    await page.waitForURL(/level=/);
    await page.getByText('Nothing matches.').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.getByText('the first word').waitFor();
    expect(await page.getByRole('searchbox', { name: 'Search messages' }).inputValue()).toBe('');
  });

  test('stands still while it is paused, counts what came, and misses none of it', async () => {
    const page = await visit(hub, '/logs?service=server:talker');
    await page.getByText('the first word').waitFor();
    await page.getByRole('region', { name: 'Logs' }).press('p');
    await page.getByText('Paused').waitFor();
    say('while paused 1', 'while paused 2', 'while paused 3');
    await page.getByText('3 new').waitFor();
    expect(await page.getByText('while paused').count()).toBe(0);
    await page.getByRole('button', { name: /Resume/ }).click();
    await page.getByText('while paused 3').waitFor();
    expect(await page.getByText('while paused').count()).toBe(3);
    // Narrowing it does not set it going.
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('searchbox', { name: 'Search messages' }).fill('while paused');
    await expect.poll(() => entries(page).count()).toBe(3);
    say('while paused 4');
    await page.getByText('1 new').waitFor();
    expect(await entries(page).count()).toBe(3);
  });

  test('is saved as it is shown', async () => {
    const page = await visit(hub, '/logs?service=server:talker&q=first');
    await page.getByText('the first').waitFor();
    await page.getByRole('button', { name: 'Download' }).click();
    const saving = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: /JSON/ }).click();
    const saved = await saving;
    expect(saved.suggestedFilename()).toMatch(/^toolhub-.*\.jsonl$/);
    const rows = readFileSync(await saved.path(), 'utf8')
      .trim()
      .split('\n');
    expect(rows.map((row) => JSON.parse(row).message)).toEqual(['the first word']);
  });

  test('shows a user what their servers write, and nothing to clear', async () => {
    const page = await visit(hub, '/logs', { as: { username: 'ann', password: passwordOf('ann') } });
    await page.getByText('the first word').waitFor();
    const services = await page.getByRole('combobox', { name: 'Service' }).locator('option').allTextContents();
    expect(services).toEqual(['Any service', 'server:talker']);
    expect(await page.getByRole('button', { name: 'Clear the log' }).count()).toBe(0);
  });

  test('is cleared by an admin who means it, for all who look', async () => {
    const own = await testHub({ env: quiet });
    const page = await visit(own, '/logs');
    const other = await tab(page, '/logs');
    for (const each of [page, other]) await entries(each).first().waitFor();
    const oldest = await entries(other).first().textContent();
    await page.getByRole('button', { name: 'Clear the log' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Clear the log' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Clear the log' }).click();
    await page.getByText('The log is empty.').waitFor();
    // That it was cleared is the first thing in it.
    for (const each of [page, other]) {
      await expect.poll(() => entries(each).allTextContents()).toEqual([expect.stringContaining('logs cleared')]);
    }
    expect(oldest).not.toContain('logs cleared');
  });

  test('goes on where it was when the hub was away', async () => {
    const first = await testHub({ env: quiet });
    const token = await login(first);
    const page = await visit(first, '/logs?service=api', { expected: /ERR_|Failed to fetch|net::/ });
    await api(first, 'POST', '/groups', { token, body: { name: 'before' } });
    await page.getByText(/before/).waitFor();
    await first.close();
    await page.getByText('The hub cannot be reached. Trying again…').waitFor();
    const again = await testHub({ folder: first.folder, env: { ...quiet, PORT: new URL(first.url).port } });
    await api(again, 'POST', '/groups', { token, body: { name: 'after' } });
    await page.getByText(/after/).waitFor();
    expect(await page.getByText(/before/).count()).toBe(1);
  });

  test('goes back as far as the hub remembers, and what one reads stays in its place meanwhile', async () => {
    const page = await visit(hub, '/account');
    const line = (id: number) => ({
      id,
      timestamp: new Date(1_800_000_000_000 + id).toISOString(),
      level: 'info',
      service: 'hub',
      message: `line ${id}`,
    });
    const from = (first: number, count: number) => Array.from({ length: count }, (_, index) => line(first + index));
    await page.route('**/api/logs/stream', (route) => {
      const resumed = route.request().headers()['last-event-id'] !== undefined;
      const initial = { type: 'initial', ...(resumed && { resumed }), logs: resumed ? [] : from(1_001, 1_000) };
      return route.fulfill({
        contentType: 'text/event-stream',
        body: `id: 2000\ndata: ${JSON.stringify(initial)}\n\n`,
      });
    });
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/api/logs?*', async (route) => {
      expect(new URL(route.request().url()).searchParams.get('before')).toBe('1001');
      await held;
      await route.fulfill({ json: { success: true, data: from(1, 1_000) } });
    });
    await page.goto(`${hub.url}/logs`);
    await page.getByText('line 2000').waitFor();
    await page.getByRole('region', { name: 'Logs' }).press('Home');
    const first = page.getByText('line 1001', { exact: true });
    await first.waitFor();
    await page.getByText('Loading older entries…').waitFor();
    answer();
    await page.getByText('2,000 lines').waitFor();
    await page.getByText('line 999', { exact: true }).waitFor({ state: 'attached' });
    await expect.poll(() => first.isVisible()).toBe(true);
    await page.getByRole('region', { name: 'Logs' }).press('Home');
    await page.getByText('line 1', { exact: true }).waitFor();
  });

  test('of 100 000 lines is searched by scrolling as one of ten, by keyboard too', async () => {
    const page = await visit(hub, '/account');
    const logs = Array.from({ length: 100_000 }, (_, index) => ({
      id: index + 1,
      timestamp: new Date(1_800_000_000_000 + index).toISOString(),
      level: 'info',
      service: 'hub',
      message: `line ${index + 1} ${'word '.repeat(index % 7)}`,
    }));
    await page.route('**/api/logs/stream', (route) => {
      // The answer ends, so the page asks again; all lines are for the first time.
      const resumed = route.request().headers()['last-event-id'] !== undefined;
      const initial = resumed ? { type: 'initial', resumed, logs: [] } : { type: 'initial', logs };
      return route.fulfill({
        contentType: 'text/event-stream',
        body: `id: 100000\ndata: ${JSON.stringify(initial)}\n\n`,
      });
    });
    await page.goto(`${hub.url}/logs`);
    await page.getByText('line 100000', { exact: false }).waitFor();
    expect(await entries(page).count()).toBeLessThan(120);
    const frame = page.getByRole('region', { name: 'Logs' });
    expect(await page.getByRole('button', { name: 'To the newest' }).count()).toBe(0);
    await frame.focus();
    await page.keyboard.press('Home');
    await page.getByText('line 1', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'To the newest' }).click();
    await page.getByText('line 100000', { exact: false }).waitFor();
    await frame.press('/');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('search');
  });

  test('reads well to readers of screens, in light and dark, wide and narrow', async () => {
    const page = await visit(hub, '/logs');
    await page.getByText('the first word').waitFor();
    expect(await violationsInEveryLook(page)).toEqual([]);
  });
});
