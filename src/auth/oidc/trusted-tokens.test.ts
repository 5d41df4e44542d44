import { SignJWT } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { settings as snapshotOf, user } from '../../../test/kit/snapshots.ts';
import { type TestIssuer, testIssuer } from '../../../test/kit/issuer.ts';
import type { Logger } from '../../core/logger.ts';
import type { TrustedIssuer } from '../../core/settings/login.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import { authLimits } from '../limits.ts';
import { createIssuerKeys } from './issuer-keys.ts';
import { createTrustedTokens } from './trusted-tokens.ts';

const none = (): void => undefined;
const silent: Logger = { debug: none, info: none, warn: none, error: none };
const hour = 60 * 60_000;

let company: TestIssuer;
beforeAll(async () => {
  company = await testIssuer();
});

const trust = (issuer: TestIssuer, more: Partial<TrustedIssuer> = {}): TrustedIssuer => ({
  issuer: issuer.url,
  audiences: ['toolhub'],
  jwksUri: undefined,
  usernameClaim: undefined,
  groupsClaim: 'groups',
  groups: new Map([['eng', ['dev']]]),
  ...more,
});

function settingsOf(trustedIssuers: TrustedIssuer[], users: UserSettings[] = []): Settings {
  const snapshot = snapshotOf({ users });
  return { ...snapshot, system: { ...snapshot.system, trustedIssuers } };
}

/** Verifies, as one hub does, with a clock that the test can set. */
function verifier() {
  const clock = { at: Date.now() };
  const now = () => clock.at;
  const tokens = createTrustedTokens({ keys: createIssuerKeys({ log: silent, now }), log: silent, now });
  return { ...tokens, clock };
}

describe('a token of a trusted issuer', () => {
  test('without an account is a principal of its own, with the groups it is mapped to', async () => {
    const { verify } = verifier();
    const token = await company.sign({ groups: ['eng', 'sales', 7], preferred_username: 'admin' });
    expect(await verify(token, settingsOf([trust(company)], [user('admin', { role: 'admin' })]))).toMatchObject({
      kind: 'issued',
      issuer: company.url,
      subject: 'f3a1',
      values: ['eng'],
      name: 'f3a1',
    });
  });

  test('acts for the account of that issuer and subject, never for one of that name or e-mail', async () => {
    const ann = user('ann', { role: 'admin', identities: [{ issuer: company.url, subject: 'f3a1' }] });
    const bob = user('bob', {
      email: 'bob@corp.example',
      identities: [{ issuer: 'https://other.example', subject: 'f3a1' }],
    });
    const { verify } = verifier();
    const settings = settingsOf([trust(company, { usernameClaim: 'name' })], [bob, ann]);
    expect(await verify(await company.sign(), settings)).toMatchObject({ kind: 'app', username: 'ann' });
    const named = await company.sign({ sub: 'bob', name: 'bob', email: 'bob@corp.example', email_verified: true });
    expect(await verify(named, settings)).toMatchObject({ kind: 'issued', subject: 'bob', name: 'bob', values: [] });
  });

  const seconds = Math.floor(Date.now() / 1000);
  test.each<[string, Parameters<TestIssuer['sign']>]>([
    ['for another audience', [{ aud: 'other' }]],
    ['for no audience', [{ aud: undefined as never }]],
    ['of an issuer with a slash more', [{ iss: 'SLASH' }]],
    ['of an issuer that is not trusted', [{ iss: 'https://evil.example' }]],
    ['that is over for more than a minute', [{ exp: seconds - 61 }]],
    ['without an end', [{ exp: undefined as never }]],
    ['that begins later', [{ nbf: seconds + 120 }]],
    ['that was issued tomorrow', [{ iat: seconds + 86_400, exp: seconds + 90_000 }]],
    ['without a subject', [{ sub: undefined as never }]],
    ['with an empty subject', [{ sub: '' }]],
    ['with a subject of no end', [{ sub: 'x'.repeat(256) }]],
    ['that is bound to a key of its sender', [{ cnf: { jkt: 'abc' } }]],
    ['that is a logout token', [{}, { typ: 'logout+jwt' }]],
    ['of a key that the issuer does not show', [{}, { kid: 'another' }]],
  ])('is refused: one %s', async (_, [claims = {}, header]) => {
    const { verify } = verifier();
    const token = await company.sign(claims.iss === 'SLASH' ? { iss: `${company.url}/` } : claims, header);
    expect(await verify(token, settingsOf([trust(company)]))).toBe('bad');
  });

  test.each(['a minute over', 'a minute early'])('is accepted with a clock that is %s', async (how) => {
    const at = Math.floor(Date.now() / 1000);
    const { verify } = verifier();
    const token = await company.sign(how === 'a minute over' ? { exp: at - 55 } : { nbf: at + 55, iat: at + 55 });
    expect(await verify(token, settingsOf([trust(company)]))).toMatchObject({ kind: 'issued' });
  });

  test('is refused without a signature, and with one made of the public key', async () => {
    const { verify } = verifier();
    const settings = settingsOf([trust(company)]);
    const [, payload = ''] = (await company.sign()).split('.');
    const head = (alg: string) => Buffer.from(JSON.stringify({ alg, kid: 'key-1' })).toString('base64url');
    expect(await verify(`${head('none')}.${payload}.`, settings)).toBe('bad');
    const secret = new TextEncoder().encode(JSON.stringify(company.shown[0]));
    const claims = { iss: company.url, aud: 'toolhub', sub: 'f3a1', exp: seconds + 3600 };
    const mac = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'key-1' }).sign(secret);
    expect(await verify(mac, settings)).toBe('bad');
    expect(await verify('eyJ.not.one', settings)).toBe('bad');
  });

  test('is refused of an issuer whose metadata name another, or keys in the open', async () => {
    const other = await testIssuer();
    const token = await other.sign();
    other.metadata = { issuer: company.url };
    expect(await verifier().verify(token, settingsOf([trust(other)]))).toBe('bad');
    other.metadata = { jwks_uri: 'http://keys.example/keys' };
    expect(await verifier().verify(token, settingsOf([trust(other)]))).toBe('bad');
    other.metadata = {};
    expect(await verifier().verify(token, settingsOf([trust(other)]))).toMatchObject({ kind: 'issued' });
  });
});

test('a token for the hub is known as one before it is verified, and others are not', async () => {
  const { isForHub } = verifier();
  const settings = settingsOf([trust(company)]);
  expect(isForHub(await company.sign({ aud: ['other', 'toolhub'] }), settings)).toBe(true);
  for (const claims of [{ aud: 'other' }, { iss: 'https://other.example' }])
    expect(isForHub(await company.sign(claims), settings)).toBe(false);
  expect(isForHub('a.b.c', settings)).toBe(false);
});

describe('what is known of a token', () => {
  test('needs no request and no signature, until the settings, its end or ten minutes say otherwise', async () => {
    const { verify, known, clock } = verifier();
    const settings = settingsOf([trust(company)]);
    const token = await company.sign({ groups: 'eng' });
    expect(known(token, settings)).toBeUndefined();
    const principal = await verify(token, settings);
    const before = company.asked.length;
    expect(known(token, settings)).toBe(principal);
    expect(known(token, settingsOf([trust(company, { groups: new Map() })]))).toMatchObject({ values: [] });
    expect(known(token, settingsOf([trust(company, { audiences: ['other'] })]))).toBe('bad');
    expect(known(token, settingsOf([]))).toBe('bad');
    clock.at += 10 * 60_000;
    expect(known(token, settings)).toBeUndefined();
    expect(company.asked.length).toBe(before);
    clock.at += hour;
    expect(await verify(token, settings)).toBe('bad');
  });

  test('keys are got once for many, again for a new key, and not more often for invented ones', async () => {
    const issuer = await testIssuer();
    const { verify, clock } = verifier();
    const settings = settingsOf([trust(issuer)]);
    const keysAsked = () => issuer.asked.filter((path) => path === '/keys').length;
    const first = await issuer.sign();
    await Promise.all([first, await issuer.sign({ sub: 'b' })].map((token) => verify(token, settings)));
    expect(keysAsked()).toBe(1);
    await issuer.rotate();
    const second = await issuer.sign();
    expect(await verify(second, settings)).toBe('bad');
    clock.at += 30_000;
    expect(await verify(second, settings)).toMatchObject({ kind: 'issued' });
    for (let i = 0; i < 5; i++) expect(await verify(await issuer.sign({}, { kid: `no-${i}` }), settings)).toBe('bad');
    expect(keysAsked()).toBe(2);
    clock.at += 10 * 60_000;
    expect(await verify(first, settings)).toBe('bad');
  });

  test('keys that are more than fit take no place of those that are there, and many are as good as one', async () => {
    const issuer = await testIssuer();
    const { verify, clock } = verifier();
    const settings = settingsOf([trust(issuer)]);
    const [own = {}] = issuer.shown;
    const more = (count: number) => {
      issuer.shown.splice(0, Infinity, own, ...Array.from({ length: count }, (_, i) => ({ ...own, kid: `more-${i}` })));
    };
    const token = await issuer.sign();
    more(5_000);
    expect(await verify(token, settings)).toBe('bad');
    clock.at += authLimits.issuerKeysPauseMs;
    more(500);
    expect(await verify(token, settings)).toMatchObject({ kind: 'issued' });
    more(5_000);
    clock.at += authLimits.issuerKeysFreshMs;
    expect(await verify(await issuer.sign(), settings)).toMatchObject({ kind: 'issued' });
  });

  test('an issuer that is away keeps its keys for a day', async () => {
    const issuer = await testIssuer();
    const { verify, clock } = verifier();
    const settings = settingsOf([trust(issuer, { jwksUri: `${issuer.url}/keys` })]);
    const token = await issuer.sign({ exp: Math.floor(Date.now() / 1000) + 90_000 });
    await verify(token, settings);
    issuer.isDown = true;
    clock.at += hour;
    expect(await verify(token, settings)).toMatchObject({ kind: 'issued' });
    clock.at += 23 * hour;
    expect(await verify(token, settings)).toBe('bad');
  });
});

// Token shapes as the documentation of each gives them.
describe('tokens of', () => {
  const shapes = {
    Keycloak: {
      claims: { typ: 'Bearer', azp: 'toolhub', realm_access: { roles: ['offline_access', 'eng'] }, scope: 'openid' },
      groupsClaim: 'realm_access.roles',
    },
    'Keycloak, with a mapper for groups': { claims: { groups: ['/eng'] }, groupsClaim: 'groups', value: '/eng' },
    Entra: {
      claims: { ver: '2.0', tid: 't', oid: 'o', groups: ['b2a4b6d5-0000-4000-8000-000000000001'], scp: 'mcp' },
      groupsClaim: 'groups',
      value: 'b2a4b6d5-0000-4000-8000-000000000001',
    },
    'Entra, with app roles': { claims: { roles: ['eng'] }, groupsClaim: 'roles' },
    Google: { claims: { hd: 'eng', email: 'ann@corp.example', email_verified: true, azp: 'x' }, groupsClaim: 'hd' },
    'Auth0 and Okta': {
      claims: { 'https://corp.example/groups': ['eng'] },
      groupsClaim: 'https://corp.example/groups',
    },
  };
  test.each(Object.entries(shapes))('%s', async (_, shape) => {
    const value = 'value' in shape ? shape.value : 'eng';
    const settings = settingsOf([
      trust(company, { groupsClaim: shape.groupsClaim, groups: new Map([[value, ['dev']]]) }),
    ]);
    expect(await verifier().verify(await company.sign(shape.claims), settings)).toMatchObject({ values: [value] });
  });

  test('Entra, for a user in too many groups, name none', async () => {
    const claims = {
      _claim_names: { groups: 'src1' },
      _claim_sources: { src1: { endpoint: 'https://graph.example' } },
    };
    const found = await verifier().verify(await company.sign(claims), settingsOf([trust(company)]));
    expect(found).toMatchObject({ kind: 'issued', values: [] });
  });
});
