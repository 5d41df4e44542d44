import { join } from 'node:path';
import { principalOf } from '../core/access/principal.ts';
import { reaches } from '../core/access/rules.ts';
import type { AuditSink } from '../core/audit.ts';
import type { LoggerFor } from '../core/logger.ts';
import { isPerUser } from '../core/access/per-user.ts';
import { createSealer } from '../core/seal.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import type { Env } from '../env/env.ts';
import type { DataDir } from '../settings/data-dir.ts';
import type { SettingsStore } from '../settings/store.ts';
import { type Attempts, createAttempts, sharedAttempts } from '../upstream/sign-in/attempts.ts';
import { grantFile, openFileGrants } from '../upstream/sign-in/grants-in-file.ts';
import type { Grants } from '../upstream/sign-in/grants.ts';
import { openSharedGrants } from '../upstream/sign-in/grants-in-table.ts';
import { sharedSealer } from '../database/shared-sealer.ts';
import { createSignIns, type SignIns, type SignInsOptions } from '../upstream/sign-in/sign-ins.ts';

/** The file of sign-ins in `DATA_DIR`, and what the key it is sealed with is for. */
export const signInsFile = { name: 'oauth.sealed', purpose: 'oauth' } as const;

interface SignInStorage {
  readonly dataDir: DataDir;
  readonly database: DatabaseHandle;
  readonly settings: SettingsStore;
  readonly audit: Pick<AuditSink, 'record'>;
  readonly log: LoggerFor;
}

type Needs = Pick<
  SignInsOptions,
  'publicUrl' | 'expand' | 'addresses' | 'userAgent' | 'tracing' | 'signedIn' | 'relist' | 'changed'
>;

/** Signing in to servers. `changed` is not called before this has returned: its receiver does not exist before that. */
export async function openSignIns(
  env: Env,
  storage: SignInStorage,
  needs: Needs,
): Promise<{ signIns: SignIns; grants: Grants }> {
  let isOpen = false;
  const changed = (): void => {
    if (isOpen) needs.changed();
  };
  const settings = () => storage.settings.current;
  const stores = await openStores(env, storage, changed);
  const signIns = createSignIns({
    ...needs,
    ...stores,
    changed,
    server: (name) => settings().servers.get(name),
    maySignIn(username, server) {
      const user = settings().users.find((user) => user.username === username);
      if (isPerUser(server)) return user !== undefined && reaches(settings(), principalOf(user), server);
      return server.owner === username || user?.role === 'admin';
    },
    userSince: (username) => settings().users.find((user) => user.username === username)?.createdAt,
    finished: (target, name) =>
      storage.audit.record({ actor: { kind: 'user', name }, via: 'dashboard', action: 'server.sign-in', target }),
    log: storage.log,
  });
  isOpen = true;
  return { signIns, grants: stores.grants };
}

/**
 * Where sign-ins are kept: in the data folder, or with `DB_URL` in the database for all hubs that share it
 * (decisions/0017).
 */
async function openStores(
  env: Env,
  { dataDir, database, log }: SignInStorage,
  changed: () => void,
): Promise<{ grants: Grants; attempts: Attempts; isCurrent?: () => boolean }> {
  const sealer = createSealer(dataDir.secret('hub', 32), signInsFile.purpose);
  const file = grantFile(join(dataDir.path, signInsFile.name), sealer, log('hub'));
  if (env.database.kind !== 'postgres')
    return { grants: await openFileGrants(file, changed), attempts: createAttempts() };
  const shared = sharedSealer(env.jwtSecret, 'oauth shared');
  return {
    grants: await openSharedGrants({ database, sealer: shared, file, log: log('hub'), changed }),
    attempts: sharedAttempts(database, sharedSealer(env.jwtSecret, 'oauth attempts')),
    isCurrent: () => database.state().state === 'ready',
  };
}
