import { join } from 'node:path';
import { authLimits } from '../auth/limits.ts';
import type { Challenge } from '../auth/login.ts';
import { createTickets, type Tickets } from '../auth/oauth/tickets.ts';
import { factorsInFile } from '../auth/second-factor/factors-in-file.ts';
import { factorsInTable } from '../auth/second-factor/factors-in-table.ts';
import { createSecondFactors } from '../auth/second-factor/second-factors.ts';
import { createSealer } from '../core/seal.ts';
import { sharedSealer } from '../database/shared-sealer.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import type { Env } from '../env/env.ts';
import type { NewPasskey } from '../http/users/second-factor-routes.ts';
import type { DataDir } from '../settings/data-dir.ts';

interface FactorParts {
  readonly dataDir: DataDir;
  /** The database of hubs that share one; undefined for a hub alone. */
  readonly shared: DatabaseHandle | undefined;
  /** The same for all hubs that share a database. */
  readonly secret: string;
}

/**
 * Second factors of users: in a sealed file of the data folder, or sealed in the database for all hubs that share it. A
 * login that was begun at one hub can be finished at another.
 */
export function openSecondFactors(env: Env, { dataDir, shared, secret }: FactorParts) {
  const purpose = 'second factors';
  const store = shared
    ? factorsInTable(shared, sharedSealer(env.jwtSecret, purpose))
    : factorsInFile(join(dataDir.path, 'second-factors.json'), createSealer(dataDir.secret('hub', 32), purpose));
  const tickets = <T>(what: string): Tickets<T> =>
    createTickets<T>({
      secret: Buffer.from(secret),
      purpose: what,
      lifeMs: authLimits.factorChallengeMs,
      toleranceMs: shared ? authLimits.clockToleranceMs : 0,
      now: Date.now,
    });
  return {
    factors: createSecondFactors(store),
    challenges: tickets<Challenge>('second factor of a login'),
    newPasskeys: tickets<NewPasskey>('new passkey'),
  };
}
