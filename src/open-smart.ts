import { errorText } from './core/errors.ts';
import type { Logger } from './core/logger.ts';
import type { Settings } from './core/settings.ts';
import { createToolArguments } from './core/tool-arguments.ts';
import type { SmartOptions } from './mcp/smart.ts';
import { loadLocalEmbedder } from './smart/embedder-local.ts';
import { createSmartIndex, type SmartIndex, toolKey } from './smart/routing.ts';
import { createSearchEngine } from './smart/search-engine.ts';
import type { Pool } from './upstream/pool.ts';

export interface Smart {
  readonly options: SmartOptions;
  /** Makes the index equal to what the servers offer now. */
  sync(settings: Settings): void;
  /** Reads the built-in table of word vectors; until then, and should it fail, search goes by words alone and says so. */
  load(settings: () => Settings): Promise<void>;
}

/** Wires smart routing: the index over the catalogue, and what endpoints ask of it. */
export function openSmart(pool: Pool, log: Logger): Smart {
  let index: SmartIndex = createSmartIndex(createSearchEngine());
  let degraded: string | undefined = 'the built-in embedder is still being read; words alone are searched';
  const schemas = createToolArguments();
  return {
    options: {
      search: async (request) => ({ ...index.search(request), degraded }),
      key: ({ server, key }) => toolKey(server, key),
      available: (server) => pool.connection(server)?.status.kind === 'connected',
      problems: (toolText, value) => schemas.check(toolText, value),
    },
    sync: (settings) => index.sync(settings, pool.catalogue),
    async load(settings) {
      try {
        const better = createSmartIndex(createSearchEngine(await loadLocalEmbedder()));
        better.sync(settings(), pool.catalogue);
        index = better;
        degraded = undefined;
      } catch (error) {
        degraded = 'the built-in embedder could not be read; words alone are searched';
        log.warn(degraded, { error: errorText(error) });
      }
    },
  };
}
