import type { Logger } from '../core/logger.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { revocationFile } from './revocation-file.ts';
import { revocationTable, watchRevocations } from './revocation-table.ts';
import { createTokens, type Tokens } from './tokens.ts';

export interface OpenTokens {
  readonly secret: string;
  /** The file of revocations in `DATA_DIR`. */
  readonly path: string;
  /** The database through which all its hubs know which tokens ended; undefined for a hub that shares no database. */
  readonly shared: DatabaseHandle | undefined;
  readonly log: Logger;
}

/** The access tokens of this hub, or of all hubs that share a database. The code that opened them closes them. */
export async function openTokens({ secret, path, shared, log }: OpenTokens): Promise<Tokens> {
  // `Tokens` saves again until it succeeds.
  if (!shared) return createTokens({ secret, store: revocationFile(path, log, true) });
  const file = revocationFile(path, log);
  const table = revocationTable({ database: shared, copy: file, log });
  const tokens = await createTokens({ secret, store: table });
  const stopWatching = watchRevocations(shared, log, () => tokens.refresh());
  return {
    ...tokens,
    async close() {
      stopWatching();
      await tokens.close();
    },
  };
}

/** What clients were let in with ends with all tokens of a user, also where one of the two cannot be written down. */
export function endingConsents(
  tokens: Tokens,
  consents: { readonly endUser: (username: string) => Promise<unknown> },
): Tokens {
  return {
    ...tokens,
    async revokeUser(username) {
      try {
        await tokens.revokeUser(username);
      } finally {
        await consents.endUser(username);
      }
    },
  };
}
