import type { Hono } from 'hono';
import type { LastUses } from '../auth/last-uses.ts';
import type { Consents } from '../auth/oauth/consents.ts';
import { isBundleInUse, removeBundle } from '../bundles/origin.ts';
import type { AuditSink } from '../core/audit.ts';
import type { ServerState } from '../core/hub.ts';
import type { Logger } from '../core/logger.ts';
import type { Pins } from '../governance/pins.ts';
import type { SettingsStore } from '../settings/store.ts';
import type { SignIns } from '../upstream/sign-in/sign-ins.ts';
import type { UserCredentials } from '../upstream/user-credentials/user-credentials.ts';
import { moveHome } from '../upstream/channels/stdio/sandbox-home.ts';
import type { Pool } from '../upstream/connections/pool.ts';
import type { ApiEnv } from './frame/caller.ts';
import type { GroupRoutes } from './groups/group-answer.ts';
import { groupRoutes } from './groups/group-routes.ts';
import { groupServerRoutes } from './groups/group-server-routes.ts';
import { ownRoutes } from './own/own-routes.ts';
import { keysRoutes } from './keys/key-routes.ts';
import { bundleRoutes } from './servers/bundle-upload.ts';
import { importRoutes } from './servers/server-import.ts';
import { serverItemRoutes } from './servers/server-item-routes.ts';
import { type ServerRoutes, serverRoutes } from './servers/server-routes.ts';
import { type ServerRunRoutes, serverRunRoutes } from './servers/server-run-routes.ts';
import { type BackupRoutes, backupRoutes } from './settings/backup.ts';
import { exportRoutes } from './settings/settings-export.ts';
import { settingsImportRoutes } from './settings/settings-import.ts';
import { settingsRoutes, type SettingsRoutes } from './settings/settings-routes.ts';
import { type AuthOptions, authRoutes } from './users/login-routes.ts';
import { passkeyRoutes } from './users/passkey-routes.ts';
import { shareCandidateRoutes } from './users/share-candidates.ts';
import { factorResetRoutes, type SecondFactorOptions, secondFactorRoutes } from './users/second-factor-routes.ts';
import { sessionRoutes } from './users/session-routes.ts';
import { usersRoutes } from './users/user-routes.ts';

export interface SettingsResources {
  readonly settings: SettingsStore;
  readonly pool: Pick<Pool, 'catalogue' | 'restart'>;
  /** What each server does now; `error` without secrets. */
  readonly states: () => readonly ServerState[];
  readonly dataDir: string;
  readonly signIns: Pick<SignIns, 'refusal' | 'renamed' | 'deleted'>;
  readonly credentials: Pick<UserCredentials, 'renamed' | 'deleted' | 'state'>;
  readonly pins: Pick<Pins, 'applied' | 'rename' | 'deleted'>;
  readonly unsetVariables: ServerRoutes['unsetVariables'];
  /** Whether a variable is set for the settings of admins. */
  readonly isSet: (variable: string) => boolean;
  readonly smart: SettingsRoutes['smart'];
  readonly audit: AuditSink;
  readonly backup: Pick<BackupRoutes, 'write' | 'ready'>;
  readonly log: Logger;
  /** For entries about security. */
  readonly security: Logger;
}

/** What is in the settings document besides users and keys. */
export function settingsResources(options: SettingsResources): Hono<ApiEnv>[] {
  const { settings, pool, states, dataDir, signIns, credentials, pins, unsetVariables, smart, log, security } = options;
  const catalogue = () => pool.catalogue;
  const groups: GroupRoutes = {
    settings,
    catalogue,
    shown: () => pins.applied(pool.catalogue),
    log,
  };
  const servers: ServerRoutes & ServerRunRoutes = {
    settings,
    catalogue,
    shown: () => pins.applied(pool.catalogue),
    states,
    document: () => settings.document,
    refusal: signIns.refusal,
    credentials,
    unsetVariables,
    async rename(from, to, change) {
      let moved: Promise<unknown> = Promise.resolve();
      await pins.rename(from, to, async () => {
        await change();
        // At once, since the server connects under its new name already; the pins do not wait for a sign-in that is on
        // its way.
        moved = Promise.all([signIns.renamed(from, to), credentials.renamed(from, to)]);
        moved.catch(() => undefined);
      });
      await moved;
      await moveHome(dataDir, from, to);
    },
    async deleted(name) {
      await Promise.all([signIns.deleted(name), credentials.deleted(name), pins.deleted(name)]);
      await moveHome(dataDir, name, undefined);
    },
    restart: (name) => pool.restart(name),
    removeFiles: async (entry) => {
      const { mcpServers } = settings.document;
      if (!isBundleInUse(entry, mcpServers)) await removeBundle(entry, dataDir);
    },
    log,
  };
  return [
    serverRunRoutes(servers),
    shareCandidateRoutes(),
    groupRoutes(groups),
    groupServerRoutes(groups),
    serverRoutes(servers),
    serverItemRoutes({ settings, catalogue, log }),
    ownRoutes({ settings, catalogue, log }),
    importRoutes({ settings, isSet: options.isSet, log }),
    settingsRoutes({ settings, smart, log: security }),
    exportRoutes({ settings, audit: options.audit, log: security }),
    backupRoutes({ ...options.backup, audit: options.audit, log: security }),
    settingsImportRoutes({ ...servers, settings, log: security }),
    bundleRoutes({ settings, dataDir, log }),
  ];
}

export interface PeopleOptions extends AuthOptions, Pick<SecondFactorOptions, 'factors' | 'newPasskeys' | 'hubUrl'> {
  /** Whether users can log in at a provider. */
  readonly hasProviders: () => boolean;
  readonly uses: LastUses;
  readonly authorization: { readonly consents: Pick<Consents, 'endUser'> };
  /** For what users do with their own accounts; `log` for what admins do. */
  readonly accountLog: Logger;
}

/** Users, their logins, and access keys. */
export function peopleResources(options: PeopleOptions): Hono<ApiEnv>[] {
  const { settings, passwords, tokens, sessions, factors, hasProviders, uses, log, accountLog } = options;
  const { consents } = options.authorization;
  return [
    authRoutes({ ...options, log: accountLog }),
    sessionRoutes({ sessions, log: accountLog }),
    secondFactorRoutes({ ...options, log: accountLog }),
    passkeyRoutes({ ...options, log: accountLog }),
    factorResetRoutes({ factors, tokens, log }),
    usersRoutes({ settings, passwords, tokens, consents, sessions, factors, hasProviders, log }),
    keysRoutes({ settings, uses, log, accountLog }),
  ];
}
