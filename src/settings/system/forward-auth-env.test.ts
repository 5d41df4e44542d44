import { expect, test } from 'vitest';
import { parseSettings } from '../document/parse-settings.ts';
import { withForwardAuth } from './forward-auth-env.ts';

const inEnv = {
  FORWARD_AUTH_ENABLED: 'true',
  FORWARD_AUTH_JWKS_URI: 'https://id.example/keys',
  FORWARD_AUTH_ISSUER: 'https://id.example',
  FORWARD_AUTH_AUDIENCE: 'hub, tools',
};
const read = (variables: Record<string, string>, forwardAuth?: object) => {
  const document = { systemConfig: { auth: forwardAuth && { forwardAuth } } };
  return parseSettings(withForwardAuth(variables)(document)).settings.system.forwardAuth;
};

test('the variables of MCPHub alone switch it on, with MCPHub’s defaults', () => {
  expect(read(inEnv)).toMatchObject({
    header: 'authorization',
    jwksUri: 'https://id.example/keys',
    issuer: 'https://id.example',
    audiences: ['hub', 'tools'],
    algorithms: ['RS256', 'ES256'],
    usernameClaim: 'preferred_username',
    emailClaim: 'email',
    autoCreate: true,
  });
  expect(read({})).toBeUndefined();
});

test('each goes before its member of the settings, and the other members stay', () => {
  const jwks = { uri: 'https://old.example/keys', issuer: 'https://old.example', audience: ['old'] };
  const given = { enabled: true, header: 'x-jwt', autoCreate: true, usernameClaim: 'nick', jwks };
  const more = {
    FORWARD_AUTH_AUTO_CREATE: 'off',
    FORWARD_AUTH_EMAIL_CLAIM: 'mail',
    FORWARD_AUTH_ALGORITHMS: '["ES384"]',
    FORWARD_AUTH_ISSUER: ' ',
  };
  expect(read(more, given)).toMatchObject({
    header: 'x-jwt',
    issuer: 'https://old.example',
    audiences: ['old'],
    algorithms: ['ES384'],
    usernameClaim: 'nick',
    emailClaim: 'mail',
    autoCreate: false,
  });
  expect(read({ FORWARD_AUTH_ENABLED: 'no' }, given)).toBeUndefined();
  expect(read({ FORWARD_AUTH_AUDIENCE: 'a b' }, given)).toMatchObject({ audiences: ['a', 'b'] });
});

test('what does not fit is said, and a document that is malformed is left to its reader', () => {
  expect(() => withForwardAuth({ FORWARD_AUTH_ENABLED: 'maybe' })).toThrow('FORWARD_AUTH_ENABLED');
  for (const member of Object.keys(inEnv).slice(1))
    expect(() => read({ ...inEnv, [member]: '' })).toThrow('not accepted');
  expect(() => read({ ...inEnv, FORWARD_AUTH_ALGORITHMS: 'HS256' })).toThrow('not accepted');
  for (const document of [null, [], { systemConfig: 1 }, { systemConfig: { auth: [] } }])
    expect(withForwardAuth(inEnv)(document)).toBe(document);
});
