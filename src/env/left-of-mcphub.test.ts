import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { leftOfMcphub } from './left-of-mcphub.ts';
import { readEnv } from './env.ts';

const folder = mkdtempSync(join(tmpdir(), 'left-'));
atEnd(() => rmSync(folder, { recursive: true }));

const told = (source: Record<string, string>) =>
  leftOfMcphub(readEnv({ SETTINGS_PATH: join(folder, 'mcp_settings.json'), ...source }, folder));

test.each(['OIDC_ISSUER', 'OIDC_DISCOVERY_URL'])('%s without a client is told', (name) => {
  const issuer = { [name]: 'https://id.example' };
  expect(told(issuer)).toEqual([expect.stringContaining(`${name} makes no login, since OIDC_CLIENT_ID is not set`)]);
  expect(told({ ...issuer, OIDC_CLIENT_ID: 'hub' })).toEqual([]);
});

test('a variable of MCPHub that does nothing here is named, with what to do', () => {
  const lines = told({
    TOOL_CALL_GUARD_ENABLED: 'true',
    MCPHUB_CREDENTIAL_ENCRYPTION_KEY: 'c2VjcmV0',
    BETTER_AUTH_ENABLED: 'true',
    GOOGLE_CLIENT_ID: 'g',
    GITHUB_CLIENT_ID: 'h',
    MCPROUTER_API_KEY: 'r',
    HUB_MODE: 'hosted',
    USE_DB: 'false',
    DB_URL: 'postgres://hub@db/hub',
  });
  expect(lines.map((line) => line.split(' ', 1)[0])).toEqual([
    'TOOL_CALL_GUARD_ENABLED',
    'MCPHUB_CREDENTIAL_ENCRYPTION_KEY',
    'GOOGLE_CLIENT_ID',
    'GITHUB_CLIENT_ID',
    'MCPROUTER_API_KEY',
    'HUB_MODE',
    'BETTER_AUTH_ENABLED',
    'USE_DB',
  ]);
  expect(lines.join('\n')).not.toContain('c2VjcmV0');
});

test.each([
  'BETTER_AUTH_ENABLED',
  'BETTER_AUTH_URL',
  'BETTER_AUTH_BASE_PATH',
  'BETTER_AUTH_TRUSTED_ORIGINS',
  'BETTER_AUTH_GOOGLE_ENABLED',
  'BETTER_AUTH_GITHUB_ENABLED',
  'BETTER_AUTH_OIDC_ENABLED',
  'BETTER_AUTH_OIDC_PROVIDER_ID',
  'BETTER_AUTH_OIDC_DISCOVERY_URL',
  'BETTER_AUTH_OIDC_SCOPES',
  'BETTER_AUTH_OIDC_PKCE',
  'BETTER_AUTH_OIDC_PROMPT',
  'DB_POOL_SIZE',
  'DB_POOL_IDLE_TIMEOUT',
  'DB_CONNECTION_TIMEOUT',
  'DB_CONNECTION_RETRY_DELAY',
  'DB_MAX_CONNECTION_RETRIES',
  'DB_ENABLE_HEALTH_CHECK',
  'DB_HEALTH_CHECK_INTERVAL',
])('%s of MCPHub is named', (name) => {
  expect(told({ [name]: 'true' })).toEqual([expect.stringContaining(`${name} has no effect: `)]);
});

test('what is empty, switched off or means the same here is not named', () => {
  const off = { TOOL_CALL_GUARD_ENABLED: 'false', GOOGLE_CLIENT_ID: ' ', HUB_MODE: 'local', USE_DB: 'false' };
  expect(told({ ...off, BETTER_AUTH_ENABLED: 'false' })).toEqual([]);
  // A server at Google needs one of this name.
  expect(told({ GOOGLE_CLIENT_ID: 'g', GITHUB_CLIENT_ID: 'h' })).toEqual([]);
  expect(told({ USE_DB: 'true', DB_URL: 'postgres://hub@db/hub', INIT_TIMEOUT: '300000' })).toEqual([]);
});

test('credentials of users that MCPHub keeps beside its settings are named', () => {
  // Without a file of the key, which may be in the environment.
  writeFileSync(join(folder, 'mcp_settings.json.credentials.json'), '{}');
  expect(told({})).toEqual([expect.stringMatching(/mcp_settings\.json\.credentials\.json is not read: users set/)]);
});
