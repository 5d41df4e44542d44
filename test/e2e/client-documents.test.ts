import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { beforeAll, expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { authorize, clientWithId, fieldsOf, submit } from '../kit/authorizing.ts';
import { httpsServer } from '../kit/https.ts';
import { raw, rpc } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// Clients whose id is the address of what they say of themselves (client id metadata documents; CONTRACT §8).

const settings = {
  mcpServers: {},
  systemConfig: { routing: { enableBearerAuth: true }, network: { allowedCidrs: ['127.0.0.1'] } },
};

let hub: TestHub;
let origin: string;
/** Paths that the hub asked for, and what else it is answered than a good document. */
const asked: string[] = [];
const answers: Record<string, { status: number; headers?: Record<string, string>; body?: string }> = {};
beforeAll(async () => {
  origin = await httpsServer((req, res) => {
    const path = req.url ?? '';
    asked.push(path);
    const { status, headers, body } = answers[path] ?? {
      status: 200,
      body: JSON.stringify({
        client_id: `${origin}${path}`,
        client_name: 'A documented app',
        redirect_uris: [`${origin}/callback`, 'http://127.0.0.1/callback'],
      }),
    };
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  });
  hub = await testHub(settings);
});

const open = (url: string) => fetch(url, { redirect: 'manual' });

test('the official client comes in by its document, without a registration', async () => {
  const kept: Record<string, unknown> = {};
  const authProvider = {
    redirectUrl: 'http://127.0.0.1:7777/callback',
    clientMetadataUrl: `${origin}/official.json`,
    clientMetadata: { client_name: 'An official client', redirect_uris: ['http://127.0.0.1:7777/callback'] },
    clientInformation: () => kept['client'] as never,
    saveClientInformation: (client: unknown) => void (kept['client'] = client),
    tokens: () => kept['tokens'] as never,
    saveTokens: (tokens: unknown) => void (kept['tokens'] = tokens),
    redirectToAuthorization: (url: URL) => void (kept['url'] = url),
    saveCodeVerifier: (text: string) => void (kept['verifier'] = text),
    codeVerifier: () => kept['verifier'] as string,
  };
  const who = { name: 'test', version: '1' };
  const first = new StreamableHTTPClientTransport(new URL(hub.mcp()), { authProvider });
  await expect(new Client(who).connect(first)).rejects.toThrow();
  expect(kept['client']).toMatchObject({ client_id: `${origin}/official.json` });
  const back = await authorize((kept['url'] as URL).href);
  await first.finishAuth(back.searchParams);
  const client = new Client(who);
  await client.connect(new StreamableHTTPClientTransport(new URL(hub.mcp()), { authProvider }));
  expect((await client.listTools()).tools).toEqual([]);
  await client.close();
  expect(asked.filter((path) => path === '/official.json')).toHaveLength(1);
});

test('it has proved who it is where its answer goes to a web server, and the page says whose', async () => {
  const page = async (redirectUri: string) => {
    const client = clientWithId(hub.url, `${origin}/proved.json`, redirectUri);
    const login = fieldsOf(await (await open(client.address())).text());
    const consent = await submit(client.address(), { ...login, username: 'admin', password: 'correct horse' });
    return consent.text();
  };
  const [proved, local] = [await page(`${origin}/callback`), await page('http://127.0.0.1:5/callback')];
  expect(proved).toContain('A documented app');
  expect(proved).toContain(`It has proved who it is: <strong>${new URL(origin).host}</strong>`);
  expect(local).toContain('has not proved');
});

test('its tokens go on without the document, and are no other client’s', async () => {
  const client = clientWithId(hub.url, `${origin}/tokens.json`, `${origin}/callback`);
  const { body } = await client.redeem(await authorize(client.address()));
  const headers = { authorization: `Bearer ${body.access_token}` };
  expect((await rpc(hub.mcp(), 'tools/list', {}, { headers })).status).toBe(200);
  const other = clientWithId(hub.url, `${origin}/other.json`, `${origin}/callback`);
  expect((await other.refresh(body.refresh_token)).body.error).toBe('invalid_grant');
  answers['/tokens.json'] = { status: 404 };
  expect((await client.refresh(body.refresh_token)).status).toBe(200);
});

test.each<[string, (typeof answers)[string]]>([
  ['is gone', { status: 404 }],
  ['is elsewhere', { status: 302, headers: { location: '/good.json' } }],
  ['is none', { status: 200, body: '<html>' }],
  [
    'is of another',
    { status: 200, body: '{"client_id":"https://x.example/","redirect_uris":["https://app.example/callback"]}' },
  ],
  ['is too large', { status: 200, body: `"${'x'.repeat(200_000)}"` }],
])('a document that %s is told on a page, and nothing is sent anywhere', async (_, answer) => {
  const path = `/bad-${asked.length}.json`;
  answers[path] = answer;
  const refused = await open(clientWithId(hub.url, `${origin}${path}`, `${origin}/callback`).address());
  expect([refused.status, refused.headers.get('location')]).toEqual([400, null]);
  expect(asked).toContain(path);
  expect(asked).not.toContain('/good.json');
});

test('an answer goes nowhere that is not in the document', async () => {
  const client = clientWithId(hub.url, `${origin}/redirects.json`, 'https://evil.example/callback');
  const refused = await open(client.address());
  expect([refused.status, refused.headers.get('location')]).toEqual([400, null]);
});

test('no document is fetched from a private address, nor for ever for one caller', async () => {
  const at = await testHub({ mcpServers: {}, env: { LOG_LEVEL: 'info' } });
  const before = asked.length;
  for (const host of [new URL(origin).host, 'localhost:1', '169.254.169.254', '[::1]']) {
    const { status } = await open(clientWithId(at.url, `https://${host}/private.json`).address());
    expect(status, host).toBe(400);
  }
  expect(asked).toHaveLength(before);
  const many = await Promise.all(
    Array.from({ length: 60 }, (_, i) => open(clientWithId(at.url, `https://127.0.0.1:1/${i}`).address())),
  );
  const last = many.concat(await open(clientWithId(at.url, 'https://127.0.0.1:1/last').address())).at(-1);
  expect([last?.status, Number(last?.headers.get('retry-after')) > 0]).toEqual([429, true]);
  const { text: logs } = await api(at, 'GET', '/logs', { token: await login(at) });
  expect(logs).toContain('systemConfig.network.allowedCidrs');
  expect(logs).not.toContain('own this server');
});

test('the metadata say that such ids are taken', async () => {
  const { text } = await raw(`${hub.url}/.well-known/oauth-authorization-server`, { method: 'GET' });
  expect(JSON.parse(text)).toMatchObject({ client_id_metadata_document_supported: true });
});
