import { join } from 'node:path';
import { authLimits } from '../auth/limits.ts';
import type { LoginOptions } from '../auth/login.ts';
import { createTickets } from '../auth/oauth/tickets.ts';
import { factorsInFile } from '../auth/second-factor/factors-in-file.ts';
import { factorsInTable } from '../auth/second-factor/factors-in-table.ts';
import { createSecondFactors } from '../auth/second-factor/second-factors.ts';
import { createSealer } from '../core/seal.ts';
import { sharedSealer } from '../database/shared-sealer.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import type { Env } from '../env/env.ts';
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
  const challenges: LoginOptions['challenges'] = createTickets({
    secret: Buffer.from(secret),
    purpose: 'second factor of a login',
    lifeMs: authLimits.factorChallengeMs,
    toleranceMs: shared ? authLimits.clockToleranceMs : 0,
    now: Date.now,
  });
  return { factors: createSecondFactors(store), challenges };
}
