import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { deferred } from '../../src/core/deferred.ts';
import { api, login, passwordOf, userToken } from '../kit/api.ts';
import { handClient } from '../kit/authorizing.ts';
import { authenticator, setUpTotp } from '../kit/second-factor.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { follow, settled, visit, violationsInEveryLook } from './kit.ts';

// What users show at a login besides the password: set up, asked for, demanded and reset.

let hub: TestHub;
let admin: string;
beforeAll(async () => {
  hub = await testHub({ mcpServers: {} });
  admin = await login(hub);
});

/** A user that only one test knows. */
async function person(username: string) {
  await userToken(hub, admin, username);
  return { username, password: passwordOf(username) };
}

/** The browser of this page has a device that keeps passkeys, until `WebAuthn.disable`. */
async function withAuthenticator(page: Page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const options = {
    protocol: 'ctap2',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
  } as const;
  await devtools.send('WebAuthn.addVirtualAuthenticator', { options });
  return devtools;
}

describe('a second factor', () => {
  test('is set up with an app, asked for at the next login, and a recovery code takes its place', async () => {
    const ann = await person('ann');
    const page = await visit(hub, '/account', { as: ann, expected: /40[01]/ });
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
    await page.getByRole('img', { name: 'QR code for an authenticator app' }).waitFor();
    expect(await violationsInEveryLook(page)).toEqual([]);
    const app = authenticator((await page.getByLabel('Secret', { exact: true }).textContent()) ?? '');
    await page.getByLabel('Code that the app shows').fill('000000');
    await page.getByRole('button', { name: 'Turn it on' }).click();
    await expect.poll(() => page.getByLabel('Code that the app shows').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Code that the app shows').fill(app.code());
    await page.getByRole('button', { name: 'Turn it on' }).click();
    await page.getByRole('button', { name: 'I have kept them' }).waitFor();
    const codes = await page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem').allTextContents();
    expect(codes).toHaveLength(10);
    expect(await violationsInEveryLook(page)).toEqual([]);
    await page.getByRole('button', { name: 'I have kept them' }).click();
    await page.getByText('10 recovery codes are left.').waitFor();

    const logOut = async () => {
      await page.getByRole('button', { name: /Account/ }).click();
      await page.getByRole('menuitem', { name: 'Log out' }).click();
    };
    const enter = async () => {
      await page.getByLabel('User name').fill('ann');
      await page.getByLabel('Password').fill(ann.password);
      await page.getByRole('button', { name: 'Log in', exact: true }).click();
      await page.getByLabel('Code', { exact: true }).waitFor();
    };
    await logOut();
    await enter();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await violationsInEveryLook(page)).toEqual([]);
    await page.getByLabel('Code', { exact: true }).fill('000000');
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByText('The code is wrong, or was used already.').waitFor();
    await page.getByLabel('Code', { exact: true }).fill(app.code());
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByText('10 recovery codes are left.').waitFor();
    await logOut();
    await enter();
    await page.getByRole('button', { name: 'Begin again' }).click();
    await enter();
    await page.getByLabel('Code', { exact: true }).fill(codes[0] ?? '');
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByText('9 recovery codes are left.').waitFor();
    // The change of a password asks for it as well.
    await page.getByLabel('Current password').fill(ann.password);
    await page.getByLabel('New password', { exact: true }).fill('another horse');
    await page.getByLabel('New password again').fill('another horse');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByLabel('Code', { exact: true }).fill(codes[1] ?? '');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('Password changed.').waitFor();
    await page.getByRole('button', { name: 'New recovery codes' }).click();
    await page.getByRole('button', { name: 'I have kept them' }).click();
    await page.getByRole('button', { name: 'Turn off the app' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Turn off the app' }).click();
    await page.getByRole('button', { name: 'Set up an authenticator app' }).waitFor();
  });

  test('a request that begins while a password changes is sent with the new cookies', async () => {
    const ida = await person('ida');
    const page = await visit(hub, '/account', { as: ida });
    const order: string[] = [];
    const held = deferred<void>();
    const endOf = (url: string) => new URL(url).pathname.split('/').pop();
    await page.route('**/api/auth/change-password', (route) => held.promise.then(() => route.continue()));
    page.on('response', (response) => {
      if (endOf(response.url()) === 'change-password') order.push(`changed ${response.status()}`);
    });
    // The page no longer waits for its answer once it has emptied its fields.
    page.on('request', (request) => {
      if (endOf(request.url()) === 'password-check') order.push(request.headers()['x-csrf-token'] ?? '');
    });
    await page.getByLabel('Current password').fill(ida.password);
    await page.getByLabel('New password', { exact: true }).fill('another horse');
    await page
      .getByText(/Strong|Good|Fair|Weak/)
      .first()
      .waitFor();
    await page.getByLabel('New password again').fill('another horse');
    order.length = 0;
    const sent = page.waitForRequest('**/api/auth/change-password');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await sent;
    await page.getByLabel('New password', { exact: true }).fill('a horse of another colour');
    // A timer of the page that is set later, and is longer, than the one after which it asks how strong that is.
    await page.evaluate(() => new Promise((done) => setTimeout(done, 600)));
    expect(order).toEqual([]);
    held.resolve();
    await expect.poll(() => order.length).toBe(2);
    const cookies = await page.context().cookies();
    expect(order).toEqual(['changed 200', cookies.find(({ name }) => name === 'toolhub_csrf')?.value]);
  });

  test('may be a passkey: made with a name, used at a login, and deleted', async () => {
    const eva = await person('eva');
    // Browsers make none for an IP address.
    const local = { url: hub.url.replace('127.0.0.1', 'localhost') };
    const page = await visit(local, '/login', { as: undefined, expected: /401|500/ });
    const devtools = await withAuthenticator(page);
    const enter = async () => {
      await page.getByLabel('User name').fill('eva');
      await page.getByLabel('Password').fill(eva.password);
      await page.getByRole('button', { name: 'Log in', exact: true }).click();
    };
    await enter();
    await page.getByRole('button', { name: /Account/ }).click();
    await page.getByRole('menuitem', { name: 'Account' }).click();
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByLabel('Name of the passkey').fill('Laptop');
    expect(await violationsInEveryLook(page)).toEqual([]);
    // The codes are shown once: what cannot be asked for meanwhile does not take their place.
    const state = '**/api/auth/second-factor';
    await page.route(state, (route) => route.fulfill({ status: 500, json: {} }));
    const answerOf = (path: string) => page.waitForResponse((answer) => answer.url().endsWith(path));
    const offered = answerOf('/second-factor/passkeys/options');
    const made = answerOf('/second-factor/passkeys');
    const askedAgain = answerOf('/auth/second-factor');
    await page.getByRole('button', { name: 'Make the passkey' }).click();
    expect((await offered).status()).toBe(200);
    expect((await made).ok()).toBe(true);
    expect((await askedAgain).status()).toBe(500);
    await settled(page);
    await page.getByRole('list', { name: 'Recovery codes' }).waitFor();
    await page.unroute(state);
    await page.getByRole('button', { name: 'I have kept them' }).click();
    const list = page.getByRole('list', { name: 'Passkeys' });
    // The page may ask again by itself first.
    const retry = page.getByRole('button', { name: 'Try again' });
    await expect
      .poll(async () => {
        await retry.click({ timeout: 1_000 }).catch(() => {});
        return list.getByText('Laptop').isVisible();
      })
      .toBe(true);
    expect(await list.getByText(/Last used/).count()).toBe(0);
    await page.getByRole('button', { name: /Account/ }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await enter();
    await page.getByLabel('Recovery code').waitFor();
    expect(await violationsInEveryLook(page)).toEqual([]);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await list.getByText(/Last used/).waitFor();
    await page.getByRole('button', { name: 'Delete Laptop' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await list.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Set up an authenticator app' }).waitFor();
    await devtools.send('WebAuthn.disable');
    await devtools.detach();
  });

  test('that is a passkey alone lets its user let an app in: the page of the hub asks for it', async () => {
    const ada = await person('ada');
    const origin = hub.url.replace('127.0.0.1', 'localhost');
    const page = await visit({ url: origin }, '/login', { as: undefined, expected: /40[01]/ });
    const devtools = await withAuthenticator(page);
    await page.getByLabel('User name').fill('ada');
    await page.getByLabel('Password').fill(ada.password);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByRole('button', { name: /Account/ }).waitFor();
    await follow(page, '/account');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByLabel('Name of the passkey').fill('Laptop');
    await page.getByRole('button', { name: 'Make the passkey' }).click();
    await page.getByRole('button', { name: 'I have kept them' }).click();

    const client = await handClient(origin, `${origin}/health`);
    await page.goto(client.address());
    await page.getByLabel('Username').fill('ada');
    await page.getByLabel('Password').fill(ada.password);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByLabel('Recovery code').waitFor();
    expect(await violationsInEveryLook(page)).toEqual([]);
    // A person who turns the browser's question down is told, and can try again.
    await page.evaluate(() => {
      const { credentials } = navigator;
      const get = credentials.get.bind(credentials);
      credentials.get = () => {
        credentials.get = get;
        return Promise.reject(new DOMException('', 'NotAllowedError'));
      };
    });
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByText('The browser gave no passkey.').waitFor();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(/\/health\?code=/);
    const { status } = await client.redeem(new URL(page.url()));
    expect(status).toBe(200);
    await devtools.send('WebAuthn.disable');
    await devtools.detach();
  });

  test('that a user has lost is reset by an admin', async () => {
    const bob = await person('bob');
    await setUpTotp(hub, { token: await login(hub, bob.username, bob.password) });
    const page = await visit(hub, '/users');
    await page.getByRole('button', { name: 'Reset the second factor of bob' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Reset' }).click();
    await page.getByText('The second factor of “bob” is gone.').waitFor();
    await login(hub, bob.username, bob.password);
  });

  test('that the settings demand is set up before anything else', async () => {
    const own = await testHub({ mcpServers: {} });
    const page = await visit(own, '/settings', { expected: /403/ });
    await page.getByLabel('Second factor at logins with a password').selectOption('admins');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect(await violationsInEveryLook(page)).toEqual([]);
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
    const app = authenticator((await page.getByLabel('Secret', { exact: true }).textContent()) ?? '');
    await page.getByLabel('Code that the app shows').fill(app.code());
    await page.getByRole('button', { name: 'Turn it on' }).click();
    await page.getByRole('button', { name: 'I have kept them' }).click();
    await page.getByRole('button', { name: 'Continue to the hub' }).click();
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    const refused = await api(own, 'POST', '/auth/login', { body: { username: 'admin', password: 'correct horse' } });
    expect(refused.body['error']).toBe('second_factor_required');
  });
});
