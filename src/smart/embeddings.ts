import { setTimeout as sleep } from 'node:timers/promises';
import { errorText, HubError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { saying } from '../core/sentences.ts';
import type { SearchedTool } from './document.ts';
import type { EmbeddingChoice, EmbeddingService } from './hosted/embedding-choice.ts';
import { type Found, HostedIndex, type HostedState } from './hosted/hosted-index.ts';
import type { Pauses } from './hosted/service.ts';
import { smartLimits } from './limits.ts';
import type { Similarities } from './score-text.ts';
import type { SpaceContents, VectorStore } from './vector-store.ts';

export interface HostedAnswer {
  /** Undefined: the search has to do without. */
  readonly hosted?: { readonly similarities: Similarities; readonly threshold: number; readonly background: number };
  /** Why the search has to do without all or some of it; undefined when it has not, or no service is wanted. */
  readonly degraded?: string;
}

export interface EmbeddingsBrief {
  readonly provider: string;
  /** `degraded`: the built-in index answers in place of the service. */
  readonly state: 'ready' | 'indexing' | 'degraded';
  /** Where vectors are compared. */
  readonly vectors: 'builtin' | VectorStore['place'];
}

export interface EmbeddingsStatus {
  readonly provider: string;
  /** Undefined without a service. */
  readonly service: EmbeddingService | undefined;
  readonly state: HostedState | undefined;
  /** The model that is being indexed and is to answer then. */
  readonly next: { readonly service: EmbeddingService; readonly state: HostedState } | undefined;
  /** Why the service is not used; undefined when it is, or none is wanted. */
  readonly problem: string | undefined;
  /** Where vectors are compared. */
  readonly place: VectorStore['place'];
  /** Servers with their tools, and how many of those the search in use has a vector for. */
  readonly servers: readonly { readonly name: string; readonly tools: number; readonly embedded: number }[];
}

export interface EmbeddingsOptions {
  readonly store: VectorStore;
  readonly log: Logger;
  /** Called when vectors were saved. */
  readonly saved?: () => void;
  readonly pauses?: Pauses;
}

/** The hosted side of the search: whichever service is chosen, and the change from one to the other. */
export class Embeddings {
  readonly #options: EmbeddingsOptions;
  readonly #closing = new Set<Promise<void>>();
  /** Called after every change of state. */
  readonly #waiting = new Set<() => void>();
  readonly #tending: NodeJS.Timeout;
  #choice: EmbeddingChoice = { kind: 'builtin' };
  #tools: readonly SearchedTool[] = [];
  /** Answers. */
  #current: HostedIndex | undefined;
  /** Is being indexed, and answers from when it is complete. */
  #next: HostedIndex | undefined;
  #closed = false;

  constructor(options: EmbeddingsOptions) {
    this.#options = options;
    this.#tending = setInterval(() => void this.#tend(), smartLimits.embeddingsTendMs);
    this.#tending.unref();
  }

  /**
   * Takes a choice into force at once. Another model is indexed in the background, while the one before still answers.
   */
  use(choice: EmbeddingChoice): void {
    if (this.#closed || JSON.stringify(choice) === JSON.stringify(this.#choice)) return;
    this.#choice = choice;
    if (choice.kind === 'hosted') return this.#useService(choice.service);
    if (choice.kind === 'unusable') this.#options.log.warn('The embedding service is not used', { reason: choice.why });
    const [current, next] = [this.#current, this.#next];
    this.#current = undefined;
    this.#next = undefined;
    this.#end(current);
    this.#end(next);
    for (const look of this.#waiting) look();
  }

  /** Takes over what the tools are now. */
  sync(tools: readonly SearchedTool[]): void {
    this.#tools = tools;
    this.#current?.sync(tools);
    this.#next?.sync(tools);
  }

  /**
   * What the service says of a query; never rejects, and never takes much longer than `smartLimits.embeddingQueryMs`.
   */
  async ask(query: string, allowed: ReadonlySet<string>): Promise<HostedAnswer> {
    const choice = this.#choice;
    if (choice.kind === 'unusable') return { degraded: `${choice.why}; the built-in index answers` };
    const index = this.#current;
    if (!index || allowed.size === 0) return {};
    const late = new AbortController();
    try {
      return this.#answer(index, await Promise.race([index.similarities(query, allowed), tooLate(late.signal)]));
    } catch (error) {
      if (error instanceof HubError) return { degraded: `${error.message}; the built-in index answers` };
      this.#options.log.error('The vectors of the tools could not be searched', { error: errorText(error) });
      return { degraded: 'the vectors of the tools could not be searched; the built-in index answers' };
    } finally {
      late.abort();
    }
  }

  /** Looks again at what there is to do: the database is back, another hub has embedded something. */
  flag(): void {
    this.#current?.flag();
    this.#next?.flag();
  }

  /** The part of the state that every user may know. It costs no work. */
  brief(): EmbeddingsBrief {
    const choice = this.#choice;
    const { place } = this.#options.store;
    if (choice.kind === 'builtin') return { provider: 'builtin', state: 'ready', vectors: 'builtin' };
    if (choice.kind === 'unusable') return { provider: choice.provider, state: 'degraded', vectors: 'builtin' };
    const { provider } = choice.service;
    if (this.#current?.fails ?? true) return { provider, state: 'degraded', vectors: place };
    const complete = !this.#next && this.#current?.complete === true;
    return { provider, state: complete ? 'ready' : 'indexing', vectors: place };
  }

  status(): EmbeddingsStatus {
    const choice = this.#choice;
    const state = this.#current?.state();
    const { place, problem } = this.#options.store;
    return {
      provider:
        choice.kind === 'hosted' ? choice.service.provider : choice.kind === 'builtin' ? 'builtin' : choice.provider,
      service: this.#current?.service,
      state,
      next: this.#next && { service: this.#next.service, state: this.#next.state() },
      problem: choice.kind === 'unusable' ? choice.why : (state?.problem?.reason ?? (state && problem)),
      place,
      servers: this.#servers(state),
    };
  }

  /** What is kept of vectors, of all models. Rejects with HubError `not_ready`. */
  contents(): Promise<readonly SpaceContents[]> {
    return this.#options.store.contents();
  }

  /** Embeds all tools again. Throws HubError `conflict` while that is under way. */
  reindex(): void {
    if (this.#next) throw saying('conflict', 'reindex_running');
    this.#current?.reindex();
  }

  /** Resolves when no indexing of all tools is under way any more, or after `timeoutMs`. */
  async reindexed(timeoutMs: number): Promise<void> {
    const timeout = new AbortController();
    const done = new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.#closed || !(this.#next || this.#current?.state().reindexing)) resolve();
      };
      this.#waiting.add(look);
      timeout.signal.addEventListener('abort', () => this.#waiting.delete(look));
      look();
    });
    await Promise.race([done, sleep(timeoutMs, undefined, { signal: timeout.signal, ref: false }).catch(() => {})]);
    timeout.abort();
  }

  /** Ends what is under way. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#tending);
    for (const look of this.#waiting) look();
    this.#end(this.#current);
    this.#end(this.#next);
    await Promise.all(this.#closing);
  }

  #servers(state: HostedState | undefined): EmbeddingsStatus['servers'] {
    const missing = new Set(state?.missing);
    const servers = new Map<string, { name: string; tools: number; embedded: number }>();
    for (const { key, server: name } of this.#tools) {
      const { tools, embedded } = servers.get(name) ?? { tools: 0, embedded: 0 };
      servers.set(name, { name, tools: tools + 1, embedded: embedded + (missing.has(key) ? 0 : 1) });
    }
    return [...servers.values()];
  }

  #useService(service: EmbeddingService): void {
    const { space } = service;
    const before = this.#next;
    if (!this.#current || this.#current.service.space === space) {
      this.#next = undefined;
      this.#end(before);
      if (this.#current) this.#current.use(service);
      else this.#current = this.#open(service);
    } else if (before?.service.space === space) {
      before.use(service);
    } else {
      this.#options.log.info('Another embedding model is indexed in the background', { model: service.model });
      this.#next = this.#open(service);
      this.#end(before);
    }
  }

  #open(service: EmbeddingService): HostedIndex {
    const { store, log, saved, pauses } = this.#options;
    const index = new HostedIndex({
      service,
      store,
      log,
      pauses,
      changed: (news) => {
        if (news) saved?.();
        this.#advance();
        for (const look of this.#waiting) look();
      },
    });
    index.sync(this.#tools);
    return index;
  }

  /** The next model takes over as soon as it can answer for every tool. */
  #advance(): void {
    if (this.#closed || !this.#next?.complete) return;
    const before = this.#current;
    this.#current = this.#next;
    this.#next = undefined;
    this.#options.log.info('The search uses another embedding model now', { model: this.#current.service.model });
    this.#end(before);
  }

  #end(index: HostedIndex | undefined): void {
    if (!index) return;
    const { space } = index.service;
    const ended = index.close().finally(() => {
      this.#closing.delete(ended);
      if (![this.#current, this.#next].some((used) => used?.service.space === space)) this.#options.store.forget(space);
    });
    this.#closing.add(ended);
  }

  async #tend(): Promise<void> {
    try {
      await this.#current?.tend();
    } catch (error) {
      this.#options.log.debug('Unused vectors could not be looked for', { error: errorText(error) });
    }
  }

  #answer({ service }: HostedIndex, { similarities, missing }: Found): HostedAnswer {
    if (similarities.size === 0) return { degraded: 'the tools are still being embedded; the built-in index answers' };
    const all = missing + similarities.size;
    const part = `${missing} of ${all} tools have no vector of the embedding service yet; the built-in index stands in for them`;
    const degraded = missing > 0 ? part : this.#options.store.problem;
    const { threshold, background } = service;
    return { hosted: { similarities, threshold, background }, ...(degraded !== undefined && { degraded }) };
  }
}

/** Rejects when a search takes longer than service and vectors together may. */
async function tooLate(signal: AbortSignal): Promise<Found> {
  await sleep(smartLimits.embeddingQueryMs + smartLimits.vectorSearchMs, undefined, { signal, ref: false });
  throw new HubError('timeout', 'the vectors of the tools could not be searched in time');
}
