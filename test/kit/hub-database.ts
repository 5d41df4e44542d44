import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import pg from 'pg';
import { inject } from 'vitest';
import { copyOfEmbedded } from './embedded-template.ts';
import { createDatabaseAt } from './postgres.ts';

const kinds = ['off', 'embedded', 'postgres'] as const;

/**
 * Which database the hubs have that do not ask for one themselves (`DB_URL`): one for a run, but for what runs again
 * (`again.ts`).
 */
export function testDatabase(): (typeof kinds)[number] {
  const value = process.env['TEST_DATABASE'] ?? 'off';
  const kind = kinds.find((one) => one === value);
  if (kind === undefined) throw new Error(`TEST_DATABASE is "${value}". Allowed: ${kinds.join(', ')}.`);
  return kind;
}

/** Addresses by data folder: a hub that is started again on its folder finds its database again. */
const addresses = new Map<string, string>();

/** `DB_URL` for a hub with this data folder: an empty database of its own. */
export async function hubDatabase(dataDir: string): Promise<string> {
  switch (testDatabase()) {
    case 'off':
      return 'off';
    case 'embedded':
      if (!existsSync(dataDir)) await copyOfEmbedded(dataDir);
      return '';
    case 'postgres': {
      const known = addresses.get(dataDir);
      if (known !== undefined) return known;
      const address = await createDatabaseAt(inject('postgresPort'));
      addresses.set(dataDir, address);
      return address;
    }
  }
}

/** Where the settings of a hub are: in its file, or with PostgreSQL in the row that replicas share. */
interface SettingsOf {
  readonly settingsPath: string;
  readonly env: Record<string, string>;
}

/** The settings document as a hub keeps it now, as text. */
export async function storedSettings({ settingsPath, env }: SettingsOf): Promise<string> {
  const stored = 'select document from toolhub.settings';
  const rows = await askDatabase(env, (client) => client.query<{ document: string }>(stored));
  return rows === undefined ? readFileSync(settingsPath, 'utf8') : (rows.rows[0]?.document ?? '');
}

/** Replaces the settings document past the hub: as a hand edit of its file does, or another replica. */
export async function rewriteSettings({ settingsPath, env }: SettingsOf, document: object): Promise<void> {
  const text = JSON.stringify(document);
  const replace =
    'update toolhub.settings set document = $1, version = version + 1 returning pg_notify($2, version::text)';
  if ((await askDatabase(env, (client) => client.query(replace, [text, 'settings']))) !== undefined) return;
  writeFileSync(`${settingsPath}.edited`, text);
  renameSync(`${settingsPath}.edited`, settingsPath);
}

/** Undefined for a hub whose settings are not in a database. */
async function askDatabase<T>(env: SettingsOf['env'], ask: (client: pg.Client) => Promise<T>): Promise<T | undefined> {
  const address = env['DB_URL'] ?? '';
  if (!address.startsWith('postgres')) return undefined;
  const client = new pg.Client(address);
  try {
    await client.connect();
    return await ask(client);
  } finally {
    await client.end();
  }
}
