import { join } from 'node:path';
import { createIdentify } from '../auth/identify.ts';
import { openTokens } from '../auth/open-tokens.ts';
import { logRefusedCredentials } from '../auth/event-sampler.ts';
import type { Closers } from '../core/closers.ts';
import type { Env } from '../env/env.ts';
import { clientAddress } from '../http/frame/client-address.ts';
import type { Storage } from './open-storage.ts';

/** Who may come in, and from where they come. */
export async function openAccess(env: Env, storage: Storage, closers: Closers) {
  const { settings, dataDir, database, log, security } = storage;
  const tokens = await openTokens({
    secret: env.jwtSecret ?? dataDir.secret('jwt', 32).toString('hex'),
    path: join(dataDir.path, 'revocations.json'),
    shared: env.database.kind === 'postgres' ? database : undefined,
    log: log('hub'),
  });
  closers.add(() => tokens.close());
  return {
    tokens,
    identity: createIdentify({ settings: () => settings.current, tokens }),
    addressOf: clientAddress(env.trustProxy, log('hub')),
    badCredential: logRefusedCredentials(security),
  };
}
