import type { Closers } from '../core/closers.ts';
import type { Logger } from '../core/logger.ts';
import { createToolArguments } from '../core/arguments/tool.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import type { Env } from '../env/env.ts';
import type { SmartOptions } from '../mcp/smart.ts';
import type { SettingsStore } from '../settings/store.ts';
import type { Embeddings } from '../smart/embeddings.ts';
import { toolKey } from '../smart/routing.ts';
import { createToolSearch, type ToolSearch } from '../smart/tool-search.ts';
import type { Pool } from '../upstream/connections/pool.ts';
import { isCallable } from '../upstream/connections/status.ts';
import { embeddingConfig, openEmbeddings } from './open-embeddings.ts';
import type { SecretFiles } from './secret-files.ts';

export interface SmartParts {
  readonly env: Env;
  readonly settings: Pick<SettingsStore, 'current'>;
  readonly database: DatabaseHandle;
  readonly pool: Pool;
  readonly files: SecretFiles;
  readonly log: Logger;
}

export interface Smart extends Pick<ToolSearch, 'reconcile' | 'start'> {
  readonly options: SmartOptions;
  /** The hosted side of it. */
  readonly embeddings: Embeddings;
}

/** Wires smart routing: the search over the catalogue, the embedding service, and what endpoints need of both. */
export function openSmart({ env, settings, database, pool, files, log }: SmartParts, closers: Closers): Smart {
  const embeddings = openEmbeddings(database, log, closers);
  const tools = createToolSearch({
    settings: () => settings.current,
    catalogue: () => pool.catalogue,
    config: (now) => embeddingConfig(now, env, files.tryRead),
    embeddings,
    log,
  });
  closers.add(() => tools.close());
  const schemas = createToolArguments();
  return {
    options: {
      search: (request) => tools.search(request),
      key: ({ server, key }) => toolKey(server, key),
      available(server) {
        const connection = pool.connection(server);
        return connection !== undefined && isCallable(connection.status);
      },
      problems: (toolText, value) => schemas.check(toolText, value),
    },
    embeddings,
    reconcile: () => tools.reconcile(),
    start: (after) => tools.start(after),
  };
}
