import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, cookieLogin, login, passwordOf, userToken } from '../kit/api.ts';
import { hostileHttp, hostileStdio } from '../kit/hostile.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';
import { follow, tab, visit, violations, violationsAt, violationsInEveryLook, waitsForAnswers } from './kit.ts';

// What is around every page: login, who may see what, languages, themes, and what it costs to open.

let hub: TestHub;

beforeAll(async () => {
  hub = await testHub({ mcpServers: { notes: (await hostileHttp({ tools: ['echo'] })).config } });
  await hub.connected(1);
  await userToken(hub, await login(hub), 'ann');
});

const ann = { username: 'ann', password: passwordOf('ann') };

describe('login', () => {
  test('leads back to where one wanted to go, and says what is wrong with a wrong password', async () => {
    const page = await visit(hub, '/servers?q=no', { as: undefined, expected: /401/ });
    await page.waitForURL(/\/login\?from=/);
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Password').fill('correct horse');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/servers\?q=no$/);
    await page.getByRole('heading', { name: 'Servers', level: 1 }).waitFor();
  });

  test('does not lead anywhere else', async () => {
    const page = await visit(hub, '/login?from=//evil.example/x', { as: undefined });
    await page.getByLabel('Password').fill('correct horse');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
  });

  test('is asked for again when the session has ended, and then everything is as before', async () => {
    const page = await visit(hub, '/groups', { expected: /401/ });
    await page.getByRole('heading', { name: 'Groups', level: 1 }).waitFor();
    const kept = await page.context().cookies();
    const valueOf = (name: string) => kept.find((cookie) => cookie.name === name)?.value ?? '';
    const headers = {
      cookie: `toolhub_session=${valueOf('toolhub_session')}`,
      'x-csrf-token': valueOf('toolhub_csrf'),
    };
    expect((await api(hub, 'POST', '/auth/logout', { headers })).status).toBe(200);
    // The stream of changes ends with the session.
    await page.getByText('Your session has ended').waitFor();
    await page.getByLabel('Password').fill('correct horse');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Groups', level: 1 }).waitFor();
  });

  test('out is out in every tab', async () => {
    const page = await visit(hub, '/', { expected: /503/ });
    const other = await page.context().newPage();
    await other.goto(`${hub.url}/groups`);
    const logOut = async () => {
      await page.getByRole('button', { name: /admin/ }).click();
      await page.getByRole('menuitem', { name: 'Log out' }).click();
    };
    // The hub still has the session: the page does not pretend that it has ended.
    const away = { status: 503, json: { success: false, message: 'The database is away.' } };
    await page.route('**/api/auth/logout', (route) => route.fulfill(away), { times: 1 });
    await logOut();
    await page.getByText('The database is away.').waitFor();
    await logOut();
    await page.getByRole('heading', { name: 'Tool Hub' }).waitFor();
    await other.getByLabel('Password').waitFor();
  });
});

test('a user sees where they are logged in, and ends the other logins', async () => {
  const other = await cookieLogin(hub, ann.username, ann.password, {
    'user-agent': 'Mozilla/5.0 (Macintosh) Firefox/9',
  });
  const page = await visit(hub, '/account', { as: ann });
  await page.getByText('Firefox, Macintosh').waitFor();
  await page.getByText('This browser').waitFor();
  expect(await violationsInEveryLook(page)).toEqual([]);
  await page.getByRole('button', { name: 'End all others' }).click();
  await page.getByText('All other logins have ended.').waitFor();
  await page.getByText('Firefox, Macintosh').waitFor({ state: 'detached' });
  expect((await api(hub, 'GET', '/auth/user', { headers: other.headers })).status).toBe(401);
});

describe('a password that the hub made up', () => {
  test('is to be changed, and then is not asked for any more', async () => {
    const fresh = await testHub({ env: { ADMIN_PASSWORD: '' } });
    const made = { username: 'admin', password: fresh.hub.adminPassword ?? '' };
    const page = await visit(fresh, '/', { as: made, expected: /401/ });
    await page.getByRole('link', { name: 'Change the password' }).first().click();
    await page.getByLabel('Current password').fill('not this one');
    await page.getByLabel('New password', { exact: true }).fill('short');
    await page.getByLabel('New password again').fill('shirt');
    await page.getByText('The two are not the same.').waitFor();
    await page.getByText(/^Weak\. It is short/).waitFor();
    await page.getByLabel('New password', { exact: true }).fill('my own words');
    await page.getByLabel('New password again').fill('my own words');
    await page.getByText('Good.', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByRole('alert').getByText('current password is wrong').waitFor();
    await page.getByLabel('Current password').fill(made.password);
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('Password changed.').waitFor();
    await page.getByText('Choose a password of your own').waitFor({ state: 'detached' });
    const token = await login(fresh, 'admin', 'my own words');
    // Changes are heard with the new session.
    await page.getByRole('link', { name: 'Groups' }).click();
    await page.getByText('No group yet').waitFor();
    await api(fresh, 'POST', '/groups', { token, body: { name: 'heard' } });
    await page.getByRole('link', { name: /heard/ }).waitFor();
  });
});

describe('a user without rights', () => {
  test('sees no page of admins, neither by a link nor by its address', async () => {
    const page = await visit(hub, '/users', { as: ann });
    await page.getByText('Only admins see this page').waitFor();
    for (const name of ['Users', 'Settings', 'Smart routing']) {
      expect(await page.getByRole('link', { name, exact: true }).count(), name).toBe(0);
    }
  });
});

describe('everywhere', () => {
  test('an address that is no page says so, inside and outside of the dashboard', async () => {
    const page = await visit(hub, '/servers/x/y');
    await page.getByText('There is no such page').waitFor();
  });

  test('the other language and the other theme stay after a reload', async () => {
    const page = await visit(hub, '/');
    await page.getByRole('button', { name: /admin/ }).click();
    await page.getByRole('menuitemradio', { name: '简体中文' }).click();
    await page.getByRole('heading', { name: '概览', level: 1 }).waitFor();
    await page.getByRole('button', { name: /admin/ }).click();
    await page.getByRole('menuitemradio', { name: '深色' }).click();
    const asked = page.waitForRequest('**/api/servers*');
    await page.reload();
    expect((await asked).headers()['accept-language']).toBe('zh');
    await page.getByRole('heading', { name: '概览', level: 1 }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('zh');
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
  });

  test('the keyboard skips the navigation, and a phone opens and leaves it', async () => {
    const page = await visit(hub, '/', { width: 390, height: 800 });
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Groups' }).click();
    await page.getByRole('heading', { name: 'Groups', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Groups' }).waitFor({ state: 'hidden' });
  });

  test('the hub may be below a path, and under it everything works', async () => {
    const below = await testHub({ env: { BASE_PATH: '/my/hub' } });
    const page = await visit(below, '/settings', { as: undefined });
    await page.getByLabel('Password').fill('correct horse');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${below.url}/settings`);
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
  });
});

describe('the first load', () => {
  test('is at most 250 kB', async () => {
    const page = await visit(hub, '/login', { as: undefined });
    await page.getByLabel('Password').waitFor();
    const measured = await page.evaluate(() => {
      const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      return entries.map(({ name, encodedBodySize }) => ({ name: new URL(name).pathname, bytes: encodedBodySize }));
    });
    const bytes = measured.filter(({ name }) => !name.startsWith('/api')).reduce((sum, each) => sum + each.bytes, 0);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(250_000);
  });

  test('of the first page after the login is at most 180 kB of scripts, 200 kB in all, and twelve requests', async () => {
    // In use: a new hub asks for its first steps too, with two requests more.
    const used = await testHub({ mcpServers: { notes: (await hostileHttp({ tools: ['echo'] })).config } });
    await used.connected(1);
    const token = await login(used);
    for (let call = 0; call < 11; call++) {
      await api(used, 'POST', '/tools/call/notes', { token, body: { toolName: 'echo' } });
    }
    const requests: string[] = [];
    const page = await visit(used, '/', {
      before(page) {
        page.on('request', (request) => requests.push(new URL(request.url()).pathname));
        return page.addInitScript('');
      },
    });
    await page.getByRole('heading', { name: 'Calls and errors' }).waitFor();
    await until('the page has all its answers', () => !waitsForAnswers(page));
    const loaded = await page.evaluate(() => {
      const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      return entries.map(({ name, decodedBodySize, encodedBodySize }) => ({
        path: new URL(name).pathname,
        bytes: encodedBodySize,
        unpacked: decodedBodySize,
      }));
    });
    const files = loaded.filter(({ path }) => !path.startsWith('/api'));
    const scripts = files.filter(({ path }) => path.endsWith('.js'));
    const sum = (of: typeof files, key: 'bytes' | 'unpacked') => of.reduce((all, file) => all + file[key], 0);
    // It is the packed size that is counted: the same unpacked would be too much.
    expect(sum(files, 'unpacked')).toBeGreaterThan(250_000);
    expect(sum(scripts, 'bytes')).toBeGreaterThan(50_000);
    expect(sum(scripts, 'bytes')).toBeLessThan(180_000);
    expect(sum(files, 'bytes')).toBeLessThan(200_000);
    expect(requests.length, requests.join()).toBeLessThanOrEqual(12);
  });

  test('no page takes more than its share', () => {
    const files = readdirSync('dist/web/assets').filter((name) => name.endsWith('.js.gz'));
    // What every page needs is one file, and what several of them need another. A language is the texts of all pages.
    const shares: [RegExp, number][] = [
      [/^index-/, 150_000],
      [/^shared-/, 24_000],
      [/^(?:de|es|fr|ja|zh)-/, 24_000],
    ];
    for (const name of files) {
      const [, most] = shares.find(([ofName]) => ofName.test(name)) ?? [name, 20_000];
      expect([name, readFileSync(`dist/web/assets/${name}`).length < most]).toEqual([name, true]);
    }
    // A hub in use has no list of first steps.
    const having = files.filter((name) =>
      readFileSync(`dist/web/assets/${name.replace(/\.gz$/, '')}`, 'utf8').includes('first.putAway'),
    );
    expect(having).toEqual([expect.stringMatching(/^first-steps-/)]);
  });
});

test('after a change, a page asks again for what it shows, and for nothing else', async () => {
  const page = await visit(hub, '/servers');
  await page.getByText('1 of 1 tools').waitFor();
  await follow(page, '/groups');
  await page.getByText('No group yet').waitFor();
  await until('the page has all its answers', () => !waitsForAnswers(page));
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const token = await login(hub);
  await api(hub, 'POST', '/groups', { token, body: { name: 'news' } });
  await page.getByRole('link', { name: /news/ }).waitFor();
  await until('the page has all its answers', () => !waitsForAnswers(page));
  expect([...new Set(asked)].toSorted()).toEqual(['/api/approvals/waiting', '/api/auth/user', '/api/groups']);
  await api(hub, 'DELETE', '/groups/news', { token });
});

test('a test that follows a link to a page that does not come hears which, and what is there', async () => {
  const page = await tab(await visit(hub, '/servers'), '/groups');
  await page.getByText('No group yet').waitFor();
  // No answer to what the page is made of.
  await page.route('**/assets/**', () => undefined);
  const failure = 'Expected the page /logs?service=server:x within 1 ms; there is /groups';
  await expect(follow(page, '/logs?service=server:x', 1)).rejects.toThrow(failure);
  await page.close();
});

describe('a hub that is read-only', () => {
  test('is looked at, and offers nothing to change', async () => {
    const kept = await testHub({
      mcpServers: { notes: hostileStdio({ tools: ['echo'] }).config },
      groups: [{ id: 'g1', name: 'dev', servers: ['notes'], owner: 'admin' }],
      env: { READONLY: 'true' },
    });
    await kept.connected(1);
    const page = await visit(kept, '/servers');
    await page.getByText('1 of 1 tools').waitFor();
    const sign = page.locator('[data-tip]', { hasText: 'Read-only' });
    await sign.hover();
    await page.locator('#tip').getByText('READONLY').waitFor();
    expect(await sign.getAttribute('aria-describedby')).toBe(await page.locator('#tip').getAttribute('id'));
    const pages = {
      '/servers': 'notes',
      '/servers/notes': '1 of 1 on',
      '/groups': 'dev',
      '/groups/g1': 'Its only tool',
      '/users': '1 user, who is an admin',
      '/keys': 'No access key yet',
      '/settings': 'Names and lists',
      '/smart': '1 of 1 tools',
    };
    for (const [path, text] of Object.entries(pages)) {
      await follow(page, path);
      await page.getByText(text).first().waitFor();
      const offers = page.getByRole('button', { name: /^(?:Add|Create|Make|Save|Delete|Edit|Reconnect|Index)/ });
      expect([path, await offers.count()]).toEqual([path, 0]);
      for (const toggle of await page.getByRole('switch').all()) expect(await toggle.isDisabled(), path).toBe(true);
    }
    await follow(page, '/tools?server=notes&tool=echo');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('OK', { exact: true }).waitFor();
  });
});

test('what a control is for is shown to who points at it or comes to it by keyboard, and to no finger', async () => {
  const page = await visit(hub, '/servers/notes');
  const control = page.getByRole('main').getByRole('button', { name: 'Delete' });
  const tip = page.locator('#tip');
  await control.dispatchEvent('pointerover', { pointerType: 'touch' });
  // A timer of the page that is set later and is longer.
  await page.evaluate(() => new Promise((done) => setTimeout(done, 500)));
  expect(await tip.count()).toBe(0);
  await control.hover();
  await tip.getByText('Delete').waitFor();
  // It stays under the pointer, for those who have to come close to read it.
  await tip.hover();
  await page.evaluate(() => new Promise((done) => setTimeout(done, 300)));
  expect(await tip.isVisible()).toBe(true);
  await page.getByRole('heading', { level: 1 }).hover();
  await tip.waitFor({ state: 'hidden' });
  await control.focus();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Tab');
  await tip.waitFor();
  expect(await violations(page)).toEqual([]);
  // The words that are its name already are not said twice.
  expect(await control.getAttribute('aria-describedby')).toBe(null);
  await page.keyboard.press('Escape');
  await tip.waitFor({ state: 'hidden' });
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Tab');
  await tip.waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('alertdialog').waitFor();
  await tip.waitFor({ state: 'hidden' });
});

test('readers of screens find nothing wrong before the login and after it, in light and dark, wide and narrow', async () => {
  const page = await visit(hub, '/login', { as: undefined });
  await page.getByLabel('Password').waitFor();
  expect(await violationsInEveryLook(page)).toEqual([]);
  await page.getByLabel('Password').fill('correct horse');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  const shown = {
    '/': page.getByText('No call in this time').first(),
    '/account': page.getByLabel('Current password'),
  };
  expect(await violationsAt(page, shown)).toEqual([]);
});
