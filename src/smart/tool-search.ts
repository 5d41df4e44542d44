import type { Catalogue } from '../core/catalogue.ts';
import { deferred } from '../core/deferred.ts';
import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { Settings } from '../core/settings/settings.ts';
import { withTimeout } from '../core/with-timeout.ts';
import { createCooperativeQueue } from './cooperative-queue.ts';
import { loadLocalEmbedder } from './embedder-local.ts';
import type { Embeddings } from './embeddings.ts';
import { builtinThreshold, chooseEmbedding, type EmbeddingConfig } from './hosted/embedding-choice.ts';
import { smartLimits } from './limits.ts';
import { createSmartIndex, type IndexRequest, type SmartIndex } from './routing.ts';
import { createSearchEngine, type SearchAnswer, type SearchEngine } from './search-engine.ts';

export interface ToolSearchOptions {
  /** What is there now. */
  readonly settings: () => Settings;
  readonly catalogue: () => Catalogue;
  /** The embedding service that the settings and the environment ask for. */
  readonly config: (settings: Settings) => EmbeddingConfig;
  readonly embeddings: Embeddings;
  readonly log: Logger;
}

export type ToolSearchRequest = Pick<IndexRequest, 'query' | 'context' | 'limit' | 'allowed' | 'explain'>;

export interface ToolSearchAnswer extends SearchAnswer {
  /** Why the answer was made with less than the hub is set up to use; undefined when it was not. */
  readonly degraded: string | undefined;
}

/** The search over the tools of all servers: which index and which embedder answer, and what is missing from them. */
export interface ToolSearch {
  /** Best first; only tools whose key (`toolKey`) is in `allowed`. */
  search(request: ToolSearchRequest): Promise<ToolSearchAnswer>;
  /** Makes the index equal to what the servers offer now, and uses the embedder that is wanted now. */
  reconcile(): void;
  /**
   * Begins to read the built-in table of word vectors and then the tools, once `after` resolves or a search comes. A
   * search waits for the table, but not long: after `smartLimits.searchStartMs`, and should it fail, search goes by
   * words alone and says so. Then it waits for the tools that it may find, `smartLimits.indexWaitMs` at most.
   */
  start(after: Promise<void>): void;
  close(): void;
}

export function createToolSearch({ settings, catalogue, config, embeddings, log }: ToolSearchOptions): ToolSearch {
  const indexOver = (engine: SearchEngine): SmartIndex => createSmartIndex(engine, (tools) => embeddings.sync(tools));
  const queue = createCooperativeQueue();
  const wanted = deferred<void>();
  const loaded = deferred<void>();
  let index = indexOver(createSearchEngine());
  let threshold: number | undefined;
  let applied: Settings | undefined;
  let isRead = false;
  let indexed: { readonly settings: Settings; readonly catalogue: Catalogue } | undefined;
  let wordsOnly: string | undefined = 'the built-in embedder is still being read; words alone are searched';

  /** Gives the index what is there now. */
  function updateIndex(): void {
    const now = { settings: settings(), catalogue: catalogue() };
    if (indexed?.settings === now.settings && indexed.catalogue === now.catalogue) return;
    indexed = now;
    index.sync(now.settings, now.catalogue);
  }

  /** A recent change counts at once, above all a key that was removed. */
  function applyConfig(): void {
    const now = settings();
    if (now === applied) return;
    applied = now;
    const embedding = config(now);
    threshold = builtinThreshold(embedding);
    embeddings.use(chooseEmbedding(embedding));
  }

  /**
   * Before each search: words that an admin gave to a tool a moment ago count already. The tools that the search may
   * find are read before others; it waits for those, and not for ever. Gives the index that has them: where another one
   * took its place meanwhile, that one is waited for within the same time.
   */
  async function upToDate(tools: ReadonlySet<string>): Promise<SmartIndex> {
    applyConfig();
    const end = performance.now() + smartLimits.indexWaitMs;
    for (;;) {
      updateIndex();
      const read = index;
      await read.first(tools, Math.max(0, end - performance.now()));
      if (read === index) return read;
    }
  }

  function reconcile(): void {
    if (isRead) updateIndex();
    applyConfig();
  }

  async function load(): Promise<void> {
    try {
      const better = indexOver(createSearchEngine(await loadLocalEmbedder()));
      index.stop();
      index = better;
      indexed = undefined;
      wordsOnly = undefined;
    } catch (error) {
      wordsOnly = 'the built-in embedder could not be read; words alone are searched';
      log.warn(wordsOnly, { error: errorText(error) });
    }
    // Not before: tools would be read into an index that is about to be given up.
    isRead = true;
    loaded.resolve();
    reconcile();
  }

  return {
    async search(request) {
      wanted.resolve();
      if (!isRead) await withTimeout(loaded.promise, smartLimits.searchStartMs);
      const read = await upToDate(request.allowed);
      const missing = wordsOnly;
      const { hosted, degraded } = await embeddings.ask(request.query, request.allowed);
      const answer = await queue.run(() =>
        read.search({ ...request, ...(threshold !== undefined && { threshold }), ...hosted }),
      );
      const unread = answer.searched < request.allowed.size ? stillRead : undefined;
      const reasons = [degraded, missing, unread].filter((reason) => reason !== undefined);
      return { ...answer, degraded: reasons.length === 0 ? undefined : reasons.join('; ') };
    },
    reconcile,
    start: (after) => void Promise.race([after, wanted.promise]).then(load),
    close: () => index.stop(),
  };
}

const stillRead = 'some of the tools are still being read into the index';
