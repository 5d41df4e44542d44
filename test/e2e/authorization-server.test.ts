import { mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, keyToken, login, userToken } from '../kit/api.ts';
import { authorize, fieldsOf, handClient, submit, verifier } from '../kit/authorizing.ts';
import { sharedPostgres } from '../kit/databases.ts';
import { hostileStdio } from '../kit/hostile.ts';
import { setLimits } from '../kit/limits.ts';
import { raw, rpc, stream } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';
import { authLimits } from '../../src/auth/limits.ts';

// The hub as authorization server (CONTRACT §8): from a client without any key to the tools.

const alpha = hostileStdio({ name: 'alpha', tools: ['read', 'write'] });
const beta = hostileStdio({ name: 'beta', tools: ['read'] });
const settings = {
  mcpServers: { alpha: alpha.config, beta: beta.config },
  groups: [{ id: 'g-dev', name: 'dev', servers: [{ name: 'alpha', tools: ['read'] }] }],
  systemConfig: { routing: { enableBearerAuth: true } },
};

let hub: TestHub;
let admin: string;
beforeAll(async () => {
  hub = await testHub(settings);
  admin = await login(hub);
  await userToken(hub, admin, 'ann', { servers: ['alpha', 'beta'] });
  await hub.connected(2);
});

const statuses = (answers: readonly { status: number }[]) =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b);

/** What an endpoint lists for a token; the status where it refuses. */
async function tools(token: string, scope = '', at = hub) {
  const answer = await rpc(at.mcp(scope), 'tools/list', {}, { headers: { authorization: `Bearer ${token}` } });
  return answer.status === 200 ? answer.message.result?.tools?.map(({ name }) => name).toSorted() : answer.status;
}

/** A client with tokens, let in by a person. */
async function letIn(as: Parameters<typeof authorize>[1] = {}, more: Record<string, string | null> = {}, at = hub) {
  const client = await handClient(new URL(at.url).origin);
  const { status, body } = await client.redeem(await authorize(client.address(more), as));
  expect(status, JSON.stringify(body)).toBe(200);
  return { client, access: body.access_token, refresh: body.refresh_token };
}

describe('the official clients get from nothing to the tools', () => {
  /** What both libraries want of the program they are in. */
  function provider() {
    const kept: Record<string, unknown> = {};
    return {
      sent: () => kept['url'] as URL,
      redirectUrl: 'http://127.0.0.1:7777/callback',
      clientMetadata: { client_name: 'An official client', redirect_uris: ['http://127.0.0.1:7777/callback'] },
      clientInformation: () => kept['client'] as never,
      saveClientInformation: (client: unknown) => void (kept['client'] = client),
      tokens: () => kept['tokens'] as never,
      saveTokens: (tokens: unknown) => void (kept['tokens'] = tokens),
      redirectToAuthorization: (url: URL) => void (kept['url'] = url),
      saveCodeVerifier: (verifier: string) => void (kept['verifier'] = verifier),
      codeVerifier: () => kept['verifier'] as string,
    };
  }

  test.each(['', 'dev'])('1.x at /mcp/%s', async (scope) => {
    const authProvider = provider();
    const who = { name: 'test', version: '1' };
    const first = new HttpV1(new URL(hub.mcp(scope)), { authProvider });
    await expect(new ClientV1(who).connect(first as never)).rejects.toThrow('Unauthorized');
    const back = await authorize(authProvider.sent().href);
    await first.finishAuth(back.searchParams.get('code') ?? '');
    const client = new ClientV1(who);
    await client.connect(new HttpV1(new URL(hub.mcp(scope)), { authProvider }));
    expect((await client.listTools()).tools.length).toBe(scope === '' ? 3 : 1);
    await client.close();
  });

  test.each(['', 'dev'])('2.x at /mcp/%s', async (scope) => {
    const authProvider = provider();
    const who = { name: 'test', version: '1' };
    const first = new HttpV2(new URL(hub.mcp(scope)), { authProvider });
    await expect(new ClientV2(who).connect(first)).rejects.toThrow();
    const back = await authorize(authProvider.sent().href);
    await first.finishAuth(back.searchParams);
    const client = new ClientV2(who);
    await client.connect(new HttpV2(new URL(hub.mcp(scope)), { authProvider }));
    expect((await client.listTools()).tools.length).toBe(scope === '' ? 3 : 1);
    await client.close();
  });
});

describe('a token', () => {
  test('reaches what its user reaches, cut down to the consent, on every endpoint, live', async () => {
    const all = await letIn({ username: 'ann' });
    expect(await tools(all.access)).toEqual(['alpha-read', 'alpha-write', 'beta-read']);
    const beta = await letIn({ username: 'ann', reach: ['beta'] });
    expect(await tools(beta.access)).toEqual(['beta-read']);
    expect(await tools(beta.access, 'beta')).toEqual(['read']);
    expect(await tools(beta.access, 'alpha')).toEqual([]);
    expect(await tools(beta.access, 'dev')).toEqual([]);
    const dev = await letIn({ username: 'ann', reach: ['dev'] });
    expect(await tools(dev.access)).toEqual(['alpha-read']);
    expect(await tools(dev.access, 'dev')).toEqual(['alpha-read']);
    const call = await rpc(
      hub.mcp(),
      'tools/call',
      { name: 'alpha-write', arguments: {} },
      { headers: { authorization: `Bearer ${dev.access}` } },
    );
    expect(call.message.error?.message).toMatch(/alpha-write/);
    await api(hub, 'PUT', '/users/ann', { token: admin, body: { servers: ['beta'] } });
    expect(await tools(all.access)).toEqual(['beta-read']);
    expect(await tools(dev.access)).toEqual([]);
    await api(hub, 'PUT', '/users/ann', { token: admin, body: { servers: ['alpha', 'beta'] } });
  });

  test.each(['', '/'])(
    'for one endpoint is refused elsewhere, with a slash at its end or without: "%s"',
    async (slash) => {
      const resource = `${hub.mcp('dev')}${slash}`;
      const { access, client, refresh } = await letIn({}, { resource });
      expect(await tools(access, 'dev')).toEqual(['alpha-read']);
      expect(await tools(access, 'dev/')).toEqual(['alpha-read']);
      for (const scope of ['', 'alpha', 'dev2', '$smart/dev']) expect(await tools(access, scope), scope).toBe(401);
      const named = await client.refresh(refresh, { resource: hub.mcp('dev') });
      expect(named.status).toBe(200);
      expect((await client.refresh(named.body.refresh_token, { resource: hub.mcp() })).body.error).toBe(
        'invalid_target',
      );
    },
  );

  test('runs tools over plain HTTP too, those that it reaches, if it is for all endpoints', async () => {
    const { access: token } = await letIn({ username: 'ann', reach: ['dev'] });
    const run = async (token: string, tool: string) => [
      (await api(hub, 'POST', '/tools/call/alpha', { token, body: { toolName: tool } })).status,
      (await api(hub, 'POST', `/tools/alpha/${tool}`, { token, body: {} })).status,
      (await api(hub, 'POST', `/dev/tools/alpha/${tool}`, { token, body: {} })).status,
    ];
    expect(await run(token, 'read')).toEqual([200, 200, 200]);
    expect(await run(token, 'write')).toEqual([404, 404, 404]);
    const document = await api(hub, 'GET', '/openapi.json', { token });
    expect([document.text.includes('alpha/read'), document.text.includes('beta')]).toEqual([true, false]);
    const whole = await letIn({}, { resource: null });
    expect(await run(whole.access, 'read')).toEqual([200, 200, 200]);
    const dev = await letIn({}, { resource: hub.mcp('dev') });
    expect(await run(dev.access, 'read')).toEqual([401, 401, 401]);
  });

  describe('with the scope api', () => {
    const asking = { scope: 'mcp api openid' };
    const managing = { username: 'ann', scope: ['api'] };

    test('is its user below /api, where the user said so, and no longer than that', async () => {
      const { access, refresh, client } = await letIn(managing, asking);
      const names = async (path: string) =>
        ((await api(hub, 'GET', path, { token: access })).body.data as { name: string }[]).map(({ name }) => name);
      expect(await names('/servers')).toEqual(['alpha', 'beta']);
      const made = await api(hub, 'POST', '/groups', { token: access, body: { name: 'made-by-app' } });
      expect(made.status, made.text).toBe(201);
      expect((await api(hub, 'GET', '/groups/made-by-app', { token: access })).body.data).toMatchObject({
        owner: 'ann',
      });
      expect((await api(hub, 'GET', '/users', { token: access })).status).toBe(403);
      expect(await tools(access)).toEqual(['alpha-read', 'alpha-write', 'beta-read']);
      const events = await stream(`${hub.url}/api/logs/stream`, { headers: { authorization: `Bearer ${access}` } });
      const less = await client.refresh(refresh, { scope: 'mcp' });
      expect(less.body['scope']).toBe('mcp');
      expect((await api(hub, 'GET', '/servers', { token: less.body.access_token })).status).toBe(401);
      const more = await client.refresh(less.body.refresh_token);
      expect(more.body['scope']).toBe('mcp api');
      const [grant] = (await api(hub, 'GET', '/auth/grants', { token: access })).body.data as {
        id: string;
        scope: string;
      }[];
      expect(grant?.scope).toBe('mcp api');
      await api(hub, 'DELETE', `/auth/grants/${grant?.id}`, { token: admin });
      for (const token of [access, more.body.access_token])
        expect((await api(hub, 'GET', '/servers', { token })).status).toBe(401);
      await until('the stream is ended', () => events.ended());
    });

    test.each<[string, Parameters<typeof authorize>[1], Record<string, string | null>]>([
      ['not ticked', {}, asking],
      ['not asked for', managing, { scope: 'mcp' }],
      ['for one endpoint', managing, { ...asking, resource: 'dev' }],
    ])('%s, it has none of it', async (_, as, more) => {
      const resource = more['resource'] === undefined ? {} : { resource: hub.mcp('dev') };
      const { access, client, refresh } = await letIn(as, { ...more, ...resource });
      expect((await api(hub, 'GET', '/servers', { token: access })).status).toBe(401);
      const again = await client.refresh(refresh, { scope: 'mcp api' });
      expect([again.status, again.body.error]).toEqual([400, 'invalid_scope']);
      const less = await client.refresh(refresh);
      expect(less.body['scope']).toBe('mcp');
      expect((await api(hub, 'GET', '/servers', { token: less.body.access_token })).status).toBe(401);
    });

    test('gives nothing that outlives it, and nothing that asks for the password', async () => {
      const { access: token } = await letIn({ scope: ['api'] }, asking);
      expect((await api(hub, 'GET', '/users', { token })).status).toBe(200);
      const refused: [method: string, path: string, body?: unknown][] = [
        ['POST', '/auth/keys', { name: 'mine', accessType: 'all' }],
        ['POST', '/auth/change-password', { currentPassword: 'correct horse', newPassword: 'a longer password' }],
        ['POST', '/auth/reauthenticate', { password: 'correct horse' }],
        ['POST', '/auth/logout'],
        ['DELETE', '/auth/grants/x'],
        ['POST', '/users', { username: 'eve', password: 'password of eve' }],
        ['PUT', '/users/ann', { password: 'another password' }],
        ['DELETE', '/users/ann'],
        ['POST', '/mcp-settings/import', { mcpServers: {} }],
        ['POST', '/mcp-settings/import/', { mcpServers: {} }],
        ['POST', '/%61uth/keys', { name: 'mine', accessType: 'all' }],
        ['GET', '/mcp-settings/export?secrets=include'],
        ['PUT', '/system-config', { routing: { bearerAuthKey: 'a key that lasts' } }],
        ['PUT', '/system-config', { routing: { openApiAccess: 'off' } }],
        ['PUT', '/system-config', { oauthServer: { enabled: false } }],
        ['PUT', '/system-config', { auth: { trustedIssuers: [{ issuer: 'https://evil.example', audience: 'hub' }] } }],
        ['PUT', '/system-config', { auth: { passwordPolicy: { minLength: 9 } } }],
      ];
      for (const [method, path, body] of refused)
        expect((await api(hub, method, path, { token, body })).status, path).toBeOneOf([403, 404]);
      expect((await api(hub, 'GET', '/auth/keys', { token: admin })).text).not.toContain('mine');
      const { text } = await api(hub, 'PUT', '/system-config', { token, body: { auth: { breakGlass: 'eve' } } });
      expect(text).toContain('No app does this for its user.');
      expect((await api(hub, 'PUT', '/system-config', { token, body: { listPageSize: 0 } })).status).toBe(200);
    });

    test('cannot be cut down to some groups or servers', async () => {
      const client = await handClient(hub.url);
      await expect(authorize(client.address(asking), { ...managing, reach: ['dev'] })).rejects.toThrow('400');
    });
  });

  test('opens nothing of the management API, and no key or login token is one', async () => {
    const { access } = await letIn();
    for (const path of ['/servers', '/users', '/auth/user', '/auth/grants', '/logs', '/auth/keys', '/settings'])
      expect((await api(hub, 'GET', path, { token: access })).status, path).toBe(401);
    expect((await api(hub, 'POST', '/auth/logout', { token: access })).status).toBe(401);
    expect(
      (await raw(`${hub.url}/metrics`, { method: 'GET', headers: { authorization: `Bearer ${access}` } })).status,
    ).toBe(401);
    expect(await tools(admin)).toEqual(['alpha-read', 'alpha-write', 'beta-read']);
  });

  test('ends with its grant, which its user and admins see, and others do not', async () => {
    const { access, refresh, client } = await letIn({ username: 'ann', reach: ['dev', 'beta'] });
    const own = await login(hub, 'ann', 'password of ann');
    const bob = await userToken(hub, admin, 'bob');
    const list = async (token: string) =>
      (await api(hub, 'GET', '/auth/grants', { token })).body.data as { id: string; username: string }[];
    const [grant] = await list(own);
    expect(grant).toMatchObject({
      username: 'ann',
      clientName: 'An app',
      clientHost: 'app.example',
      resource: hub.mcp(),
      reach: ['dev', 'beta'],
    });
    expect(await list(bob)).toEqual([]);
    expect((await list(admin)).map(({ id }) => id)).toContain(grant?.id);
    const path = `/auth/grants/${grant?.id}`;
    expect((await api(hub, 'DELETE', path, { token: bob })).status).toBe(404);
    expect((await api(hub, 'GET', '/auth/grants', { token: await keyToken(hub, own) })).status).toBe(403);
    expect(await tools(access)).toEqual(['alpha-read', 'beta-read']);
    expect((await api(hub, 'DELETE', path, { token: own })).status).toBe(200);
    expect(await tools(access)).toBe(401);
    expect((await client.refresh(refresh)).body.error).toBe('invalid_grant');
    expect((await api(hub, 'DELETE', path, { token: own })).status).toBe(404);
  });

  test('ends at once where its end cannot be written down, which can be tried again', async () => {
    setLimits(authLimits, { revocationRetryMs: 3_600_000 });
    const [ofAnn, ofDan] = [await letIn({ username: 'ann' }), 'password of dan'];
    await userToken(hub, admin, 'dan', { servers: ['alpha'] });
    const reset = await letIn({ username: 'dan', password: ofDan });
    const grants = (await api(hub, 'GET', '/auth/grants', { token: admin })).body.data as
      | { id: string; username: string }[]
      | undefined;
    const path = `/auth/grants/${grants?.find(({ username }) => username === 'ann')?.id}`;
    const end = async () => (await api(hub, 'DELETE', path, { token: admin })).status;
    const renewed = { token: admin, body: { password: 'another password' } };
    // A folder in place of the file: it cannot be written.
    const file = join(hub.folder, 'data', 'consents.json');
    rmSync(file);
    mkdirSync(file);
    try {
      expect([await end(), await tools(ofAnn.access)]).toEqual([500, 401]);
      expect([await end(), (await ofAnn.client.refresh(ofAnn.refresh)).body.error]).toEqual([500, 'invalid_grant']);
      expect((await api(hub, 'PUT', '/users/dan', renewed)).status).toBe(500);
      expect(await tools(reset.access)).toBe(401);
    } finally {
      rmdirSync(file);
    }
    expect([await end(), await end()]).toEqual([200, 404]);
  });

  test.each(['refresh', 'access'] as const)('ends when its client revokes the %s token', async (which) => {
    const tokens = await letIn();
    const revoked = await submit(`${hub.url}/oauth/revoke`, { token: tokens[which], client_id: tokens.client.id });
    expect(revoked.status).toBe(200);
    expect(await tools(tokens.access)).toBe(401);
    expect((await tokens.client.refresh(tokens.refresh)).body.error).toBe('invalid_grant');
    const none = { token: 'no token', client_id: tokens.client.id };
    expect((await submit(`${hub.url}/oauth/revoke`, none)).status).toBe(200);
  });

  test.each(['refresh', 'access'] as const)('goes on when another client revokes the %s token', async (which) => {
    const tokens = await letIn();
    const revoke = (more: object) => submit(`${hub.url}/oauth/revoke`, { token: tokens[which], ...more });
    const other = await revoke({ client_id: (await handClient(hub.url)).id });
    expect([other.status, await other.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
    const unnamed = await revoke({});
    expect([unnamed.status, await unnamed.json()]).toMatchObject([401, { error: 'invalid_client' }]);
    expect(await tools(tokens.access)).not.toBe(401);
    expect((await tokens.client.refresh(tokens.refresh)).body.error).toBeUndefined();
  });

  test('gives no refresh for more than it has, and the refresh token stays good', async () => {
    const tokens = await letIn();
    const wider = await tokens.client.refresh(tokens.refresh, { scope: 'mcp api' });
    expect([wider.status, wider.body.error]).toEqual([400, 'invalid_scope']);
    expect((await tokens.client.refresh(tokens.refresh, { scope: 'mcp' })).body.error).toBeUndefined();
  });

  test('ends when the password of its user changes, and when the account is made again', async () => {
    await userToken(hub, admin, 'cat', { servers: ['alpha'] });
    const before = await letIn({ username: 'cat' });
    const reset = await api(hub, 'PUT', '/users/cat', { token: admin, body: { password: 'another password' } });
    expect(reset.body.data).toMatchObject({ ended: { sessions: true, keys: [], grants: [{ clientName: 'An app' }] } });
    expect(reset.body.message).toContain('these apps: An app');
    expect(await tools(before.access)).toBe(401);
    expect((await before.client.refresh(before.refresh)).body.error).toBe('invalid_grant');
    const after = await letIn({ username: 'cat', password: 'another password' });
    expect(await tools(after.access)).toEqual(['alpha-read', 'alpha-write']);
    await api(hub, 'DELETE', '/users/cat', { token: admin });
    await userToken(hub, admin, 'cat', { servers: ['alpha'] });
    expect(await tools(after.access)).toBe(401);
    expect((await after.client.refresh(after.refresh)).body.error).toBe('invalid_grant');
  });

  test('ends with its grant when others of its user push that out', async () => {
    setLimits(authLimits, { consentsPerUser: 2 });
    await userToken(hub, admin, 'many', { servers: ['alpha'] });
    const all = [];
    for (let i = 0; i < 3; i++) all.push(await letIn({ username: 'many' }));
    const [first, ...others] = all;
    expect(await tools(first?.access ?? '')).toBe(401);
    for (const { access } of others) expect(await tools(access)).toEqual(['alpha-read', 'alpha-write']);
  });
});

test('a code works once, also when it is redeemed twice at the same time, and ends what it gave when it comes again', async () => {
  const client = await handClient(hub.url);
  const back = await authorize(client.address());
  expect(Object.fromEntries(back.searchParams)).toMatchObject({ state: 'some state', iss: hub.url });
  const wrong = await client.redeem(back, { code_verifier: 'x'.repeat(43) });
  expect([wrong.status, wrong.body.error]).toEqual([400, 'invalid_grant']);
  const { body, status } = await client.redeem(back);
  expect(status).toBe(200);
  const access = body.access_token ?? '';
  // Who does not prove to be the client ends nothing.
  const other = await handClient(hub.url);
  for (const refused of [
    await client.redeem(back, { code_verifier: 'x'.repeat(43) }),
    await client.redeem(back, { client_id: 'another' }),
    await other.redeem(back),
  ])
    expect(refused.status).toBeGreaterThanOrEqual(400);
  expect(await tools(access)).toHaveLength(3);
  const again = await client.redeem(back);
  expect([again.status, again.body.error]).toEqual([400, 'invalid_grant']);
  expect(await tools(access)).toBe(401);
  expect((await client.refresh(body.refresh_token ?? '')).body.error).toBe('invalid_grant');
  const next = await authorize(client.address());
  const answers = await Promise.all([client.redeem(next), client.redeem(next), client.redeem(next)]);
  expect(statuses(answers)).toEqual([200, 400, 400]);
});

test('a refresh token that is used again gives the same once more, and later ends the grant', async () => {
  const { client, refresh, access } = await letIn();
  const first = await client.refresh(refresh);
  const again = await client.refresh(refresh);
  expect([first.status, again.status]).toEqual([200, 200]);
  expect(await tools(first.body.access_token)).toHaveLength(3);
  // Whichever of the two answers arrived, its refresh token is good.
  const second = await client.refresh(first.body.refresh_token);
  expect((await client.refresh(again.body.refresh_token)).status).toBe(200);
  expect((await client.refresh(refresh)).body.error).toBe('invalid_grant');
  expect((await client.refresh(second.body.refresh_token)).body.error).toBe('invalid_grant');
  for (const token of [access, second.body.access_token]) expect(await tools(token)).toBe(401);
});

test('when keys and grants were last used is answered, and outlives a restart; so does the rotation of a key', async () => {
  const before = await testHub({ ...settings, mcpServers: {} });
  const token = await login(before);
  const { access } = await letIn({}, {}, before);
  const made = await api(before, 'POST', '/auth/keys', {
    token,
    body: { name: 'rotated', kind: 'system', accessType: 'all' },
  });
  const key = made.body.data as { id: string; token: string };
  const lastUses = async (at: TestHub) =>
    await Promise.all(
      ['/auth/keys', '/auth/grants'].map(async (path) => {
        const [one] = (await api(at, 'GET', path, { token })).body.data as { lastUsedAt?: string }[];
        return one?.lastUsedAt;
      }),
    );
  const [none, granted = ''] = await lastUses(before);
  expect(none).toBeUndefined();
  await until('the clock has moved on', () => Date.now() > Date.parse(granted));
  for (const used of [key.token, access]) expect(await tools(used, '', before)).toEqual([]);
  const [keyUsed = '', grantUsed = ''] = await lastUses(before);
  expect([Date.parse(keyUsed) > 0, grantUsed > granted]).toEqual([true, true]);
  const rotated = await api(before, 'POST', `/auth/keys/${key.id}/rotate`, { token, body: { overlapSeconds: 3_600 } });
  expect(rotated.body.data).toMatchObject({ lastUsedAt: keyUsed });
  await before.close();
  const after = await testHub({ folder: before.folder, env: { PORT: new URL(before.url).port } });
  expect(await lastUses(after)).toEqual([keyUsed, grantUsed]);
  for (const good of [key.token, (rotated.body.data as { token: string }).token])
    expect(await tools(good, '', after)).toEqual([]);
});

test('registrations, pages, codes and grants outlive a restart', async () => {
  const before = await testHub({ ...settings, mcpServers: {} });
  const client = await handClient(before.url);
  const opened = await (await fetch(client.address())).text();
  const granted = await letIn({}, {}, before);
  const back = await authorize(client.address());
  await before.close();
  const port = new URL(before.url).port;
  const after = await testHub({ folder: before.folder, env: { PORT: port } });
  expect(await tools(granted.access, '', after)).toEqual([]);
  expect((await granted.client.refresh(granted.refresh)).status).toBe(200);
  expect((await client.redeem(back)).status).toBe(200);
  const login = await submit(client.address(), { ...fieldsOf(opened), username: 'admin', password: 'correct horse' });
  expect(await login.text()).toContain('name="decision"');
});

test('works below BASE_PATH, and leaves the base of the paths of OAuth alone', async () => {
  const below = await testHub({ ...settings, mcpServers: {}, env: { BASE_PATH: '/hub' } });
  const { origin } = new URL(below.url);
  const { access } = await letIn({}, { resource: below.mcp('dev') }, below);
  expect(await tools(access, 'dev', below)).toEqual([]);
  expect(await tools(access, '', below)).toBe(401);
  for (const path of ['', '/hub/mcp', '/hub/mcp/dev']) {
    for (const kind of ['oauth-authorization-server', 'openid-configuration']) {
      const { text } = await raw(`${origin}/.well-known/${kind}${path}`, { method: 'GET' });
      expect(JSON.parse(text), path).toMatchObject({ issuer: origin, token_endpoint: `${origin}/oauth/token` });
    }
  }
});

test('behind a proxy that strips a path, all is named by the address that clients know', async () => {
  const env = { INSTALL_BASE_URL: 'https://hub.example/tools' };
  const behind = await testHub({ ...settings, mcpServers: {}, env });
  const { origin } = new URL(behind.url);
  for (const path of ['', '/tools/mcp', '/mcp/dev']) {
    const { text } = await raw(`${origin}/.well-known/oauth-authorization-server${path}`, { method: 'GET' });
    const metadata = JSON.parse(text) as Record<string, unknown>;
    expect(metadata['issuer']).toBe('https://hub.example');
    const addresses = Object.entries(metadata).filter(([name]) => name.endsWith('_endpoint'));
    for (const [, address] of addresses) expect(String(address)).toMatch(/^https:\/\/hub\.example\/oauth\//);
  }
  const client = await handClient(origin);
  const back = await authorize(client.address({ resource: 'https://hub.example/tools/mcp/dev/' }));
  expect(back.searchParams.get('iss')).toBe('https://hub.example');
  const { body } = await client.redeem(back);
  expect(await tools(body.access_token, 'dev', behind)).toEqual([]);
  expect(await tools(body.access_token, '', behind)).toBe(401);
  const asked = await fetch(client.address({ resource: `${origin}/mcp/dev` }), { redirect: 'manual' });
  expect(asked.headers.get('location')).toContain('error=invalid_target');
});

describe('a request that is not right', () => {
  test.each<[string, Record<string, string | null>, string]>([
    ['without PKCE', { code_challenge: null }, 'invalid_request'],
    ['with plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['with no method', { code_challenge_method: null }, 'invalid_request'],
    ['with no hash', { code_challenge: 'short' }, 'invalid_request'],
    ['for a token', { response_type: 'token' }, 'unsupported_response_type'],
    ['for nothing', { response_type: null }, 'invalid_request'],
    ['for another hub', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['for no endpoint', { resource: '/api' }, 'invalid_target'],
    ['with a fragment', { resource: 'http://127.0.0.1/mcp#x' }, 'invalid_target'],
    ['as a fragment', { response_mode: 'fragment' }, 'invalid_request'],
    ['without a page', { prompt: 'none' }, 'login_required'],
    ['as an object', { request: 'eyJ' }, 'request_not_supported'],
  ])('%s is told to the client', async (_, more, error) => {
    const client = await handClient(hub.url);
    const answer = await fetch(client.address(more), { redirect: 'manual' });
    const back = new URL(answer.headers.get('location') ?? '');
    expect(back.href.startsWith(`${client.redirectUri}?`)).toBe(true);
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ error, state: 'some state', iss: hub.url });
  });

  test.each<[string, Record<string, string | null>]>([
    ['an address of another host', { redirect_uri: 'https://evil.example/callback' }],
    ['a longer path', { redirect_uri: 'https://app.example/callback/more' }],
    ['a query', { redirect_uri: 'https://app.example/callback?x=1' }],
    ['another port', { redirect_uri: 'https://app.example:8443/callback' }],
    ['a script', { redirect_uri: 'javascript:alert(1)' }],
    ['no address', { redirect_uri: 'callback' }],
    ['an unknown client', { client_id: 'nonsense' }],
    ['no client', { client_id: null }],
  ])('with %s sends nothing anywhere', async (_, more) => {
    const client = await handClient(hub.url);
    for (const wrong of [more, { ...more, response_type: 'token' }]) {
      const answer = await fetch(client.address(wrong), { redirect: 'manual' });
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
      expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    }
    const twice = `${client.address()}&${new URLSearchParams({ redirect_uri: 'https://evil.example/' }).toString()}`;
    expect((await fetch(twice, { redirect: 'manual' })).status).toBe(400);
  });

  test('may come back to any port of a loopback address that is registered', async () => {
    const client = await handClient(hub.url, 'http://127.0.0.1/callback');
    const back = await authorize(client.address({ redirect_uri: 'http://127.0.0.1:4567/callback' }));
    expect(back.href).toMatch(/^http:\/\/127\.0\.0\.1:4567\/callback\?code=/);
    expect((await client.redeem(back)).body.error).toBe('invalid_grant');
    expect((await client.redeem(back, { redirect_uri: 'http://127.0.0.1:4567/callback' })).status).toBe(200);
    for (const redirect_uri of [
      'http://127.0.0.1:4567/other',
      'http://127.0.0.1:4567/x/../callback',
      'HTTP://127.0.0.1:4567/callback',
      'http://2130706433/callback',
      'http://localhost:1/callback',
      'https://127.0.0.1/callback',
    ])
      expect((await fetch(client.address({ redirect_uri }), { redirect: 'manual' })).status).toBe(400);
  });

  test.each<[string, Record<string, string | null>, string]>([
    ['a client that is not known', { client_id: 'other' }, 'invalid_client'],
    ['no client', { client_id: null }, 'invalid_client'],
    ['another redirect_uri', { redirect_uri: 'https://evil.example/' }, 'invalid_grant'],
    ['no redirect_uri', { redirect_uri: null }, 'invalid_grant'],
    ['no verifier', { code_verifier: null }, 'invalid_grant'],
    ['another resource', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['no grant type', { grant_type: null }, 'invalid_request'],
    ['a password', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['no code', { code: null }, 'invalid_grant'],
    ['nonsense for a code', { code: 'nonsense' }, 'invalid_grant'],
  ])('at the token endpoint, with %s, has the error of the RFC', async (_, more, error) => {
    const client = await handClient(hub.url);
    const { status, body } = await client.redeem(await authorize(client.address()), more);
    expect([status, body.error]).toEqual([error === 'invalid_client' ? 401 : 400, error]);
  });

  test('a code and a refresh token are good for their own client alone; one that is forgotten is told to register', async () => {
    const [client, other] = [await handClient(hub.url), await handClient(hub.url)];
    const taken = await client.redeem(await authorize(client.address()), { client_id: other.id });
    expect([taken.status, taken.body.error]).toEqual([400, 'invalid_grant']);
    const { refresh } = await letIn();
    for (const [client_id, error] of [
      [other.id, 'invalid_grant'],
      ['forgotten', 'invalid_client'],
    ] as const) {
      const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refresh, client_id });
      const answer = await fetch(`${hub.url}/oauth/token`, { method: 'POST', body });
      expect(await answer.json()).toMatchObject({ error });
    }
  });

  test('no token is taken for another kind of it', async () => {
    const { client, access, refresh } = await letIn();
    for (const text of [access, client.id, admin, ''])
      expect((await client.refresh(text)).body.error, text).toBe('invalid_grant');
    expect((await client.redeem(new URL(`https://x/?code=${encodeURIComponent(refresh)}`))).body.error).toBe(
      'invalid_grant',
    );
    for (const text of [refresh, client.id]) expect(await tools(text)).toBe(401);
  });
});

test('whatever is sent to the endpoints, none fails and none leads to an address that was not registered', async () => {
  const client = await handClient(hub.url);
  const { refresh, access } = await letIn();
  const values = [
    '',
    'x',
    '\0',
    '%00',
    '%',
    'x'.repeat(5_000),
    '{}',
    '[]',
    '-1',
    'https://evil.example/',
    '//evil.example',
  ];
  const texts = [
    ...values,
    'javascript:alert(1)',
    `${client.redirectUri}@evil.example`,
    '\u{1f4a9}',
    client.id,
    refresh,
    access,
  ];
  const usual = Object.fromEntries(new URL(client.address()).searchParams);
  const names = [
    ...Object.keys(usual),
    'scope',
    'prompt',
    'response_mode',
    'request',
    'login',
    'username',
    'decision',
    'reach',
  ];
  const tokenNames = [
    'grant_type',
    'code',
    'refresh_token',
    'code_verifier',
    'redirect_uri',
    'client_id',
    'resource',
    'token',
    'scope',
  ];
  const sent: [string, RequestInit][] = [];
  for (const text of texts) {
    for (const name of names) {
      const query = new URLSearchParams({ ...usual, [name]: text });
      sent.push([`${hub.url}/oauth/authorize?${query.toString()}`, {}]);
      // Twice: the right one first, and last.
      const twice = new URLSearchParams({ [name]: text, ...usual }).toString();
      for (const both of [`${twice}&${query.toString()}`, `${query.toString()}&${twice}`])
        sent.push([`${hub.url}/oauth/authorize?${both}`, {}]);
    }
    for (const name of ['oauth-protected-resource', 'oauth-authorization-server', 'openid-configuration'])
      for (const path of [encodeURIComponent(text), `mcp/${encodeURIComponent(text)}`])
        sent.push([`${hub.url}/.well-known/${name}/${path}`, {}]);
    const login = { login: text, decision: 'allow', reach: 'all' };
    sent.push([`${hub.url}/oauth/authorize`, { method: 'POST', body: new URLSearchParams(login) }]);
    for (const name of tokenNames)
      for (const grant_type of ['authorization_code', 'refresh_token']) {
        const body = new URLSearchParams({ grant_type, client_id: client.id, [name]: text });
        sent.push([`${hub.url}/oauth/token`, { method: 'POST', body }]);
        const twice = new URLSearchParams([...body, [name, text], ['grant_type', grant_type]]);
        sent.push([`${hub.url}/oauth/token`, { method: 'POST', body: twice }]);
      }
    sent.push([`${hub.url}/oauth/token`, { method: 'POST', body: text }]);
    const basic = { authorization: `Basic ${Buffer.from(text).toString('base64')}` };
    sent.push([`${hub.url}/oauth/token`, { method: 'POST', headers: basic, body: new URLSearchParams({ code: 'x' }) }]);
    if (text !== refresh && text !== access)
      for (const client_id of [client.id, text])
        for (const twice of ['', '&token=y']) {
          const body = `${new URLSearchParams({ token: text, client_id }).toString()}${twice}`;
          const headers = { 'content-type': 'application/x-www-form-urlencoded' };
          sent.push([`${hub.url}/oauth/revoke`, { method: 'POST', headers, body }]);
        }
  }
  for (const [url, init] of sent) {
    const { status, headers } = await fetch(url, { redirect: 'manual', ...init });
    const what = `${init.method ?? 'GET'} ${url.slice(0, 400)} ${String(init.body as string | undefined).slice(0, 200)}`;
    expect(status, what).toBeLessThan(500);
    const location = headers.get('location');
    if (location !== null)
      expect(location.startsWith(`${client.redirectUri}?`), `${what} led to ${location}`).toBe(true);
  }
});

test.each([
  'https://claude.ai/api/mcp/auth_callback',
  'https://chatgpt.com/connector_platform_oauth_redirect',
  'https://vscode.dev/redirect',
  'http://127.0.0.1:33418/',
  'http://localhost:54212/callback',
  'cursor://anysphere.cursor-mcp/oauth/callback',
])('a client that is answered at %s is let in', async (redirectUri) => {
  const client = await handClient(hub.url, redirectUri);
  const back = await authorize(client.address({ scope: 'openid offline_access mcp' }));
  expect(back.href.startsWith(redirectUri)).toBe(true);
  const { status, body } = await client.redeem(back, { resource: `${hub.mcp()}/` });
  expect([status, body['scope'], body['token_type']]).toEqual([200, 'mcp', 'Bearer']);
});

describe('the pages', () => {
  test('lead nowhere without the password, and say so on the page', async () => {
    const client = await handClient(hub.url);
    const fields = fieldsOf(await (await fetch(client.address())).text());
    const wrong = await submit(client.address(), { ...fields, username: 'ann', password: 'wrong' });
    expect(wrong.status).toBe(401);
    const again = fieldsOf(await wrong.text());
    const right = await submit(client.address(), { ...again, username: 'ann', password: 'password of ann' });
    const text = await right.text();
    expect(text).toContain('An app');
    expect(text).toContain('app.example');
    expect(text).toContain('It has not proved who it is');
    expect(text).toContain('value="beta"');
    for (const login of ['', 'nonsense', fields['request'] ?? '', client.id])
      expect((await submit(client.address(), { login, decision: 'allow', reach: 'all' })).status, login).toBe(400);
  });

  test('tell the client of a refusal, and take no choice that is none', async () => {
    const client = await handClient(hub.url);
    expect((await authorize(client.address(), { decision: 'deny' })).searchParams.get('error')).toBe('access_denied');
    for (const reach of [[], ['nothing of that name']])
      await expect(authorize(client.address(), { username: 'ann', reach })).rejects.toThrow('No way back: 400');
    await expect(authorize(client.address(), { decision: ['allow', 'deny'] })).rejects.toThrow('No way back: 400');
  });

  test('of two tabs do not disturb each other', async () => {
    const [one, two] = [await handClient(hub.url), await handClient(hub.url, 'https://two.example/cb')];
    const [first, second] = await Promise.all([one.address(), two.address()].map((url) => authorize(url)));
    expect([first?.host, second?.host]).toEqual(['app.example', 'two.example']);
  });

  test('take no form of another page', async () => {
    const client = await handClient(hub.url);
    const fields = {
      ...fieldsOf(await (await fetch(client.address())).text()),
      username: 'admin',
      password: 'correct horse',
    };
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }])
      expect((await submit(client.address(), fields, headers)).status).toBe(403);
  });

  test('show what a client calls itself as text', async () => {
    const client = await handClient(hub.url, undefined, '<script>alert(1)</script>\n\u202eevil');
    const page = await (await fetch(client.address())).text();
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt; evil');
    expect(page).not.toContain('<script>alert');
  });
});

describe('a registration', () => {
  const register = (at: TestHub, body: unknown) => raw(`${at.url}/oauth/register`, { method: 'POST', body });

  test.each<[string, unknown, string]>([
    ['without addresses', { redirect_uris: [] }, 'invalid_redirect_uri'],
    ['that has none', {}, 'invalid_redirect_uri'],
    [
      'with eleven',
      { redirect_uris: Array.from({ length: 11 }, (_, i) => `https://x.example/${i}`) },
      'invalid_redirect_uri',
    ],
    ...[
      'javascript:alert(1)',
      'data:text/html,x',
      'http://app.example/cb',
      'https://app.example/#x',
      'https://user:pass@app.example/',
      'not an address',
      'file:///etc/passwd',
      'https://app.example/\n',
    ].map((uri): [string, unknown, string] => [`with ${uri}`, { redirect_uris: [uri] }, 'invalid_redirect_uri']),
    [
      'of another kind',
      { redirect_uris: ['https://x.example/'], grant_types: ['password'] },
      'invalid_client_metadata',
    ],
    ['that is a list', [], 'invalid_client_metadata'],
    ['that is no JSON', '{', 'invalid_client_metadata'],
  ])('%s is refused', async (_, body, error) => {
    const at = await testHub({ mcpServers: {} });
    const answer = await register(at, body);
    expect([answer.status, (JSON.parse(answer.text) as { error: string }).error]).toEqual([400, error]);
  });

  test('has a bound for each address, and one for its size', async () => {
    const at = await testHub({ mcpServers: {} });
    const good = { redirect_uris: ['https://app.example/cb', 'cursor://anysphere.cursor-mcp/oauth/callback'] };
    expect((await register(at, { ...good, padding: 'x'.repeat(70_000) })).status).toBe(413);
    const answers = await Promise.all(Array.from({ length: 20 }, () => register(at, good)));
    expect(statuses(answers)).toEqual([...Array<number>(19).fill(201), 429]);
    const refused = answers.find(({ status }) => status === 429);
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
  });

  test('is refused where the settings say so, and all of it is gone where it is switched off', async () => {
    const closed = await testHub({ systemConfig: { oauthServer: { dynamicRegistration: { enabled: false } } } });
    expect((await register(closed, { redirect_uris: ['https://app.example/cb'] })).status).toBe(403);
    const document = await raw(`${closed.url}/.well-known/oauth-authorization-server`, { method: 'GET' });
    expect(document.text).not.toContain('registration_endpoint');
    const off = await testHub({ systemConfig: { oauthServer: { enabled: false } } });
    for (const path of [
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration/mcp',
      '/oauth/authorize',
    ])
      expect((await raw(`${off.url}${path}`, { method: 'GET' })).status, path).toBe(404);
    expect((await register(off, { redirect_uris: ['https://app.example/cb'] })).status).toBe(404);
    const resource = await raw(`${off.url}/.well-known/oauth-protected-resource/mcp`, { method: 'GET' });
    expect(resource.text).not.toContain('authorization_servers');
  });
});

describe('hubs that share a PostgreSQL', () => {
  async function pair(): Promise<[TestHub, TestHub]> {
    const env = {
      DB_URL: await (await sharedPostgres()).createDatabase(),
      JWT_SECRET: 'a secret of both of these hubs, long enough',
    };
    return [await testHub({ ...settings, mcpServers: {}, env }), await testHub({ mcpServers: {}, env })];
  }

  /** The same client, speaking to another hub. */
  const elsewhere = (url: string, at: TestHub) => url.replace(/^https?:\/\/[^/]+/, new URL(at.url).origin);

  test('know each other’s clients, pages, codes and grants; a code that both redeem at once works at one, and ends its tokens', async () => {
    const [one, two] = await pair();
    const client = await handClient(one.url);
    const address = elsewhere(client.address({ resource: two.mcp() }), two);
    const formOf = (back: URL) => ({
      grant_type: 'authorization_code',
      client_id: client.id,
      code: back.searchParams.get('code') ?? '',
      redirect_uri: client.redirectUri,
      code_verifier: verifier,
    });
    const tokensIn = async (answer: Response | undefined) =>
      JSON.parse((await answer?.text()) ?? '{}') as { access_token: string; refresh_token: string };
    const twice = formOf(await authorize(address));
    const redeemed = await Promise.all([one, two, one, two].map((at) => submit(`${at.url}/oauth/token`, twice)));
    expect(statuses(redeemed)).toEqual([200, 400, 400, 400]);
    const ended = await tokensIn(redeemed.find(({ status }) => status === 200));
    for (const at of [one, two])
      await until('its tokens are ended', async () => (await tools(ended.access_token, '', at)) === 401);

    const once = await submit(`${two.url}/oauth/token`, formOf(await authorize(address)));
    expect(once.status).toBe(200);
    const { access_token, refresh_token } = await tokensIn(once);
    for (const at of [one, two]) expect(await tools(access_token, '', at)).toEqual([]);
    const renewed = await Promise.all(
      [one, two].map((at) =>
        submit(`${at.url}/oauth/token`, { grant_type: 'refresh_token', client_id: client.id, refresh_token }),
      ),
    );
    expect(renewed.map(({ status }) => status)).toEqual([200, 200]);
    const token = await login(one);
    const [grant] = (await api(one, 'GET', '/auth/grants', { token })).body.data as { id: string }[];
    expect((await api(one, 'DELETE', `/auth/grants/${grant?.id}`, { token })).status).toBe(200);
    expect(await tools(access_token, '', one)).toBe(401);
    await until('the other hub has heard of it', async () => (await tools(access_token, '', two)) === 401);
    const late = await submit(`${two.url}/oauth/token`, {
      grant_type: 'refresh_token',
      client_id: client.id,
      refresh_token,
    });
    expect(late.status).toBe(400);
  });

  test('end what a user let in with a new password, and end a grant whose refresh token comes back late', async () => {
    const [one, two] = await pair();
    const token = await login(one);
    await userToken(one, token, 'ann');
    const client = await handClient(one.url);
    const { body } = await client.redeem(await authorize(client.address(), { username: 'ann' }));
    const second = await client.refresh(body.refresh_token);
    await client.refresh(second.body.refresh_token);
    expect((await client.refresh(body.refresh_token)).body.error).toBe('invalid_grant');
    await until('the other hub has heard of it', async () => (await tools(body.access_token, '', two)) === 401);
    const again = await client.redeem(await authorize(client.address(), { username: 'ann' }));
    expect(again.status).toBe(200);
    await api(one, 'PUT', '/users/ann', { token, body: { password: 'another password' } });
    expect((await client.refresh(again.body.refresh_token)).body.error).toBe('invalid_grant');
    expect((await api(one, 'GET', '/auth/grants', { token })).body.data).toEqual([]);
  });
});
