import { expect, test } from 'vitest';
import { type TestIssuer, testIssuer } from '../../../test/kit/issuer.ts';
import type { OidcProvider } from '../../core/settings/login.ts';
import { createIssuerKeys } from './issuer-keys.ts';
import { createLogoutTokens } from './logout-token.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };

const logout = (issuer: TestIssuer): Promise<string> =>
  issuer.sign(
    { jti: 'one', events: { 'http://schemas.openid.net/event/backchannel-logout': {} } },
    { typ: 'logout+jwt' },
  );

test('a logout token counts once, and again only when what it asks for failed', async () => {
  const issuer = await testIssuer();
  const done = createLogoutTokens({ keys: createIssuerKeys({ log }) });
  const provider = { issuer: issuer.url, clientId: 'toolhub' } as OidcProvider;
  const token = await logout(issuer);
  const failing = done(token, provider, () => Promise.reject(new Error('the database is away')));
  await expect(failing).rejects.toThrow('away');
  expect(await done(token, provider, async ({ subject }) => subject)).toBe('f3a1');
  await expect(done(token, provider, async () => 0)).rejects.toThrow('does not hold');
});
