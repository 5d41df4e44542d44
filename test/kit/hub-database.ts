import { existsSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { copyOfEmbedded } from './embedded-template.ts';
import { sharedPostgres } from './shared-postgres.ts';

const kinds = ['off', 'embedded', 'postgres'] as const;

/** Which database the hubs of this run have that do not ask for one themselves (`DB_URL`). */
export const testDatabase = kindOf(process.env['TEST_DATABASE']);

function kindOf(value = 'off'): (typeof kinds)[number] {
  const kind = kinds.find((one) => one === value);
  if (kind === undefined) throw new Error(`TEST_DATABASE is "${value}". Allowed: ${kinds.join(', ')}.`);
  return kind;
}

/** Addresses by data folder: a hub that is started again on its folder finds its database again. */
const addresses = new Map<string, string>();

/** `DB_URL` for a hub with this data folder: an empty database of its own. */
export async function hubDatabase(dataDir: string): Promise<string> {
  switch (testDatabase) {
    case 'off':
      return 'off';
    case 'embedded':
      if (!existsSync(dataDir)) await copyOfEmbedded(dataDir);
      return '';
    case 'postgres': {
      const known = addresses.get(dataDir);
      if (known !== undefined) return known;
      const address = await (await sharedPostgres()).createDatabase();
      addresses.set(dataDir, address);
      return address;
    }
  }
}

/** The settings document as a hub keeps it now, as text: the file, or with PostgreSQL the row that replicas share. */
export async function storedSettings(hub: { settingsPath: string; env: Record<string, string> }): Promise<string> {
  const address = hub.env['DB_URL'] ?? '';
  if (!address.startsWith('postgres')) return readFileSync(hub.settingsPath, 'utf8');
  const client = new pg.Client(address);
  try {
    await client.connect();
    const { rows } = await client.query<{ document: string }>('select document from toolhub.settings');
    return rows[0]?.document ?? '';
  } finally {
    await client.end();
  }
}
