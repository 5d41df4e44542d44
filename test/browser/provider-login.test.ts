import { beforeAll, expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { atEnd } from '../kit/at-end.ts';
import { clientId, clientSecret, type Company, company } from '../kit/company.ts';
import { testIssuer } from '../kit/issuer.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { violationsInEveryLook, visit } from './kit.ts';

// People who log in at their company's provider, in the dashboard. The company is on this machine.

let corp: Company;
let hub: TestHub;

beforeAll(async () => {
  corp = await company();
  const provider = { id: 'corp', name: 'Corp', issuer: corp.issuer, clientId, clientSecret };
  const auth = { oidc: [provider], passwordLogin: false, breakGlass: 'admin' };
  hub = await testHub({ mcpServers: {}, systemConfig: { auth } });
  await corp.open(hub.url, 'corp');
});

test('an invited person logs in at the provider, and an admin ends the session', async () => {
  const page = await visit(hub, '/users');
  await page.getByRole('button', { name: 'Add a user' }).click();
  await page.getByLabel('User name').fill('ann');
  await page.getByRole('checkbox', { name: 'Without a password' }).check();
  expect(await page.getByRole('textbox', { name: 'Password' }).count()).toBe(0);
  await page.getByRole('textbox', { name: 'E-mail address' }).fill('ann@corp.example');
  expect(await violationsInEveryLook(page)).toEqual([]);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('User “ann” can log in at the provider.').waitFor();

  corp.people['s1'] = { email: 'ann@corp.example', email_verified: true };
  corp.person = 's1';
  const anns = await visit(hub, '/account', { as: undefined, expected: /401/ });
  await anns.getByRole('link', { name: 'Log in with Corp' }).click();
  // Back where the login was asked for.
  await anns.waitForURL(`${hub.url}/account`);
  await anns.getByText('This browser').waitFor();

  await page.getByRole('button', { name: 'End all sessions of ann' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'End sessions' }).click();
  await page.getByText('All sessions of “ann” have ended.').waitFor();
  await anns.getByText('Your session has ended.', { exact: false }).waitFor();
});

test('where passwords are switched off the form is folded, and the admin of the settings still gets in', async () => {
  const page = await visit(hub, '/login', { as: undefined });
  await page.getByRole('link', { name: 'Log in with Corp' }).waitFor();
  expect(await page.getByLabel('User name').isVisible()).toBe(false);
  expect(await violationsInEveryLook(page)).toEqual([]);
  await page.getByText('Log in with a password').click();
  await page.getByLabel('User name').fill('admin');
  await page.getByLabel('Password').fill('correct horse');
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await page.waitForURL(`${hub.url}/`);
});

test('a person whom the company does not let in is told so, and led back', async () => {
  corp.people['s2'] = { email: 'stranger@corp.example', email_verified: true };
  corp.person = 's2';
  const page = await visit(hub, '/login', { as: undefined, expected: /403/ });
  await page.context().clearCookies();
  await page.getByRole('link', { name: 'Log in with Corp' }).click();
  await page.getByRole('heading', { name: 'Not logged in' }).waitFor();
  await page.getByRole('link', { name: 'Back to the hub' }).click();
  await page.getByRole('link', { name: 'Log in with Corp' }).waitFor();
  expect((await api(hub, 'GET', '/users', { token: await login(hub) })).text).not.toContain('stranger');
});

test('behind a proxy that says who is there no login is asked for, and changes are made', async () => {
  const gate = await testIssuer();
  const jwks = { uri: `${gate.url}/keys`, issuer: gate.url, audience: ['hub'] };
  const forwardAuth = { enabled: true, header: 'x-proxy-says', jwks };
  const behind = await testHub({ mcpServers: {}, systemConfig: { auth: { forwardAuth } } });
  const token = await gate.sign({ aud: 'hub', preferred_username: 'pia' });
  const page = await visit(behind, '/login', { as: undefined, expected: /401/ });
  // As the proxy does with each request.
  await page.setExtraHTTPHeaders({ 'x-proxy-says': token });
  atEnd(() => void page.setExtraHTTPHeaders({}).catch(() => {}));
  await page.goto(`${behind.url}/account`);
  await page.waitForURL(`${behind.url}/account`);
  await page.getByRole('button', { name: /pia/ }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.getByRole('button', { name: 'Go on as pia' }).click();
  await page.getByRole('button', { name: /pia/ }).waitFor();
  const { body } = await api(behind, 'GET', '/users', { token: await login(behind) });
  expect((body.data as { username: string }[]).map(({ username }) => username)).toContain('pia');
});
