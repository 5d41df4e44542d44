import { expect, test } from 'vitest';
import { setLimits } from '../../../test/kit/limits.ts';
import { HubError } from '../../core/errors.ts';
import { authLimits } from '../limits.ts';
import { redirectsProblem } from './client.ts';
import { createClientDocuments, isDocumentId } from './client-documents.ts';
import { knownClients } from './known-clients.ts';

const id = 'https://app.example/client.json';
const good = { client_id: id, client_name: 'An app', redirect_uris: ['https://app.example/cb'] };
const log = { debug() {}, info() {}, warn() {}, error() {} };
const json = { 'content-type': 'application/json' };

/** Documents of a network that answers this, and how often it was asked. */
function documents(answer: (url: URL) => Response | Promise<Response>) {
  let at = 0;
  const asked: string[] = [];
  const fetch = async (url: URL) => {
    asked.push(url.href);
    return answer(url);
  };
  const made = createClientDocuments({ fetch, log, now: () => at });
  return { read: (of = id, fetching = () => {}) => made.read(of, fetching), asked, later: (ms: number) => (at += ms) };
}

test('a client is what its document says', async () => {
  const { read } = documents(() => Response.json({ ...good, logo_uri: 'https://x/', contacts: ['a'] }));
  expect(await read()).toEqual({ id, name: 'An app', redirectUris: good.redirect_uris, isProven: true });
});

test.each([
  'http://app.example/client.json',
  'https://app.example',
  'https://app.example/',
  'https://app.example/a/../client.json',
  'https://app.example/client.json?x=1',
  'https://app.example/client.json#x',
  'https://app.example/client.json?',
  'https://user@app.example/client.json',
  'https://APP.example/client.json',
  'https://app.example:443/client.json',
  'https:app.example/client.json',
  `https://app.example/${'x'.repeat(500)}`,
  'file:///etc/passwd',
  'data:application/json,{}',
  ':',
])('no document is fetched for %s', async (bad) => {
  const { read, asked } = documents(() => Response.json({ ...good, client_id: bad }));
  await expect(read(bad)).rejects.toMatchObject({ code: 'invalid_input' });
  expect(asked).toEqual([]);
});

test.each<[string, () => Response | Promise<Response>]>([
  ['of another client', () => Response.json({ ...good, client_id: `${id}x` })],
  ['of no client', () => Response.json({ ...good, client_id: undefined })],
  ['without addresses', () => Response.json({ ...good, redirect_uris: [] })],
  ['with none', () => Response.json({ ...good, redirect_uris: undefined })],
  ['with a script', () => Response.json({ ...good, redirect_uris: ['javascript:alert(1)'] })],
  ['with eleven', () => Response.json({ ...good, redirect_uris: Array.from({ length: 11 }, (_, i) => `${id}${i}`) })],
  ['with a secret', () => Response.json({ ...good, client_secret: 'x' })],
  ['for a secret', () => Response.json({ ...good, token_endpoint_auth_method: 'client_secret_basic' })],
  ['of another kind', () => Response.json({ ...good, grant_types: ['client_credentials'] })],
  ['with a name that is none', () => Response.json({ ...good, client_name: {} })],
  ['that is a list', () => Response.json([good])],
  ['that is null', () => Response.json(null)],
  ['that is no JSON', () => new Response('<html>', { headers: json })],
  ['of another type', () => new Response(JSON.stringify(good), { headers: { 'content-type': 'text/plain' } })],
  ['elsewhere', () => new Response(null, { status: 302, headers: { location: 'https://other.example/' } })],
  ['that is gone', () => Response.json(good, { status: 404 })],
  ['out of reach', () => Promise.reject(new HubError('forbidden', 'it has the address 10.0.0.1'))],
])('a document %s is refused, tells nothing of the network, and is not kept', async (_, answer) => {
  let now = answer;
  const { read, asked } = documents(() => now());
  const refused = read();
  await expect(refused).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(refused).rejects.not.toThrow('10.0.0.1');
  now = () => Response.json(good);
  expect((await read()).name).toBe('An app');
  expect(asked).toHaveLength(2);
});

test('a well-known client comes in while its document cannot be read, and no longer than that', async () => {
  const known = 'https://claude.ai/oauth/mcp-oauth-client-metadata';
  const redirectUris = ['https://claude.ai/api/mcp/auth_callback'];
  const html = { 'content-type': 'text/html' };
  for (const answer of [
    () => Promise.reject(new Error('no route to the internet')),
    () => new Response('<html>Are you a human?', { status: 403, headers: html }),
    () => new Response('busy', { status: 503 }),
  ]) {
    let now: () => Response | Promise<Response> = answer;
    const { read, asked, later } = documents(() => now());
    for (let step = 0; step < 3; step++)
      expect(await read(known)).toEqual({ id: known, name: 'Claude', redirectUris, isProven: true });
    expect(asked).toHaveLength(1);
    for (const other of [`${known}2`, 'https://claude.ai.example/oauth/mcp-oauth-client-metadata'])
      await expect(read(other)).rejects.toMatchObject({ code: 'invalid_input' });
    // What can be read counts: another address, or none.
    later(authLimits.clientDocumentLeastMs);
    now = () => Response.json({ ...good, client_id: known });
    expect((await read(known)).redirectUris).toEqual(good.redirect_uris);
    later(authLimits.clientDocumentFreshMs);
    now = () => Response.json(good, { status: 404 });
    await expect(read(known)).rejects.toMatchObject({ code: 'invalid_input' });
  }
});

test('the well-known clients have addresses that any client could register', () => {
  for (const [id, { redirectUris }] of knownClients) {
    expect(isDocumentId(id)).toBe(true);
    expect(redirectsProblem(redirectUris)).toBeUndefined();
    const hosts = redirectUris.map((text) => new URL(text).hostname);
    for (const host of hosts) expect([new URL(id).hostname, 'localhost', '127.0.0.1']).toContain(host);
  }
});

test.each<[string | undefined, number]>([
  [undefined, authLimits.clientDocumentFreshMs],
  ['max-age=600', 600_000],
  ['public, max-age=600', 600_000],
  ['max-age=0', authLimits.clientDocumentLeastMs],
  ['no-store', authLimits.clientDocumentLeastMs],
  ['max-age=999999999', authLimits.clientDocumentMostMs],
])('with Cache-Control %s it counts for %i ms', async (said, ms) => {
  const headers: Record<string, string> = said === undefined ? {} : { 'cache-control': said };
  const { read, asked, later } = documents(() => Response.json(good, { headers }));
  await read();
  later(ms - 1);
  await read();
  expect(asked).toHaveLength(1);
  later(1);
  await read();
  expect(asked).toHaveLength(2);
});

test('what strangers can have fetched and kept is bounded', async () => {
  setLimits(authLimits, { clientDocuments: 2, clientDocumentsAtOnce: 2 });
  const held: (() => void)[] = [];
  const { read, asked } = documents(async (url) => {
    await new Promise<void>((done) => held.push(done));
    return Response.json({ ...good, client_id: url.href });
  });
  const [one, same, two] = [read(`${id}1`), read(`${id}1`), read(`${id}2`)];
  await expect(read(`${id}3`)).rejects.toMatchObject({ code: 'not_ready' });
  expect(asked).toHaveLength(2);
  const refuse = () => {
    throw new HubError('too_many', 'too many');
  };
  await expect(read(`${id}4`, refuse)).rejects.toMatchObject({ code: 'too_many' });
  for (const done of held) done();
  expect(await one).toBe(await same);
  await two;
  const three = read(`${id}3`);
  held.at(-1)?.();
  await three;
  // The one used longest ago made room; the others ask nothing.
  await read(`${id}2`, refuse);
  await read(`${id}3`, refuse);
  await expect(read(`${id}1`, refuse)).rejects.toMatchObject({ code: 'too_many' });
});
