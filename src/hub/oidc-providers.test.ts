import { describe, expect, test } from 'vitest';
import { parseSettings } from '../settings/document/parse-settings.ts';
import { readEnv } from '../env/env.ts';
import { oidcProviders } from '../auth/oidc/providers.ts';

const providers = (auth: Record<string, unknown>, env: Record<string, string> = {}) =>
  oidcProviders(parseSettings({ systemConfig: { auth } }).settings, readEnv(env, '/nonexistent').oidc);

const inEnv = { OIDC_ISSUER: 'https://id.example', OIDC_CLIENT_ID: 'toolhub', OIDC_CLIENT_SECRET: 'a secret' };

describe('providers', () => {
  test('are those of the settings, and that of the environment with the id oidc', () => {
    const corp = { id: 'corp', issuer: 'https://corp.example/realms/a', clientId: 'hub', scopes: ['groups'] };
    expect(providers({ oidc: [corp] }, inEnv)).toMatchObject([
      { id: 'corp', name: 'corp.example', scopes: ['openid', 'groups'], signUp: 'invited', clientSecret: undefined },
      { id: 'oidc', name: 'id.example', scopes: ['openid', 'profile', 'email'], signUp: 'invited' },
    ]);
    expect(providers({ oidc: [{ ...corp, id: 'oidc' }] }, inEnv)).toMatchObject([{ id: 'oidc', clientId: 'hub' }]);
  });

  test('MCPHub’s betterAuth is one, with the client in the environment; who comes has an account there', () => {
    const oidc = { enabled: true, discoveryUrl: 'https://id.example/.well-known/openid-configuration' };
    const betterAuth = { enabled: true, providers: { oidc } };
    const client = { OIDC_CLIENT_ID: 'toolhub', OIDC_CLIENT_SECRET: 'a secret' };
    const expected = { id: 'oidc', issuer: 'https://id.example', clientId: 'toolhub', signUp: 'auto' };
    expect(providers({ betterAuth }, client)).toMatchObject([expected]);
    expect(providers({ betterAuth: { ...betterAuth, disableAutoCreate: true } }, client)).toMatchObject([
      { ...expected, signUp: 'invited' },
    ]);
    expect(providers({ betterAuth: { ...betterAuth, enabled: false } }, client)).toEqual([]);
    expect(providers({ betterAuth })).toEqual([]);
    expect(providers({ betterAuth }, inEnv)).toMatchObject([expected]);
    const elsewhere = { ...inEnv, OIDC_ISSUER: 'https://corp.example' };
    expect(providers({ betterAuth }, elsewhere)).toMatchObject([{ id: 'oidc', issuer: 'https://corp.example' }]);
  });

  test('in the environment may be told by the address of their metadata, as MCPHub has it', () => {
    const { OIDC_ISSUER: _, ...client } = inEnv;
    const discovery = { ...client, OIDC_DISCOVERY_URL: 'https://id.example/.well-known/openid-configuration' };
    expect(providers({}, discovery)).toMatchObject([{ issuer: 'https://id.example' }]);
    expect(() => readEnv({ ...client, OIDC_ISSUER: 'http://id.example' }, '/nonexistent')).toThrow('OIDC_ISSUER');
  });

  test('no program gets the secret of the hub at them', () => {
    expect(readEnv(inEnv, '/nonexistent').variables).not.toHaveProperty('OIDC_CLIENT_SECRET');
  });
});
