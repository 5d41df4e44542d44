import { join } from 'node:path';
import { HubError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { Connection, Database } from './database.ts';
import { openEmbedded } from './embedded.ts';
import { migrate } from './migrate.ts';

/** Where the tables are: PostgreSQL at `url`, or without one the embedded database in `dataDir`. */
export interface DatabasePlace {
  readonly url: string | undefined;
  readonly dataDir: string;
  readonly log: Logger;
}

/**
 * Opens the database and brings its tables up to date. The caller closes it. `stop` breaks off the making of an
 * embedded one. `isAgain`: this hub has had it open. Where a newer hub has changed the tables meanwhile, it goes on as
 * if its connection had held: a migration leaves what the version before works with.
 */
export async function openDatabase(place: DatabasePlace, stop?: AbortSignal, isAgain = false): Promise<Database> {
  const { log } = place;
  const connection = await openConnection(place, stop);
  try {
    const { hasVector, isNewer } = await migrate(connection, undefined, isAgain);
    if (isNewer) log.warn('A newer Tool Hub has changed the database. This one goes on with it until it ends');
    if (!hasVector) log.debug('The database has no vector extension; embeddings stay in memory');
    return { ...connection, hasVector };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** The database as it is, whatever its tables are. The caller closes it. */
export async function openConnection({ url, dataDir, log }: DatabasePlace, stop?: AbortSignal): Promise<Connection> {
  return url === undefined ? openEmbedded({ folder: join(dataDir, 'database'), log }, stop) : openRemote(url);
}

async function openRemote(url: string): Promise<Connection> {
  const checked = checkUrl(url);
  // Loaded only where it is used: it takes a tenth of a start.
  const { openPostgres } = await import('./postgres.ts');
  return openPostgres(checked);
}

/** Throws without repeating the value, which may hold a password. */
function checkUrl(url: string): string {
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return url;
  throw new HubError(
    'misconfigured',
    'DB_URL is not an address of PostgreSQL: expected postgres://user:password@host:5432/database, or "off".',
  );
}
