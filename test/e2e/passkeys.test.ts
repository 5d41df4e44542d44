import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { authLimits } from '../../src/auth/limits.ts';
import { api, type ApiCall, login, passwordOf, userToken } from '../kit/api.ts';
import { fieldsOf, handClient, submit } from '../kit/authorizing.ts';
import { sharedPostgres } from '../kit/databases.ts';
import { setLimits } from '../kit/limits.ts';
import { type SoftPasskey, softPasskey } from '../kit/passkeys.ts';
import { setUpTotp } from '../kit/second-factor.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// Passkeys as a second factor (WebAuthn): made, used, copied, replayed, and brought from elsewhere.

const places: [where: string, env: () => Promise<Record<string, string>>][] = [
  ['in a file', async () => ({})],
  [
    'in PostgreSQL',
    async () => ({
      DB_URL: await (await sharedPostgres()).createDatabase(),
      JWT_SECRET: 'the secret of these tests, long enough for it',
    }),
  ],
];

describe.each(places)('passkeys kept %s', (_where, env) => {
  let hub: TestHub;
  let admin: string;
  beforeAll(async () => {
    hub = await testHub({ mcpServers: {}, env: await env() });
    admin = await login(hub);
  });

  /** As a browser that has the hub open at `localhost`. */
  const local = (call: ApiCall = {}): ApiCall => {
    return { ...call, headers: { host: `localhost:${new URL(hub.url).port}`, ...call.headers } };
  };
  const key = (counter = 0) =>
    softPasskey({ host: 'localhost', origin: `http://localhost:${new URL(hub.url).port}`, counter });
  const options = async (token: string) => {
    const begun = await api(hub, 'POST', '/auth/second-factor/passkeys/options', local({ token }));
    expect(begun.status, begun.text).toBe(200);
    return begun.body.data as { challenge: string; options: { challenge: string; excludeCredentials: object[] } };
  };
  const keep = (token: string, body: object) =>
    api(hub, 'POST', '/auth/second-factor/passkeys', local({ token, body }));
  const add = async (token: string, passkey: SoftPasskey, name = 'key') => {
    const begun = await options(token);
    return keep(token, { name, challenge: begun.challenge, passkey: passkey.create(begun.options) });
  };
  const tryLogin = (body: object) => api(hub, 'POST', '/auth/login', local({ body }));
  /** A user with a passkey. */
  async function person(name: string, counter = 0) {
    const passkey = key(counter);
    const kept = await add(await userToken(hub, admin, name), passkey);
    expect(kept.status, kept.text).toBe(200);
    const { recoveryCodes } = kept.body.data as { recoveryCodes: string[] };
    return { name, passkey, recoveryCodes, token: kept.body['token'] as string };
  }
  /** What the hub asks after the password. */
  const asked = async (name: string) => {
    const { status, body } = await tryLogin({ username: name, password: passwordOf(name) });
    expect([status, body['error']]).toEqual([401, 'second_factor_required']);
    return body as unknown as { challenge: string; methods: string[]; passkey: { challenge: string } };
  };

  test('let their user in on the pages of the authorization server, and nothing else does', async () => {
    const { passkey } = await person('oda');
    const origin = `http://localhost:${new URL(hub.url).port}`;
    const client = await handClient(origin);
    const opened = await fetch(client.address());
    const login = { ...fieldsOf(await opened.text()), username: 'oda', password: passwordOf('oda') };
    const page = await submit(client.address(), login);
    const text = await page.text();
    const [script = ''] = /(?<=<script>)[\s\S]*(?=<\/script>)/.exec(text) ?? [];
    const policy = page.headers.get('content-security-policy');
    expect(policy).toContain(`script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`);
    expect(opened.headers.get('content-security-policy')).not.toContain('script-src');
    const asked = JSON.parse(/data-passkey="([^"]*)"/.exec(text)?.[1]?.replaceAll('&quot;', '"') ?? '') as {
      challenge: string;
    };
    const { challenge = '', request = '' } = fieldsOf(text.replace('name="passkey"', ''));
    const show = async (given: string) =>
      (await submit(client.address(), { request, challenge, passkey: given, code: '' })).text();
    for (const nonsense of ['{', '7', '{"id":"x"}', '[]', JSON.stringify({ ...passkey.get(asked), type: 'x' })])
      expect(await show(nonsense)).toContain('Cannot log in with this passkey');
    const elsewhere = passkey.get(asked, { origin: 'http://localhost:1' });
    for (const wrong of [elsewhere, key().get(asked), passkey.get({ challenge: 'another' })])
      expect(await show(JSON.stringify(wrong))).toContain('The passkey was not accepted.');
    const right = JSON.stringify(passkey.get(asked));
    expect(await show(right)).toContain('What it may reach');
    expect(await show(right)).toContain('The passkey was not accepted.');
  });

  test('are asked for after the password, and each answer counts once', async () => {
    const { passkey, recoveryCodes } = await person('ann');
    expect(recoveryCodes).toHaveLength(10);
    const first = await asked('ann');
    expect(first.methods).toEqual(['passkey', 'recovery']);
    expect(first.passkey).toMatchObject({ rpId: 'localhost', allowCredentials: [{ id: passkey.id }] });
    const answer = { challenge: first.challenge, passkey: passkey.get(first.passkey) };
    const entered = await tryLogin(answer);
    expect([entered.status, typeof entered.body['token']], entered.text).toEqual([200, 'string']);
    const again = await tryLogin(answer);
    expect([again.status, again.body['error']]).toEqual([401, 'second_factor_required']);
    const token = entered.body['token'] as string;
    const { data } = (await api(hub, 'GET', '/auth/second-factor', { token })).body;
    expect(data).toMatchObject({
      totp: null,
      passkeys: [{ id: passkey.id, name: 'key', host: 'localhost', lastUsedAt: expect.any(String) }],
    });
    // Wherever the password is asked for.
    const body = { password: passwordOf('ann') };
    const confirm = await api(hub, 'POST', '/auth/reauthenticate', local({ token, body }));
    const { challenge, passkey: wanted } = confirm.body as unknown as Awaited<ReturnType<typeof asked>>;
    const shown = { challenge, passkey: passkey.get(wanted) };
    expect((await api(hub, 'POST', '/auth/reauthenticate', local({ token, body: shown }))).status).toBe(200);
  });

  test('of another user, another host, another page, another challenge, or one that lies, open nothing', async () => {
    const { passkey, recoveryCodes } = await person('bea');
    const other = await person('bob');
    const { port } = new URL(hub.url);
    const wrong: ((ask: { challenge: string }) => object)[] = [
      (ask) => other.passkey.get(ask),
      (ask) => ({ ...other.passkey.get(ask), id: passkey.id, rawId: passkey.id }),
      (ask) => passkey.get(ask, { host: 'evil.example' }),
      (ask) => passkey.get(ask, { origin: 'https://evil.example' }),
      (ask) => passkey.get(ask, { origin: `http://localhost:${Number(port) + 1}` }),
      () => passkey.get({ challenge: 'AAAA' }),
      (ask) => passkey.create(ask),
      () => ({ id: passkey.id, rawId: passkey.id, type: 'public-key', response: { clientDataJSON: 'x' } }),
      () => ({
        id: passkey.id,
        rawId: passkey.id,
        type: 'public-key',
        response: { clientDataJSON: 7, authenticatorData: {} },
      }),
    ];
    for (const [n, make] of wrong.entries()) {
      const ask = await asked('bea');
      const refused = await tryLogin({ challenge: ask.challenge, passkey: make(ask.passkey) });
      expect(refused.status, `${n} ${refused.text}`).toBeGreaterThanOrEqual(400);
      expect(refused.status, `${n} ${refused.text}`).toBeLessThan(402);
    }
    // The challenge of another user, and none at all.
    const [own, foreign] = [await asked('bea'), await asked('bob')];
    const answer = passkey.get(own.passkey);
    expect((await tryLogin({ challenge: foreign.challenge, passkey: answer })).status).toBe(401);
    expect((await tryLogin({ username: 'bea', password: passwordOf('bea'), passkey: answer })).status).toBe(401);
    // At another address of the hub it is not asked for, and does not count.
    const elsewhere = await api(hub, 'POST', '/auth/login', {
      body: { username: 'bea', password: passwordOf('bea') },
    });
    expect(elsewhere.body['passkey']).toBeUndefined();
    const body = { challenge: elsewhere.body['challenge'], passkey: answer };
    expect((await api(hub, 'POST', '/auth/login', { body })).status).toBe(401);
    expect((await tryLogin({ challenge: own.challenge, code: recoveryCodes[0] })).status).toBe(200);
  });

  test('whose counter does not go on were copied', async () => {
    const { passkey } = await person('cleo', 5);
    const use = async (at?: { counter: number }) => {
      const ask = await asked('cleo');
      return (await tryLogin({ challenge: ask.challenge, passkey: passkey.get(ask.passkey, at) })).status;
    };
    expect(await use()).toBe(200);
    expect(await use({ counter: 6 })).toBe(401);
    expect(await use({ counter: 0 })).toBe(401);
    expect(await use({ counter: 9 })).toBe(200);
  });

  test('are made once, for who asked and where; there is a most of them', async () => {
    const ann = await userToken(hub, admin, 'dora');
    const bob = await userToken(hub, admin, 'dan');
    const passkey = key();
    const begun = await options(ann);
    const body = { name: 'mine', challenge: begun.challenge, passkey: passkey.create(begun.options) };
    expect((await keep(bob, body)).status).toBe(400);
    for (const wrong of [
      { ...body, challenge: 'x' },
      { ...body, passkey: passkey.create({ challenge: 'AAAA' }) },
      { ...body, passkey: passkey.create(begun.options, { origin: 'https://evil.example' }) },
      { ...body, passkey: passkey.create(begun.options, { host: 'evil.example' }) },
      { ...body, passkey: { ...body.passkey, response: { clientDataJSON: '', attestationObject: 'gg' } } },
      { ...body, name: '' },
      { ...body, name: 'x'.repeat(100) },
      { name: 'x', challenge: begun.challenge },
    ])
      expect((await keep(ann, wrong)).status, JSON.stringify(wrong).slice(0, 80)).toBe(400);
    const kept = await keep(ann, body);
    expect(kept.status, kept.text).toBe(200);
    const token = kept.body['token'] as string;
    expect((await keep(token, body)).status).toBe(400);
    expect((await options(token)).options.excludeCredentials).toEqual([
      expect.objectContaining({ id: passkey.id }) as object,
    ]);
    setLimits(authLimits, { passkeysPerUser: 2 });
    expect((await add(token, key(), 'second')).body.data).toEqual({});
    expect((await add(token, key(), 'third')).status).toBe(409);
    // At an address without passkeys it is said why.
    const nowhere = await api(hub, 'POST', '/auth/second-factor/passkeys/options', { token });
    expect([nowhere.status, nowhere.body.message]).toEqual([409, expect.stringContaining('http://127.0.0.1')]);
  });

  test('are deleted one by one, and the last factor is left where it is demanded', async () => {
    const { token, passkey } = await person('eva');
    const second = key();
    await add(token, second, 'second');
    const remove = (id: string) => api(hub, 'DELETE', `/auth/second-factor/passkeys/${id}`, { token });
    expect((await remove('nothing')).status).toBe(404);
    expect((await remove(passkey.id)).status).toBe(200);
    expect((await remove(passkey.id)).status).toBe(404);
    await setUpTotp(hub, { token: await login(hub) }).then(({ token: own }) => (admin = own));
    const demand = (requireSecondFactor: string) =>
      api(hub, 'PUT', '/system-config', { token: admin, body: { auth: { requireSecondFactor } } });
    expect((await demand('everyone')).status).toBe(200);
    expect((await remove(second.id)).status).toBe(409);
    const { app } = await setUpTotp(hub, { token });
    expect((await remove(second.id)).status).toBe(200);
    expect((await api(hub, 'DELETE', '/auth/second-factor/totp', { token })).status).toBe(409);
    await demand('no');
    expect((await tryLogin({ username: 'eva', password: passwordOf('eva'), code: app.code() })).status).toBe(200);
  });
});
