import type { Hono } from 'hono';
import { isBundleInUse, removeBundle } from '../../bundles/origin.ts';
import type { ServerState } from '../../core/hub.ts';
import type { Logger } from '../../core/logger.ts';
import type { SettingsStore } from '../../settings/store.ts';
import type { Pool } from '../../upstream/connections/pool.ts';
import type { ApiEnv } from '../frame/caller.ts';
import { bundleRoutes } from './bundles.ts';
import { exportRoutes } from './export.ts';
import type { GroupRoutes } from './group-answer.ts';
import { groupServerRoutes } from './group-servers.ts';
import { groupRoutes } from './groups.ts';
import { importRoutes } from './import.ts';
import { serverItemRoutes } from './server-items.ts';
import { type ServerRunRoutes, serverRunRoutes } from './server-runs.ts';
import { type ServerRoutes, serverRoutes } from './servers.ts';
import { settingsImportRoutes } from './settings-import.ts';
import { settingsRoutes, type SettingsRoutes } from './settings.ts';
import { shareCandidateRoutes } from './share-candidates.ts';

export interface SettingsResources {
  readonly settings: SettingsStore;
  readonly pool: Pick<Pool, 'catalogue' | 'restart'>;
  /** What each server does now; `error` without secrets. */
  readonly states: () => readonly ServerState[];
  readonly dataDir: string;
  readonly signIns: Pick<ServerRoutes, 'refusal' | 'renamed' | 'deleted'>;
  readonly smart: SettingsRoutes['smart'];
  readonly log: Logger;
  /** For entries about security. */
  readonly security: Logger;
}

/** What is in the settings document besides people and keys. */
export function settingsResources(options: SettingsResources): Hono<ApiEnv>[] {
  const { settings, pool, states, dataDir, signIns, smart, log, security } = options;
  const catalogue = () => pool.catalogue;
  const groups: GroupRoutes = {
    settings,
    knownTools: (server) => pool.catalogue.offers.get(server)?.tools.map(({ key }) => key),
    log,
  };
  const servers: ServerRoutes & ServerRunRoutes = {
    settings,
    catalogue,
    states,
    document: () => settings.document,
    refusal: signIns.refusal,
    renamed: signIns.renamed,
    deleted: signIns.deleted,
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
    importRoutes({ settings, log }),
    settingsRoutes({ settings, smart, log: security }),
    exportRoutes({ settings, log: security }),
    settingsImportRoutes({ ...servers, settings, log: security }),
    bundleRoutes({ settings, dataDir, log }),
  ];
}
