import { existsSync } from 'node:fs';
import type { Env } from './env.ts';

/** A variable of MCPHub that does nothing here. */
interface Left {
  readonly name: string;
  /** With which values it would do something there. */
  readonly counts?: (value: string) => boolean;
  /** The switch without which it does nothing there either: servers have variables of these names too. */
  readonly switch?: string;
  /** After its name: that it has no effect, and what to do. */
  readonly text: string;
}

const isOn = (value: string): boolean => /^(?:true|1|yes|on)$/i.test(value);

const betterAuth = [
  'ENABLED',
  'URL',
  'BASE_PATH',
  'TRUSTED_ORIGINS',
  'GOOGLE_ENABLED',
  'GITHUB_ENABLED',
  'OIDC_ENABLED',
  'OIDC_PROVIDER_ID',
  'OIDC_DISCOVERY_URL',
  'OIDC_SCOPES',
  'OIDC_PKCE',
  'OIDC_PROMPT',
].map((name) => `BETTER_AUTH_${name}`);

const databaseConnection = [
  'DB_POOL_IDLE_TIMEOUT',
  'DB_CONNECTION_TIMEOUT',
  'DB_CONNECTION_RETRY_DELAY',
  'DB_MAX_CONNECTION_RETRIES',
  'DB_ENABLE_HEALTH_CHECK',
  'DB_HEALTH_CHECK_INTERVAL',
];

const left: readonly Left[] = [
  {
    name: 'TOOL_CALL_GUARD_ENABLED',
    counts: isOn,
    text: 'has no effect: no argument is refused for its text alone. Policies (docs/policies.md) and guards (docs/guards.md) do that',
  },
  {
    name: 'MCPHUB_CREDENTIAL_ENCRYPTION_KEY',
    text: 'has no effect: what users set for themselves is encrypted with the secret in the data folder',
  },
  {
    name: 'GOOGLE_CLIENT_ID',
    switch: 'BETTER_AUTH_ENABLED',
    text: 'has no effect: for logins at Google write its issuer, https://accounts.google.com, into systemConfig.auth.oidc (docs/identity.md)',
  },
  {
    name: 'GITHUB_CLIENT_ID',
    switch: 'BETTER_AUTH_ENABLED',
    text: 'has no effect: people log in at providers of OpenID Connect, which GitHub is not (docs/identity.md)',
  },
  {
    name: 'MCPROUTER_API_KEY',
    text: 'has no effect: MCPRouter is not supported; the dashboard adds servers from the MCP registry',
  },
  { name: 'HUB_MODE', counts: (value) => value === 'hosted', text: 'has no effect: there is no hosted mode' },
  { name: 'DB_POOL_SIZE', text: 'has no effect: the hub decides how many connections it opens (docs/limits.md)' },
  ...betterAuth.map((name) => ({
    name,
    ...(name.endsWith('_ENABLED') && { counts: isOn }),
    text: 'has no effect: providers of logins are in systemConfig.auth.oidc (docs/identity.md)',
  })),
  ...databaseConnection.map((name) => ({
    name,
    text: 'has no effect: the hub decides how it connects to its database, and how long it waits (docs/limits.md)',
  })),
];

/**
 * What was set up for MCPHub beside its settings file, and does nothing here: a sentence for each. Members of the file
 * are named by the settings themselves (`warnOfMissingFeatures`).
 */
export function leftOfMcphub(env: Pick<Env, 'variables' | 'database' | 'settingsPath'>): string[] {
  const { variables, database, settingsPath } = env;
  const told = left.flatMap(({ name, counts = () => true, switch: isSwitchedBy, text }) => {
    const value = variables[name]?.trim() ?? '';
    if (isSwitchedBy !== undefined && !isOn(variables[isSwitchedBy]?.trim() ?? '')) return [];
    return value !== '' && counts(value) ? [`${name} ${text}.`] : [];
  });
  if (database.kind === 'postgres' && /^(?:false|0|no|off)$/i.test(variables['USE_DB']?.trim() ?? ''))
    told.push(
      'USE_DB has no effect: with DB_URL the settings are in the database. Leave DB_URL out to keep them in the file.',
    );
  const issuer = ['OIDC_ISSUER', 'OIDC_DISCOVERY_URL'].find((name) => variables[name]?.trim());
  if (issuer !== undefined && !variables['OIDC_CLIENT_ID']?.trim())
    told.push(
      `${issuer} makes no login, since OIDC_CLIENT_ID is not set: set it to the client that the provider has for this hub (docs/identity.md).`,
    );
  // MCPHub puts its ending behind the name of the settings file; the key beside it may come from the environment.
  const values = `${settingsPath}.credentials.json`;
  if (existsSync(values))
    told.push(`${values} is not read: users set their credentials once more, on the page "Your credentials".`);
  return told;
}
