import { setTimeout as sleep } from 'node:timers/promises';
import type { Catalogue } from '../core/catalogue.ts';
import type { Closers } from '../core/closers.ts';
import { deferred } from '../core/deferred.ts';
import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { Settings } from '../core/settings/types.ts';
import { createToolArguments } from '../core/arguments/tool.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import type { Env } from '../env/env.ts';
import type { SmartOptions } from '../mcp/smart.ts';
import type { SettingsStore } from '../settings/store.ts';
import { loadLocalEmbedder } from '../smart/embedder-local.ts';
import { builtinThreshold, chooseEmbedding } from '../smart/hosted/embedding-choice.ts';
import type { Embeddings } from '../smart/embeddings.ts';
import { smartLimits } from '../smart/limits.ts';
import { createSmartIndex, type SmartIndex, toolKey } from '../smart/routing.ts';
import { createSearchEngine, type SearchEngine } from '../smart/search-engine.ts';
import { createCooperativeQueue } from '../smart/cooperative-queue.ts';
import type { Pool } from '../upstream/pool.ts';
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

export interface Smart {
  readonly options: SmartOptions;
  /** The hosted side of it. */
  readonly embeddings: Embeddings;
  /** Makes the index equal to what the servers offer now, and uses the embedder that is wanted now. */
  sync(settings: Settings): void;
  /**
   * Begins to read tools and the built-in table of word vectors, once `after` resolves or a search comes. Until the
   * table is there, and should it fail, search goes by words alone and says so.
   */
  start(after: Promise<void>): void;
}

/** Wires smart routing: the index over the catalogue, the embedding service, and what endpoints need of both. */
export function openSmart({ env, settings, database, pool, files, log }: SmartParts, closers: Closers): Smart {
  const embeddings = openEmbeddings(database, log, closers);
  const indexOver = (engine: SearchEngine): SmartIndex =>
    createSmartIndex(engine, (documents) => embeddings.sync(documents));
  const turns = createCooperativeQueue();
  const schemas = createToolArguments();
  let index = indexOver(createSearchEngine());
  closers.add(() => index.stop());
  let threshold: number | undefined;
  let applied: Settings | undefined;
  const wanted = deferred<void>();
  let isRead = false;
  let told: { readonly settings: Settings; readonly catalogue: Catalogue } | undefined;
  let wordsOnly: string | undefined = 'the built-in embedder is still being read; words alone are searched';

  const search: SmartOptions['search'] = async (request) => {
    wanted.resolve();
    await upToDate(settings.current);
    const { hosted, degraded } = await embeddings.ask(request.query, request.allowed);
    const answer = await turns.run(() =>
      index.search({ ...request, ...(threshold !== undefined && { threshold }), ...hosted }),
    );
    const unread = answer.searched < request.allowed.size ? stillRead : undefined;
    const reasons = [degraded, wordsOnly, unread].filter((reason) => reason !== undefined);
    return { ...answer, degraded: reasons.length === 0 ? undefined : reasons.join('; ') };
  };

  /**
   * Looked at before each search too: words that an admin gave to a tool a moment ago count already. Only the first
   * search after a change may have to wait, and not long.
   */
  async function upToDate(now: Settings): Promise<void> {
    applyConfig(now);
    if (!tell(now)) return;
    const ready = index.ready().catch(() => undefined);
    await Promise.race([ready, sleep(smartLimits.indexWaitMs, undefined, { ref: false })]);
  }

  /** Tells the index what is there now; false when it knows. */
  function tell(now: Settings): boolean {
    const { catalogue } = pool;
    if (told?.settings === now && told.catalogue === catalogue) return false;
    told = { settings: now, catalogue };
    index.sync(now, catalogue);
    return true;
  }

  /** A recent change counts at once, above all a key that was removed. */
  function applyConfig(now: Settings): void {
    if (now === applied) return;
    applied = now;
    const embedding = embeddingConfig(now, env, files.tryRead);
    threshold = builtinThreshold(embedding);
    embeddings.use(chooseEmbedding(embedding));
  }

  function sync(now: Settings): void {
    if (isRead) tell(now);
    applyConfig(now);
  }

  async function load(): Promise<void> {
    try {
      const better = indexOver(createSearchEngine(await loadLocalEmbedder()));
      better.sync(settings.current, pool.catalogue);
      await better.ready();
      index.stop();
      index = better;
      told = undefined;
      wordsOnly = undefined;
    } catch (error) {
      wordsOnly = 'the built-in embedder could not be read; words alone are searched';
      log.warn(wordsOnly, { error: errorText(error) });
    }
    // Not before: tools would be read into an index that is about to be given up.
    isRead = true;
    sync(settings.current);
  }

  return {
    options: {
      search,
      key: ({ server, key }) => toolKey(server, key),
      available: (server) => pool.connection(server)?.status.kind === 'connected',
      problems: (toolText, value) => schemas.check(toolText, value),
    },
    embeddings,
    sync,
    start: (after) => void Promise.race([after, wanted.promise]).then(load),
  };
}

const stillRead = 'some of the tools are still being read into the index';
