import { randomBytes } from 'node:crypto';
import { createSealer, type Sealer } from '../core/seal.ts';
import type { Database } from './database.ts';

/** Seals what hubs keep in a database they share, so that each of them can open it. */
export type SharedSealer = (database: Database) => Promise<Sealer>;

/**
 * The key comes from `secret` (`JWT_SECRET`) where the hubs were given one: then an attacker who reads the database
 * still cannot read what is sealed. Without, it comes from a random secret in the database itself: this protects
 * backups of single tables and prevents reading by accident, but does not protect from an attacker who reads the whole
 * database.
 */
export function sharedSealer(secret: string | undefined, purpose: string): SharedSealer {
  if (secret !== undefined) {
    const sealer = createSealer(Buffer.from(secret), purpose);
    return () => Promise.resolve(sealer);
  }
  // Per connection: another database behind the same address has another secret.
  const known = new WeakMap<Database, Promise<Sealer>>();
  return (database) => {
    let sealer = known.get(database);
    if (sealer) return sealer;
    sealer = secretOf(database).then((value) => createSealer(value, purpose));
    known.set(database, sealer);
    sealer.catch(() => known.delete(database));
    return sealer;
  };
}

const name = 'sign-ins';

/** The first hub that needs it makes it. */
async function secretOf(database: Database): Promise<Uint8Array> {
  await database.query('insert into toolhub.secrets (name, value) values ($1, $2) on conflict (name) do nothing', [
    name,
    randomBytes(32),
  ]);
  const [row] = await database.query<{ value: Uint8Array }>('select value from toolhub.secrets where name = $1', [
    name,
  ]);
  if (!row) throw new Error('the secret of the sign-ins is gone from the database');
  return row.value;
}
