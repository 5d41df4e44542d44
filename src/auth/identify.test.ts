import { describe, expect, test } from 'vitest';
import { key as keyOf, settings as someSettings, user } from '../../test/kit/snapshots.ts';
import { maskKey } from '../core/mask.ts';
import type { KeySettings } from '../core/settings/key.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { UserSettings } from '../core/settings/user.ts';
import { createIdentify, type Headers } from './identify.ts';
import { findKey, hashKey, makeKey } from './keys.ts';
import { authLimits } from './limits.ts';
import { createTokens } from './tokens.ts';

const key = (token: string, more: Partial<KeySettings> = {}): KeySettings =>
  keyOf('k1', { name: 'ci', tokenHash: hashKey(token), ...more });

function settingsOf(users: UserSettings[], keys: KeySettings[] = [], bearerAuthHeaderName?: string): Settings {
  const { system, ...rest } = someSettings({ users, keys });
  const routing = { ...system.routing, enableBearerAuth: true, bearerAuthHeaderName };
  return { ...rest, system: { ...system, routing } };
}

async function hub(settings: Settings, now: () => number = Date.now) {
  const tokens = await createTokens({ secret: 'a secret of the tests, long enough', now });
  const state = { settings };
  let verifications = 0;
  const identify = createIdentify({
    settings: () => state.settings,
    tokens: {
      valid: (claims, user) => tokens.valid(claims, user),
      verify(token) {
        verifications++;
        return tokens.verify(token);
      },
    },
  });
  return {
    ...identify,
    identify: (headers: Headers, queryToken?: string) => identify.identify(headers, '192.0.2.7', queryToken),
    identifyNow: (headers: Headers, address = '192.0.2.7') => identify.identifyNow(headers, address),
    tokens,
    state,
    verifications: () => verifications,
  };
}

const asAnn = { kind: 'user', username: 'ann', passwordAlone: true };

test('two tokens in one header are a bad credential; other schemes are only in `Authorization`', async () => {
  const { identify, tokens } = await hub(settingsOf([user('ann')], [], 'X-Hub-Key'));
  const token = await tokens.issue({ username: 'ann' });
  for (const name of ['x-auth-token', 'x-hub-key'])
    for (const value of [`${token}, ${token}`, [token, token], `Bearer ${token}, Bearer ${token}`, 'Basic abc'])
      expect(await identify({ [name]: value })).toBe('bad');
  expect(await identify({}, `${token} ${token}`)).toBe('bad');
  const plain = await hub(settingsOf([user('ann')], [], 'Authorization'));
  expect(await plain.identify({ authorization: 'Basic abc' })).toBe('none');
});

describe('who sends a request', () => {
  test('an access token is accepted wherever clients put it, with the spaces of pasting', async () => {
    const { identify, tokens } = await hub(settingsOf([user('ann')], [], 'X-Hub-Key'));
    const token = await tokens.issue({ username: 'ann' });
    for (const headers of [
      { authorization: `Bearer ${token}` },
      { authorization: `  bearer   ${token} ` },
      { authorization: token },
      { 'x-auth-token': token },
      { 'x-auth-token': ` Bearer ${token}\n` },
      { 'x-hub-key': `Bearer ${token}` },
      { authorization: 'Basic dXNlcjpwYXNz', 'x-auth-token': token },
      { authorization: '', 'x-auth-token': [token] },
    ]) {
      expect(await identify(headers)).toEqual(asAnn);
    }
    expect(await identify({}, token)).toEqual(asAnn);
    expect(await identify({}, ` ${token} `)).toEqual(asAnn);
  });

  test('no credential is none, and one that does not hold is bad, never anonymous', async () => {
    const { identify, identifyNow } = await hub(settingsOf([user('ann')]));
    for (const headers of [{}, { authorization: '' }, { authorization: 'Basic abc' }, { 'x-auth-token': ' ' }]) {
      expect(await identify(headers)).toBe('none');
      expect(identifyNow(headers)).toBe('none');
    }
    const bad = [
      'Bearer',
      'Bearer nonsense',
      'Bearer null',
      'Bearer eyJ.eyJ.x',
      `Bearer ${'x'.repeat(authLimits.tokenChars)}`,
    ];
    for (const authorization of bad) expect(await identify({ authorization })).toBe('bad');
    // A header that is not configured says nothing.
    expect(await identify({ 'x-hub-key': 'nonsense' })).toBe('none');
  });

  test('the first credential decides: a good one further back does not save a bad one', async () => {
    const { identify, tokens } = await hub(settingsOf([user('ann')]));
    const token = await tokens.issue({ username: 'ann' });
    expect(await identify({ authorization: 'Bearer wrong', 'x-auth-token': token })).toBe('bad');
    expect(await identify({ 'x-auth-token': 'wrong' }, token)).toBe('bad');
  });

  test('a verified token is answered at once the next time, without another verification', async () => {
    const { identify, identifyNow, tokens, verifications } = await hub(settingsOf([user('ann')]));
    const headers = { authorization: `Bearer ${await tokens.issue({ username: 'ann' })}` };
    expect(identifyNow(headers)).toBeUndefined();
    expect(await identify(headers)).toEqual(asAnn);
    expect(identifyNow(headers)).toEqual(asAnn);
    expect(await identify(headers)).toEqual(asAnn);
    expect(verifications()).toBe(1);
  });

  test('a remembered token ends at once when it expires, is revoked, or its user is gone', async () => {
    let at = Date.now();
    const { identify, identifyNow, claims, tokens, state } = await hub(settingsOf([user('ann')]), () => at);
    const login = async () => {
      const headers = { authorization: await tokens.issue({ username: 'ann' }) };
      expect(await identify(headers)).toEqual(asAnn);
      return headers;
    };
    const [loggedOut, orphan] = [await login(), await login()];
    const loggedOutClaims = await claims(loggedOut);
    if (!loggedOutClaims) throw new Error('the request carries a token');
    await tokens.revoke(loggedOutClaims);
    expect(identifyNow(loggedOut)).toBe('bad');
    expect(await claims(loggedOut)).toBeUndefined();
    expect(identifyNow(orphan)).toEqual(asAnn);

    const before = state.settings;
    state.settings = settingsOf([user('bob')]);
    expect(identifyNow(orphan)).toBe('bad');
    state.settings = before;
    expect(identifyNow(orphan)).toEqual(asAnn);
    at += authLimits.accessTokenMs + authLimits.clockToleranceMs + 1_000;
    expect(identifyNow(orphan)).toBe('bad');
  });

  test('a new user of the same name does not inherit tokens, even when only the file was edited', async () => {
    const at = Date.parse('2026-11-20T10:00:00.500Z');
    const { identify, identifyNow, tokens, state } = await hub(settingsOf([user('ann')]), () => at);
    const headers = { authorization: await tokens.issue({ username: 'ann' }) };
    expect(await identify(headers)).toEqual(asAnn);
    const createdAt = '2026-11-20T10:00:00.501Z';
    state.settings = settingsOf([user('ann', { createdAt })]);
    expect(identifyNow(headers)).toBe('bad');
    const again = { authorization: await tokens.issue({ username: 'ann', createdAt }) };
    expect(await identify(again)).toEqual({ ...asAnn, since: createdAt });
  });
});

test('headers that were read lately are never taken for one another, and end with their tokens', async () => {
  const count = 2 * authLimits.headersReadLately;
  const names = Array.from({ length: count }, (_, n) => `user${n}`);
  const { identify, identifyNow, claims, tokens } = await hub(settingsOf(names.map((name) => user(name))));
  const headers = await Promise.all(
    names.map(async (username) => ({ authorization: `Bearer ${await tokens.issue({ username })}` })),
  );
  for (const [n, one] of headers.entries()) expect(await identify(one)).toEqual({ ...asAnn, username: names[n] });
  for (const [n, one] of headers.entries()) {
    const asOne = { ...asAnn, username: names[n] };
    expect([identifyNow(one), identifyNow({ authorization: one.authorization })]).toEqual([asOne, asOne]);
    // The same place, and not a token.
    expect(identifyNow({ authorization: one.authorization.replace('.', '_') })).toBe('bad');
    const said = await claims(one);
    if (said && n % 2 === 1) await tokens.revoke(said);
    expect(identifyNow(one)).toEqual(n % 2 === 1 ? 'bad' : asOne);
  }
});

describe('access keys', () => {
  test('a key is known by its token alone, found at once, and refused when disabled or without its owner', async () => {
    const made = makeKey();
    expect(made.token).toMatch(/^mcphub_[0-9a-f]{64}$/);
    expect(JSON.stringify({ ...made, token: '' })).not.toContain(made.token);
    const headers = { authorization: `Bearer ${made.token}` };
    const of = async (...keys: KeySettings[]) => (await hub(settingsOf([user('ann')], keys))).identifyNow(headers);
    expect(await of(key(made.token))).toEqual({ kind: 'key', id: 'k1' });
    expect(await of(key(made.token, { tokenHash: hashKey(made.token).toUpperCase() }))).toMatchObject({ kind: 'key' });
    expect(await of(key(made.token, { enabled: false }))).toBe('bad');
    expect(await of(key(makeKey().token))).toBe('bad');
    expect(await of()).toBe('bad');
    expect(await of(key(made.token, { kind: 'user', owner: 'ann' }))).toMatchObject({ kind: 'key' });
    expect(await of(key(made.token, { kind: 'user', owner: 'eve' }))).toBe('bad');
    expect(await of(key(made.token, { kind: 'user' }))).toBe('bad');
  });

  test.each([
    [['10.0.0.0/8'], ['10.1.2.3', '::ffff:10.1.2.3'], ['11.0.0.1', '::1', '::ffff:11.0.0.1', 'fd00::1']],
    [['::ffff:10.0.0.0/104'], ['10.1.2.3', '::ffff:a01:203'], ['11.0.0.1', '::1']],
    [
      ['192.0.2.7', 'fd00::/8'],
      ['192.0.2.7', 'fd12::9'],
      ['192.0.2.8', 'fe80::1'],
    ],
    [['::/0'], ['2001:db8::1'], ['192.0.2.7', '::ffff:192.0.2.7']],
    [[], [], ['192.0.2.7']],
  ])('a key with the addresses %j is accepted from %j and not from %j', async (allowedAddresses, from, notFrom) => {
    const { token } = makeKey();
    const { identifyNow } = await hub(settingsOf([], [key(token, { allowedAddresses })]));
    const headers = { authorization: token };
    const asked = (addresses: string[]) => addresses.map((address) => identifyNow(headers, address));
    expect(asked(from)).toEqual(from.map(() => ({ kind: 'key', id: 'k1' })));
    expect(new Set(asked([...notFrom, 'unknown', '']))).toEqual(new Set(['bad']));
  });

  test('keys of another form, brought along from an older file, are found too, even ones that look like a token', () => {
    for (const token of ['my own secret', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.sig']) {
      expect(findKey(settingsOf([], [key(token)]), token)).toMatchObject({ id: 'k1' });
    }
  });

  test('the hash itself opens nothing', () => {
    const { token, tokenHash } = makeKey();
    expect(findKey(settingsOf([], [key(token)]), tokenHash)).toBeUndefined();
  });

  test('a masked key shows twelve characters, and none of a short one', () => {
    expect(maskKey('mcphub_0123456789abcdef01234')).toBe('mcphub_0...1234');
    for (const short of ['short-secret', 'company-hub-key-1', 'mcphub_0123456789abcdef0123'])
      expect(maskKey(short)).toBe('********');
  });
});
