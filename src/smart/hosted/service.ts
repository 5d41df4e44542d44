import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { smartLimits } from '../limits.ts';
import { type Breaker, createBreaker } from './breaker.ts';
import { createHostedEmbedder, type HostedEmbedder } from './embedder.ts';
import { unusable } from './embedding-answer.ts';
import type { EmbeddingService } from './embedding-choice.ts';
import { createQueryVectors, type QueryVectors } from './query-vectors.ts';

/** A service with what is needed to ask it without harm. */
export interface HostedService {
  readonly service: EmbeddingService;
  readonly embedder: HostedEmbedder;
  readonly breaker: Breaker;
  readonly queries: QueryVectors;
  /** Aborted by `close`. */
  readonly stopped: AbortSignal;
  close(): Promise<void>;
}

/** Pauses other than the usual ones, for tests. */
export interface Pauses {
  readonly queryMs?: number;
  readonly firstMs?: number;
  readonly mostMs?: number;
}

export interface HostedServiceOptions {
  readonly log: Logger;
  /** Throws HubError for a vector that is not of the space. */
  readonly checkSize: (vector: Float32Array) => void;
  /** Called when it begins to fail, and when it can be asked again. */
  readonly changed: (fails: boolean) => void;
  readonly pauses: Pauses;
}

export function openHostedService(service: EmbeddingService, options: HostedServiceOptions): HostedService {
  const { log, checkSize, changed, pauses } = options;
  const stop = new AbortController();
  const embedder = createHostedEmbedder(service);
  const breaker = createBreaker({
    async trial(signal) {
      const [vector] = await embedder.embed(['search'], pauses.queryMs ?? smartLimits.embeddingQueryMs, signal);
      if (!(vector instanceof Float32Array)) throw unusable(vector?.refused);
      checkSize(vector);
    },
    changed(reason) {
      if (reason) {
        const said = reason.cause === undefined ? {} : { said: errorText(reason.cause) };
        const message = 'The embedding service cannot be used; searches go on with the built-in index';
        log.warn(message, { reason: reason.message, ...said });
      } else log.info('The embedding service can be used again', { model: service.model });
      changed(reason !== undefined);
    },
    ...pauses,
  });
  return {
    service,
    embedder,
    breaker,
    queries: createQueryVectors(embedder, breaker, checkSize, pauses.queryMs),
    stopped: stop.signal,
    async close() {
      stop.abort();
      breaker.close();
      await embedder.close();
    },
  };
}
