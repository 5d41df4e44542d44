import { beforeAll, describe, expect, test } from 'vitest';
import { createPasswords } from '../../src/auth/passwords.ts';
import { httpLimits } from '../../src/http/limits.ts';
import { api, login, passwordOf, userToken } from '../kit/api.ts';
import { authorize, handClient } from '../kit/authorizing.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { setLimits } from '../kit/limits.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { visit, violationsAt, violationsInEveryLook } from './kit.ts';

// Users and their access keys.

let hub: TestHub;
let admin: string;

beforeAll(async () => {
  hub = await testHub({
    mcpServers: { alpha: (await hostileHttp({ tools: ['echo'] })).config },
    groups: [{ id: 'g1', name: 'dev', servers: ['alpha'], owner: 'admin' }],
  });
  await hub.connected(1);
  admin = await login(hub);
  await userToken(hub, admin, 'ann', { groups: ['g1'] });
});

describe('users', () => {
  test('are added, changed and deleted, and mistakes stand at their fields', async () => {
    const page = await visit(hub, '/users', { expected: /4\d\d/ });
    await page.getByText('2 users, 1 of them admins').waitFor();
    await page.getByRole('button', { name: 'Add a user' }).click();
    await page.getByLabel('User name').fill('bob');
    await page.getByLabel('Password').fill('bob12');
    await page.getByText('Weak. It is the user name, or nearly.').waitFor();
    await page.getByRole('checkbox', { name: 'dev' }).check();
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await expect.poll(() => page.getByLabel('Password').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Password').fill('long enough');
    await page.getByText('Good.', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('User “bob” is added.').waitFor();
    await login(hub, 'bob', 'long enough');
    const one = async () =>
      (await api(hub, 'GET', '/users/bob', { token: admin })).body.data as Record<string, unknown>;
    expect(await one()).toMatchObject({ role: 'user', groups: ['g1'] });
    await page.getByRole('button', { name: 'Change bob' }).click();
    await page.getByRole('checkbox', { name: 'Admin: manages everything' }).check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('3 users, 2 of them admins').waitFor();
    await page.getByRole('button', { name: 'Delete bob' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('2 users, 1 of them admins').waitFor();
    expect(await page.getByRole('button', { name: 'Delete admin: you cannot delete yourself' }).isDisabled()).toBe(
      true,
    );
  });

  test('keep an admin: the last one cannot be demoted, and it is said why', async () => {
    const page = await visit(hub, '/users');
    await page.getByRole('button', { name: 'Change admin' }).click();
    expect(await page.getByRole('checkbox', { name: /Admin: manages everything/ }).isDisabled()).toBe(true);
    await page.getByText('Make another user an admin first.').waitFor();
  });

  test('keep what another admin has changed while a form was open', async () => {
    await userToken(hub, admin, 'shared', { groups: ['g1'], servers: ['alpha'] });
    const page = await visit(hub, '/users');
    await page.getByRole('button', { name: 'Change shared' }).click();
    // Meanwhile a server is taken from them, and another admin is made of them.
    const change = { servers: [], role: 'admin' };
    expect((await api(hub, 'PUT', '/users/shared', { token: admin, body: change })).status).toBe(200);
    await page.getByRole('checkbox', { name: 'dev' }).uncheck();
    await page.getByLabel('New password').fill('an easier one');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    await expect.poll(focused).toBe('Change shared');
    // And from one over another: the question goes back to the form, and the form to the list.
    await page.keyboard.press('Enter');
    await page.getByLabel('New password').fill('x');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Keep editing' }).click();
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('password');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Discard' }).click();
    await expect.poll(focused).toBe('Change shared');
    const { body } = await api(hub, 'GET', '/users/shared', { token: admin });
    expect(body.data).toMatchObject({ servers: [], groups: [], role: 'admin' });
    await login(hub, 'shared', 'an easier one');
    await api(hub, 'DELETE', '/users/shared', { token: admin });
  });

  test('get a new password from an admin, and are out with the old one', async () => {
    const token = await userToken(hub, admin, 'forgetful');
    const page = await visit(hub, '/users');
    await page.getByRole('button', { name: 'Change forgetful' }).click();
    await page.getByLabel('New password').fill('an easier one');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await login(hub, 'forgetful', 'an easier one');
    expect((await api(hub, 'GET', '/servers', { token })).status).toBe(401);
  });

  test('that could not be deleted are there again', async () => {
    const page = await visit(hub, '/users', { expected: /409/ });
    await page.route('**/api/users/ann', (route) =>
      route.fulfill({ status: 409, json: { success: false, message: 'Not today.' } }),
    );
    await page.getByRole('button', { name: 'Delete ann' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Not today.').waitFor();
    await page.getByRole('button', { name: 'Delete ann' }).waitFor();
  });
});

describe('an old login', () => {
  const { freshLoginMs } = httpLimits;
  let own: TestHub;
  beforeAll(async () => {
    const hash = await createPasswords().hash('correct horse');
    const users = ['admin', 'second'].map((username) => ({ username, password: hash, role: 'admin' }));
    own = await testHub({ mcpServers: {}, users });
  });

  test('gives the password once more before an export with secrets, and the export goes on by itself', async () => {
    setLimits(httpLimits, { freshLoginMs: 0 });
    const page = await visit(own, '/settings?tab=transfer', { expected: /40[13]/ });
    await page.getByRole('button', { name: 'With all secrets' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Download' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Your password once more' });
    await dialog.waitFor();
    expect(await violationsInEveryLook(page)).toEqual([]);
    await dialog.getByLabel('Password').fill('wrong');
    await dialog.getByRole('button', { name: 'Go on' }).click();
    await dialog.getByText('the password is wrong').waitFor();
    const saved = page.waitForEvent('download');
    setLimits(httpLimits, { freshLoginMs });
    await dialog.getByLabel('Password').fill('correct horse');
    await dialog.getByRole('button', { name: 'Go on' }).click();
    expect((await saved).suggestedFilename()).toBe('mcp_settings.json');
    await dialog.waitFor({ state: 'detached' });
    // From now on the login is fresh.
    const again = page.waitForEvent('download');
    await page.getByRole('button', { name: 'With all secrets' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Download' }).click();
    await again;
  });

  test('changes no admin without it, and what was typed stays', async () => {
    setLimits(httpLimits, { freshLoginMs: 0 });
    const page = await visit(own, '/users', { expected: /403/ });
    await page.getByRole('button', { name: 'Change second' }).click();
    await page.getByLabel('New password').fill('another one');
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Your password once more' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('your login is older than').waitFor();
    expect(await page.getByLabel('New password').inputValue()).toBe('another one');
    await page.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor();
    setLimits(httpLimits, { freshLoginMs });
    await dialog.getByLabel('Password').fill('correct horse');
    await dialog.getByRole('button', { name: 'Go on' }).click();
    await page.getByText('Saved.').waitFor();
    await login(own, 'second', 'another one');
  });
});

describe('access keys', () => {
  test('are made, shown once, narrowed, switched off and deleted', async () => {
    const page = await visit(hub, '/keys');
    await page.getByText('No access key yet').waitFor();
    await page.getByRole('button', { name: 'Make an access key' }).first().click();
    await page.getByLabel('Name').fill('laptop');
    await page.getByLabel('What it opens').selectOption('groups');
    await page.getByText('the key opens nothing yet').waitFor();
    expect(await page.getByRole('group', { name: 'Servers' }).count()).toBe(0);
    await page.getByRole('checkbox', { name: 'dev' }).check();
    await page.getByRole('button', { name: 'Create' }).click();
    const first = await page.getByRole('region', { name: 'Your new key' }).textContent();
    expect(first).toMatch(/^mcphub_[0-9a-f]{64}$/);
    await page.getByRole('tab', { name: 'Cursor' }).click();
    const snippet = page.getByRole('region', { name: 'What to paste for Cursor' });
    expect(await snippet.textContent()).toContain(`Bearer ${first}`);
    expect(await snippet.textContent()).toContain(`${hub.url}/mcp/dev`);
    // Beside the dialog, and Escape: the only time that the key is shown is not lost by either.
    for (const leave of [() => page.mouse.click(4, 4), () => page.keyboard.press('Escape')]) {
      await leave();
      await page.getByRole('button', { name: 'Back to the key' }).click();
      expect(await page.getByRole('region', { name: 'Your new key' }).textContent()).toBe(first);
    }
    await page.getByRole('button', { name: 'I have it' }).click();
    await page.getByRole('switch', { name: 'Enable laptop' }).waitFor();
    expect(await page.content()).not.toContain(first);
    await page.getByRole('button', { name: 'Give “laptop” another token' }).click();
    await page.getByLabel('The token before works for').selectOption('none');
    await page.getByRole('button', { name: 'Make the token' }).click();
    const token = await page.getByRole('region', { name: 'Your new key' }).textContent();
    await page.getByRole('button', { name: 'I have it' }).click();
    expect((await api(hub, 'GET', '/groups', { token: first ?? '' })).status).toBe(401);
    const status = async () => (await api(hub, 'GET', '/groups', { token: token ?? '' })).status;
    expect(await status()).toBe(200);
    await page.reload();
    await page.getByText(/used (now|\d+ (?:seconds?|minutes?) ago)/).waitFor();
    await page.getByRole('switch', { name: 'Enable laptop' }).click();
    await expect.poll(status).toBe(401);
    await page.getByRole('button', { name: 'Delete laptop' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No access key yet').waitFor();
  });

  test('stay as narrow as another admin has made them while a form was open', async () => {
    const { body } = await api(hub, 'POST', '/auth/keys', { token: admin, body: { name: 'wide', accessType: 'all' } });
    const { id } = body.data as { id: string };
    const page = await visit(hub, '/keys');
    await page.getByRole('button', { name: 'Change “wide”' }).click();
    const narrower = { accessType: 'groups', allowedGroups: ['g1'] };
    expect((await api(hub, 'PUT', `/auth/keys/${id}`, { token: admin, body: narrower })).status).toBe(200);
    await page.getByLabel('Name').fill('renamed');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { body: all } = await api(hub, 'GET', '/auth/keys', { token: admin });
    expect(all.data).toContainEqual(expect.objectContaining({ id, name: 'renamed', ...narrower }));
    await api(hub, 'DELETE', `/auth/keys/${id}`, { token: admin });
  });

  test('are switched at once, and back when the hub refuses', async () => {
    const made = await api(hub, 'POST', '/auth/keys', { token: admin, body: { name: 'stubborn' } });
    const { id } = made.body.data as { id: string };
    const page = await visit(hub, '/keys', { expected: /403/ });
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/api/auth/keys/*', async (route) => {
      await held;
      await route.fulfill({ status: 403, json: { success: false, message: 'Not today.' } });
    });
    const toggle = page.getByRole('switch', { name: 'Enable stubborn' });
    await toggle.click();
    await expect.poll(() => toggle.getAttribute('aria-checked')).toBe('false');
    answer();
    await page.getByText('Not today.').waitFor();
    await expect.poll(() => toggle.getAttribute('aria-checked')).toBe('true');
    await api(hub, 'DELETE', `/auth/keys/${id}`, { token: admin });
    // Gone without a reload: the hub has said that something has changed.
    await toggle.waitFor({ state: 'detached' });
  });

  test('are for reading only, from some addresses, and say when they end soon', async () => {
    const page = await visit(hub, '/keys', { expected: /400/ });
    await page.getByRole('button', { name: 'Make an access key' }).first().click();
    await page.getByLabel('Name').fill('narrow');
    await page.getByRole('checkbox', { name: 'Only tools that read' }).check();
    await page.getByLabel('Accepted from').fill('10.0.0.0/8\nnowhere');
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
    await page.getByLabel('Expires').fill(tomorrow);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').filter({ hasText: 'must be an IP address or a range' }).waitFor();
    await page.getByLabel('Accepted from').fill('10.0.0.0/8\n\n 203.0.113.7 ');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'I have it' }).click();
    await page.getByText('only reads').waitFor();
    await page.getByText('from 10.0.0.0/8, 203.0.113.7').waitFor();
    await page.getByText(/^ends (tomorrow|in \d+ hours)$/).waitFor();
    await page.getByRole('button', { name: 'Change “narrow”' }).click();
    await page.getByRole('checkbox', { name: 'Only tools that read' }).uncheck();
    await page.getByLabel('Accepted from').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('only reads').waitFor({ state: 'detached' });
    const { body } = await api(hub, 'GET', '/auth/keys', { token: admin });
    const key = (body.data as { id: string; name: string }[]).find(({ name }) => name === 'narrow');
    expect(key).toMatchObject({ readOnly: false, allowedAddresses: [] });
    await api(hub, 'DELETE', `/auth/keys/${key?.id}`, { token: admin });
  });

  test('of a user are their own, with their rights', async () => {
    const page = await visit(hub, '/keys', { as: { username: 'ann', password: passwordOf('ann') } });
    await page.getByRole('button', { name: 'Make an access key' }).first().click();
    await page.getByLabel('Name').fill('own');
    expect(await page.getByLabel('What it opens').count()).toBe(0);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'I have it' }).click();
    await page.getByText('of ann').waitFor();
    // Admins see it as hers.
    const other = await visit(hub, '/keys');
    await other.getByText('What ann reaches').waitFor();
  });
});

test('apps that users let in are listed for them and for admins, and disconnected', async () => {
  const client = await handClient(hub.url, undefined, 'Some editor');
  await client.redeem(await authorize(client.address(), { username: 'ann' }));
  const own = await client.redeem(await authorize(client.address({ scope: 'mcp api' }), { scope: ['api'] }));
  const page = await visit(hub, '/account/apps', { as: { username: 'ann', password: passwordOf('ann') } });
  await page.getByText('app.example').waitFor();
  expect(await page.getByText('of ann').count()).toBe(0);
  const other = await visit(hub, '/account/apps');
  await other.getByText('of ann').waitFor();
  await other.getByText('manages the hub').waitFor();
  expect(await violationsAt(other, { '/account/apps': other.getByText('of admin') })).toEqual([]);
  await page.getByRole('button', { name: 'Disconnect Some editor' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Disconnect' }).click();
  await page.getByText('No app is connected').waitFor();
  // The page shows it before the hub has done it.
  const left = async () => (await api(hub, 'GET', '/auth/grants', { token: admin })).body.data;
  await expect.poll(left).toEqual([expect.objectContaining({ username: 'admin', scope: 'mcp api' })]);
  expect((await api(hub, 'GET', '/groups', { token: own.body.access_token })).status).toBe(200);
});

test('readers of screens find nothing wrong at any page and dialog', async () => {
  const page = await visit(hub, '/account');
  for (const [path, shown, opens] of [
    ['/users', 'Delete ann', 'Add a user'],
    ['/keys', 'Delete own', 'Make an access key'],
  ] as const) {
    expect(await violationsAt(page, { [path]: page.getByRole('button', { name: shown }) })).toEqual([]);
    await page.getByRole('button', { name: opens }).click();
    await page.getByRole('dialog').waitFor();
    expect(await violationsInEveryLook(page)).toEqual([]);
    await page.keyboard.press('Escape');
  }
});

test('users fill in their credentials for a server, see no value again, and remove them', async () => {
  const config = {
    url: 'http://127.0.0.1:9/mcp',
    visibility: 'public',
    credentialTemplate: [{ target: 'headers', name: 'X-Api-Key', label: 'Key of the ticket system' }],
  };
  await api(hub, 'POST', '/servers', { token: admin, body: { name: 'tickets', config } });
  const page = await visit(hub, '/servers/tickets');
  await page.getByText('yours are not set').waitFor();
  await page.getByRole('main').getByRole('link', { name: 'Your credentials' }).click();
  await page.getByText('not set').waitFor();
  await page.getByLabel('Key of the ticket system').fill('a-key-of-mine');
  await page.getByRole('button', { name: 'Save your credentials for tickets' }).click();
  await page.getByText('set', { exact: true }).waitFor();
  await expect.poll(() => page.getByLabel('Key of the ticket system').inputValue()).toBe('');
  expect(await violationsAt(page, { '/account/credentials': page.getByText('headers.X-Api-Key') })).toEqual([]);
  await page.getByRole('button', { name: 'Remove your credentials for tickets' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('not set').waitFor();
  await api(hub, 'DELETE', '/servers/tickets', { token: admin });
});
