import { setTimeout as sleep } from 'node:timers/promises';
import { HubError } from '../../core/errors.ts';
import { putLast } from '../../core/put-last.ts';
import { smartLimits } from '../limits.ts';
import type { Breaker } from './breaker.ts';
import type { HostedEmbedder } from './embedder.ts';
import { unusable } from './embedding-answer.ts';

/** Vectors of what is searched for. */
export interface QueryVectors {
  /**
   * Rejects with HubError, at once while the breaker is open and after `smartLimits.embeddingQueryMs` at the latest.
   */
  of(query: string): Promise<Float32Array>;
}

/**
 * The same query is asked for once: while it is under way, and as long as it is among the last ones. `check` throws for
 * a vector of the wrong size.
 */
export function createQueryVectors(
  embedder: Pick<HostedEmbedder, 'embed' | 'readable'>,
  breaker: Breaker,
  check: (vector: Float32Array) => void,
  timeoutMs: number = smartLimits.embeddingQueryMs,
): QueryVectors {
  const known = new Map<string, Float32Array>();
  const underWay = new Map<string, Promise<Float32Array>>();

  async function ask(text: string): Promise<Float32Array> {
    const end = performance.now() + timeoutMs;
    const { signal } = breaker;
    let asked = text;
    for (let again = false; ; again = true) {
      try {
        const [embedded] = await embedder.embed([asked], Math.max(1, end - performance.now()), signal);
        if (!(embedded instanceof Float32Array)) throw unusable(embedded?.refused);
        check(embedded);
        breaker.worked();
        return embedded;
      } catch (error) {
        if (!(error instanceof HubError)) throw error;
        // Others have found out meanwhile; their reason is better than "cancelled".
        if (signal.aborted) throw breaker.reason ?? error;
        // A text that is refused says nothing about the service; mostly it is too long by the model's own count.
        if (error.code === 'invalid_input') {
          if (asked.length <= smartLimits.embeddingShortestChars) throw error;
          asked = asked.slice(0, asked.length / 2);
          continue;
        }
        const pauseMs = again ? undefined : pauseBefore(error);
        if (pauseMs === undefined || performance.now() + pauseMs > end) {
          breaker.failed(error);
          throw error;
        }
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  const remember = (text: string, vector: Float32Array): void =>
    putLast(known, text, vector, smartLimits.embeddedQueries);

  return {
    async of(query) {
      const text = embedder.readable(query);
      const found = known.get(text);
      if (found) {
        remember(text, found);
        return found;
      }
      if (breaker.reason) throw breaker.reason;
      const asked = underWay.get(text) ?? ask(text).finally(() => underWay.delete(text));
      underWay.set(text, asked);
      const vector = await asked;
      remember(text, vector);
      return vector;
    },
  };
}

/** How long after a failure that may have been a single one it is tried once more; undefined = not at all. */
function pauseBefore({ code, retryAfterMs }: HubError): number | undefined {
  const most = smartLimits.embeddingQueryPauseMostMs;
  if (code === 'too_many') return retryAfterMs !== undefined && retryAfterMs <= most ? retryAfterMs : undefined;
  return code === 'upstream_unavailable'
    ? Math.min(retryAfterMs ?? smartLimits.embeddingQueryPauseMs, most)
    : undefined;
}
