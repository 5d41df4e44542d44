import { describe, expect, test } from 'vitest';
import { parseSettings } from '../document/parse-settings.ts';

const withUsers = (auth: Record<string, unknown>, users: Record<string, unknown>[] = []) =>
  parseSettings({ systemConfig: { auth }, users });

describe('passwords that are switched off', () => {
  const off = { passwordLogin: false, breakGlass: 'root' };
  const hash = '$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaA';

  test('need one admin who still has one', () => {
    expect(() => withUsers({ passwordLogin: false })).toThrow('systemConfig.auth.passwordLogin: needs "breakGlass"');
    expect(withUsers(off).warnings).toEqual([]);
    expect(withUsers(off, [{ username: 'root', isAdmin: true, password: hash }]).warnings).toEqual([]);
  });

  test.each<[string, Record<string, unknown>]>([
    ['another user', { username: 'ann', isAdmin: true, password: hash }],
    ['no admin', { username: 'root', password: hash }],
    ['one without a password', { username: 'root', isAdmin: true, email: 'root@example.com' }],
  ])('warn when the one that is named is %s', (_, user) => {
    const paths = withUsers(off, [user]).warnings.map(({ path }) => path);
    expect(paths).toContain('systemConfig.auth.breakGlass');
  });
});

test('a token for calling tools is none of a proxy: the two have no audience in common', () => {
  const issuer = 'https://id.example';
  const auth = (audience: string[], trusted = issuer) => ({
    trustedIssuers: [{ issuer: trusted, audience: ['tools', 'b'] }],
    forwardAuth: { enabled: true, jwks: { uri: `${issuer}/keys`, issuer, audience } },
  });
  expect(() => withUsers(auth(['hub', 'tools']))).toThrow(
    'forwardAuth.jwks.audience: is an audience of the same issuer',
  );
  expect(withUsers(auth(['hub'])).settings.system.forwardAuth).toMatchObject({ audiences: ['hub'] });
  expect(withUsers(auth(['tools'], 'https://else.example')).settings.system.forwardAuth).toBeDefined();
});

test('an account at an issuer is one user', () => {
  const identities = [{ issuer: 'https://id.example', subject: 's' }];
  const users = ['a', 'b'].map((username) => ({ username, identities }));
  expect(() => withUsers({}, users)).toThrow('users[1].identities[0]: is the same as users[0].identities[0]');
});

test.each(['http://id.example', 'https://id.example?x=1', 'https://a:b@id.example', 'file:///id'])(
  'no issuer is at %s',
  (issuer) => {
    const oidc = [{ id: 'corp', issuer, clientId: 'x' }];
    expect(() => withUsers({ oidc })).toThrow('systemConfig.auth.oidc[0].issuer');
  },
);
