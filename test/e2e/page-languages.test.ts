import { beforeAll, describe, expect, test } from 'vitest';
import { english } from '../../src/http/frame/page-texts/en.ts';
import { pageTags, wordsOf } from '../../src/http/frame/page-texts/page-language.ts';
import { login, userToken } from '../kit/api.ts';
import { fieldsOf, handClient, submit } from '../kit/authorizing.ts';
import { hostileStdio } from '../kit/hostile.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// The pages that the hub makes itself, outside the dashboard, in the language of who asks for them.

let hub: TestHub;
beforeAll(async () => {
  const alpha = hostileStdio({ name: 'alpha', tools: ['read'] });
  hub = await testHub({
    mcpServers: { alpha: alpha.config },
    groups: [{ id: 'g-dev', name: 'dev', servers: ['alpha'] }],
  });
  await userToken(hub, await login(hub), 'ann', { servers: ['alpha'] });
});

const inGerman = { 'accept-language': 'nl, de-AT;q=0.9, en;q=0.5' };
const admin = { username: 'admin', password: 'correct horse' };

/** Where a name ends up in a page: all that is said with the texts of a language, without its markup. */
const plain = (page: string) =>
  page
    .replaceAll(/<style>.*?<\/style>/gs, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

test('a person is led through the way of an app in German, what went wrong included', async () => {
  const client = await handClient(hub.url, undefined, 'Die App');
  const first = await fetch(client.address({ scope: 'api' }), { headers: inGerman });
  expect(first.headers.get('content-language')).toBe('de');
  expect(first.headers.get('vary')).toContain('Accept-Language');
  expect(first.headers.get('vary')).toContain('Cookie');
  const asked = await first.text();
  expect(asked).toContain('<html lang="de">');
  expect(plain(asked)).toContain('Die App möchte diesen Tool Hub benutzen.');
  expect(plain(asked)).toMatch(/Benutzername.*Passwort.*Weiter/);

  const wrong = await submit(client.address(), { ...fieldsOf(asked), ...admin, password: 'x' }, inGerman);
  expect(wrong.status).toBe(401);
  const again = await wrong.text();
  expect(plain(again)).toContain('Benutzername oder Passwort ist falsch.');

  const consent = await (await submit(client.address(), { ...fieldsOf(again), ...admin }, inGerman)).text();
  expect(plain(consent)).toContain('Die App möchte die Tools dieses Hubs als admin benutzen.');
  expect(plain(consent)).toMatch(/Nur diese Gruppen.*dev.*Nur diese Server.*alpha.*Erlauben.*Ablehnen/);
  expect(plain(consent)).toContain('Sie sind Admin: Die App könnte dort, wo der Hub läuft, jedes Programm starten.');
  for (const text of Object.values(english).filter((text) => text.includes(' ') && !text.includes('{{')))
    expect(plain(consent)).not.toContain(text);

  const none = await submit(client.address(), { ...fieldsOf(consent), decision: 'allow' }, inGerman);
  expect([none.status, plain(await none.text())]).toEqual([
    400,
    expect.stringContaining('Wählen Sie, worauf die App zugreifen darf.') as string,
  ]);
  const done = await submit(client.address(), { ...fieldsOf(consent), decision: 'allow', reach: 'all' }, inGerman);
  expect(done.headers.get('location')).toContain('code=');
});

test('the language that was chosen in the dashboard goes first', async () => {
  const client = await handClient(hub.url);
  const headers = { ...inGerman, cookie: 'a=b; toolhub_language=ja' };
  const page = await fetch(client.address(), { headers });
  expect(page.headers.get('content-language')).toBe('ja');
  expect(await page.text()).toContain('ログイン');
  const odd = await fetch(client.address(), { headers: { cookie: 'toolhub_language="><b>' } });
  expect([odd.headers.get('content-language'), await odd.text()]).toEqual([
    'en',
    expect.stringContaining('<html lang="en">') as string,
  ]);
});

describe.each(pageTags)('in %s', (tag) => {
  const headers = { 'accept-language': tag };

  test('names that are markup, or places of the texts, stay what they are', async () => {
    const name = '<img src=x onerror=alert(1)>" {{user}} {{host}} $& \' </title>';
    const escaped = '&lt;img src=x onerror=alert(1)&gt;&quot; {{user}} {{host}} $&amp; &#39; &lt;/title&gt;';
    const client = await handClient(hub.url, undefined, name);
    const asked = await (await fetch(client.address({ scope: 'api <b>' }), { headers })).text();
    const consent = await (await submit(client.address(), { ...fieldsOf(asked), ...admin }, headers)).text();
    for (const page of [asked, consent]) {
      expect(page).toContain(`<strong>${escaped}</strong>`);
      expect(page).not.toContain('<img');
      expect(page.split('</title>')).toHaveLength(2);
      expect(page).not.toContain('<b>');
    }
    const { texts } = await wordsOf(tag);
    expect(consent).toContain(`<title>${texts.letIn.replace('{{client}}', () => escaped)} &middot; Tool Hub`);
  });

  test('a page that has no words of its own for a failure says it in English, and marks it', async () => {
    const { texts } = await wordsOf(tag);
    const unknown = await fetch(`${hub.url}/oauth/authorize?client_id=x`, { headers });
    const twice = await fetch(`${hub.url}/oauth/authorize?client_id=x&client_id=y`, { headers });
    const [named, unnamed] = [await unknown.text(), await twice.text()];
    for (const page of [named, unnamed]) expect(page).toContain(`<h1>${texts.notConnected}</h1>`);
    expect(unnamed.includes('<span lang="en">The parameter client_id')).toBe(tag !== 'en');
    expect(named).not.toContain('<span lang');
    expect(named.includes('This hub does not know the app')).toBe(tag === 'en');
  });

  test('the pages of a sign-in to a server are too', async () => {
    const { texts } = await wordsOf(tag);
    const form = await (await fetch(`${hub.url}/oauth/sign-in/alpha`, { headers })).text();
    expect(form).toContain(texts.signIn.replace('{{server}}', 'alpha'));
    const back = await fetch(`${hub.url}/oauth/callback?state=x&code=y`, { headers });
    expect([back.status, back.headers.get('content-language')]).toEqual([400, tag]);
    expect(await back.text()).toContain(`<h1>${texts.notSignedIn}</h1>`);
  });
});
