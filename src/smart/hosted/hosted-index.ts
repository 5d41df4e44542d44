import { errorText, HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { saying } from '../../core/sentences.ts';
import { forEachYielding } from '../../core/for-each-yielding.ts';
import { createLoop, type Loop } from '../../core/loop.ts';
import { smartLimits } from '../limits.ts';
import { type Coverage, createCoverage } from './coverage.ts';
import type { SearchedTool } from '../document.ts';
import { type EmbedRun, embedTools } from './embed-tools.ts';
import type { EmbeddingService } from './embedding-choice.ts';
import { type HostedService, openHostedService, type Pauses } from './service.ts';
import { createCooperativeTask } from '../cooperative-task.ts';
import type { VectorStore } from '../vector-store.ts';

/** The tools in one space: their vectors by a hosted service, kept equal to the catalogue in the background. */
export class HostedIndex {
  readonly #options: HostedOptions;
  readonly #space: string;
  readonly #coverage: Coverage;
  readonly #loop: Loop;
  readonly #work = createCooperativeTask();
  #tools: readonly SearchedTool[] = [];
  #hosted: HostedService;
  #dimensions: number | undefined;
  #looked = false;
  #takingOver = false;
  #closed = false;
  #nextLook: { readonly at: number; readonly timer: NodeJS.Timeout } | undefined;

  constructor(options: HostedOptions) {
    this.#options = options;
    this.#space = options.service.space;
    this.#dimensions = options.service.dimensions;
    this.#hosted = this.#open(options.service);
    this.#coverage = createCoverage(this.#space, this.#hosted.embedder.readable);
    this.#loop = createLoop({
      debounceMs: flagMs,
      run: () => this.#pass(),
      failed: (error) => this.#failed(error),
    });
  }

  get service(): EmbeddingService {
    return this.#hosted.service;
  }

  /** The service is not asked at the moment. */
  get fails(): boolean {
    return this.#hosted.breaker.reason !== undefined;
  }

  /** Everything that can be embedded is. */
  get complete(): boolean {
    return this.#looked && !this.#takingOver && this.#coverage.complete();
  }

  /** Takes over what the tools are now; what has no vector yet is embedded soon. */
  sync(tools: readonly SearchedTool[]): void {
    this.#tools = tools;
    this.#work.start(this.#takeOver());
  }

  /** Another way to the same space: a new key, a new pace. What failed before is tried at once. */
  use(service: EmbeddingService): void {
    const before = this.#hosted;
    this.#hosted = this.#open(service);
    void before.close();
    this.#coverage.forgive();
    if (service.maxTokens !== before.service.maxTokens) {
      this.#coverage.readAnew(this.#hosted.embedder.readable);
      this.#work.start(this.#takeOver());
    }
    this.#loop.flag();
  }

  /** Looks again at what there is to do: the database is back, another hub has embedded something. */
  flag(): void {
    this.#loop.flag();
  }

  /**
   * Embeds all tools again; their old vectors are used until the new ones are there. Throws HubError `conflict` while
   * it does so already.
   */
  reindex(): void {
    const { service } = this;
    if (this.#coverage.reindexing) throw saying('conflict', 'reindex_running');
    this.#options.log.info('Indexing the tools again', { model: service.model, tools: this.#coverage.tools });
    this.#coverage.again();
    // The model may have changed behind its name, and the vectors of the last queries with it.
    this.#dimensions = service.dimensions;
    this.use(service);
  }

  /** Cosines of tools with the query, by key. Rejects with HubError when the service or the vectors cannot be used. */
  async similarities(query: string, allowed: ReadonlySet<string>): Promise<Found> {
    if (!this.#looked) throw new HubError('not_ready', 'the vectors of the tools are still being read');
    const hashes = new Map<string, string>();
    await forEachYielding(allowed, smartLimits.itemsInATurn, (key) => {
      const hash = this.#coverage.hashOf(key);
      if (hash !== undefined && this.#coverage.has(hash)) hashes.set(key, hash);
    });
    const similarities = new Map<string, number>();
    if (hashes.size > 0) {
      const vector = await this.#hosted.queries.of(query);
      const found = await this.#options.store.similarities(this.#space, vector, [...new Set(hashes.values())]);
      await forEachYielding(hashes, smartLimits.itemsInATurn, ([key, hash]) => {
        const cosine = found.get(hash);
        if (cosine !== undefined) similarities.set(key, cosine);
      });
    }
    return { similarities, missing: allowed.size - similarities.size };
  }

  /** Marks the vectors as in use, and starts a new check of which vectors there are. */
  async tend(): Promise<void> {
    await this.#options.store.tend(this.#space, this.#coverage.hashes());
    this.#coverage.doubt();
    this.#loop.flag();
  }

  state(): HostedState {
    const { reason, since = 0, nextTrialAt = 0 } = this.#hosted.breaker;
    return {
      tools: this.#coverage.tools,
      missing: this.#coverage.missing(),
      reindexing: this.#coverage.reindexing,
      dimensions: this.#dimensions,
      problem: reason && { reason: reason.message, since, nextTrialAt },
      refusals: this.#coverage.refusals(),
    };
  }

  /** Ends what is under way. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#work.stop();
    clearTimeout(this.#nextLook?.timer);
    await Promise.all([this.#hosted.close(), this.#loop.close()]);
  }

  #open(service: EmbeddingService): HostedService {
    const { log, changed, pauses = {} } = this.#options;
    return openHostedService(service, {
      log,
      pauses,
      checkSize: (vector) => this.#checkSize(vector),
      changed: (fails) => {
        if (!fails) this.#loop.flag();
        changed(false);
      },
    });
  }

  /** The first vector says how large they are: one of another size is of another model. */
  #checkSize({ length }: Float32Array): void {
    this.#dimensions ??= length;
    if (length === this.#dimensions) return;
    // Another hub may have indexed the tools again.
    this.#coverage.doubt();
    this.#loop.flag();
    const sizes = `a vector of ${length} numbers where this model's have ${this.#dimensions}`;
    const advice = 'if the model behind the name has changed, index the tools again';
    throw new HubError('upstream_failed', `the embedding service gave ${sizes}; ${advice}`);
  }

  *#takeOver(): Generator<void> {
    this.#takingOver = true;
    yield* this.#coverage.sync(this.#tools);
    this.#takingOver = false;
    this.#loop.flag();
  }

  /** One look at what is missing, and the work that follows from it. */
  async #pass(): Promise<void> {
    await this.#work.done();
    if (this.#closed) return;
    await this.#look();
    const todo = this.#coverage.todo();
    if (todo.length > 0 && !this.#hosted.breaker.reason) {
      const { others } = await embedTools(todo, this.#run());
      if (others) this.#lookIn(smartLimits.embeddingOthersMs);
    }
    const nextTry = this.#coverage.nextTry();
    if (nextTry !== undefined) this.#lookIn(Math.max(smartLimits.embeddingOthersMs, nextTry - Date.now()));
    this.#options.changed(false);
  }

  async #look(): Promise<void> {
    const unknown = this.#coverage.unknown();
    const sizes =
      unknown.length === 0 ? new Map<string, number>() : await this.#options.store.sizes(this.#space, unknown);
    // While all are embedded again, their size is that of the first new vector.
    if (!this.#coverage.reindexing) {
      if (this.#coverage.doubted) this.#dimensions = this.service.dimensions;
      this.#dimensions ??= mostCommon(sizes.values());
    }
    const usable = Array.from(sizes).filter(([, size]) => size === (this.#dimensions ?? size));
    this.#coverage.found(
      unknown,
      usable.map(([hash]) => hash),
    );
    this.#looked = true;
  }

  #run(): EmbedRun {
    const { store, log, changed } = this.#options;
    return {
      hosted: this.#hosted,
      store,
      log,
      again: this.#coverage.reindexing,
      text: (hash) => this.#coverage.text(hash),
      checkSize: (vector) => this.#checkSize(vector),
      saved: (hashes) => {
        this.#coverage.embedded(hashes);
        changed(true);
      },
      refused: (hash, why) => this.#coverage.refused(hash, why),
    };
  }

  #failed(error: unknown): void {
    // The database cannot be reached: `flag` is called when it can be reached again.
    if (error instanceof HubError && error.code === 'not_ready') return;
    this.#options.log.error('Tools could not be embedded', { error: errorText(error) });
    this.#lookIn(smartLimits.embeddingOthersMs);
  }

  /** The sooner of two looks makes the later one superfluous: each says when the next has to be. */
  #lookIn(ms: number): void {
    const at = Date.now() + ms;
    if (this.#closed || (this.#nextLook !== undefined && this.#nextLook.at <= at)) return;
    clearTimeout(this.#nextLook?.timer);
    const timer = setTimeout(() => {
      this.#nextLook = undefined;
      this.#loop.flag();
    }, ms);
    timer.unref();
    this.#nextLook = { at, timer };
  }
}

export interface Found {
  readonly similarities: ReadonlyMap<string, number>;
  /** Tools that might be found and have no vector yet. */
  readonly missing: number;
}

export interface HostedState {
  readonly tools: number;
  /** Keys of tools without a vector. */
  readonly missing: readonly string[];
  readonly reindexing: boolean;
  /** Numbers of a vector, once that is known. */
  readonly dimensions: number | undefined;
  /** Why the service is not asked at the moment; undefined when it is. Times in milliseconds since 1970. */
  readonly problem: { readonly reason: string; readonly since: number; readonly nextTrialAt: number } | undefined;
  /** Why texts were refused, each reason once. */
  readonly refusals: readonly string[];
}

export interface HostedOptions {
  readonly service: EmbeddingService;
  readonly store: VectorStore;
  readonly log: Logger;
  /** Called when something of the state may have changed; `saved` when vectors were. */
  readonly changed: (saved: boolean) => void;
  readonly pauses?: Pauses | undefined;
}

/** Changes come in bursts while servers connect. */
const flagMs = 20;

function mostCommon(sizes: Iterable<number>): number | undefined {
  const counts = new Map<number, number>();
  for (const size of sizes) counts.set(size, (counts.get(size) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}
