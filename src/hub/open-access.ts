import { join } from 'node:path';
import { createIdentify } from '../auth/identify.ts';
import { openTokens } from '../auth/open-tokens.ts';
import type { Closers } from '../core/closers.ts';
import type { Env } from '../env/env.ts';
import type { Storage } from './open-storage.ts';

/** Who may come in. */
export async function openAccess(env: Env, { settings, dataDir, database, log }: Storage, closers: Closers) {
  const tokens = await openTokens({
    secret: env.jwtSecret ?? dataDir.secret('jwt', 32).toString('hex'),
    path: join(dataDir.path, 'revocations.json'),
    shared: env.database.kind === 'postgres' ? database : undefined,
    log: log('hub'),
  });
  closers.add(() => tokens.close());
  return { tokens, identity: createIdentify({ settings: () => settings.current, tokens }) };
}
