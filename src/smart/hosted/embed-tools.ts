import { setTimeout as sleep } from 'node:timers/promises';
import { errorText, HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { smartLimits } from '../limits.ts';
import { unusable } from './embedding-answer.ts';
import type { HostedService } from './service.ts';
import type { VectorStore } from '../vector-store.ts';

/** What one run of embedding works with, and whom it tells. */
export interface EmbedRun {
  readonly hosted: HostedService;
  readonly store: VectorStore;
  readonly log: Logger;
  /** Also what has a vector. */
  readonly again: boolean;
  /** The text of a hash; undefined when its vector is not needed any more. */
  readonly text: (hash: string) => string | undefined;
  /** Throws HubError for a vector that is not of the space. */
  readonly checkSize: (vector: Float32Array) => void;
  readonly saved: (hashes: Iterable<string>) => void;
  readonly refused: (hash: string, why: string) => void;
}

/**
 * Embeds texts in batches until all are done, the service fails, or the run is stopped; what is left over is for a
 * later run. `others`: some are being embedded by another hub.
 */
export async function embedTools(hashes: readonly string[], run: EmbedRun): Promise<{ others: boolean }> {
  const { store, log } = run;
  const { service, breaker, stopped } = run.hosted;
  const queue = [...hashes];
  const progress = reporter(log, service.model, queue.length);
  const size = batchSize();
  let others = false;
  let refusals = 0;
  while (queue.length > 0 && !stopped.aborted && !breaker.reason) {
    const batch = take(queue, run, size.most);
    if (batch.length === 0) continue;
    const mine = await store.claim(service.space, batch, run.again);
    const claimed = batch.filter((hash) => mine.has(hash));
    others ||= claimed.length < batch.length;
    if (claimed.length === 0) continue;
    progress(0);
    const { embedded, again = false, refusal } = await embedBatch(claimed, run);
    if (again) queue.unshift(...claimed);
    size.learn(claimed.length, again);
    progress(embedded);
    // One after the other is refused: then it is not the texts.
    refusals = embedded > 0 ? 0 : refusals + (refusal ? 1 : 0);
    if (refusal && refusals === smartLimits.embeddingRefusals) breaker.failed(refusal);
    if (service.pacingMs > 0 && queue.length > 0)
      await sleep(service.pacingMs, undefined, { signal: stopped }).catch(() => {});
  }
  return { others };
}

/** The next texts, as many as one request may have. */
function take(queue: string[], { text, hosted }: EmbedRun, most: number): string[] {
  const batch: string[] = [];
  let room: number = smartLimits.embeddingBatchTokens;
  while (batch.length < most) {
    const [hash] = queue;
    if (hash === undefined) break;
    // Four characters to a token, as cut-to-tokens.ts has it at best; no text has more than the model reads.
    const tokens = Math.min(hosted.service.maxTokens, text(hash)?.length ?? 0);
    if (tokens > room && batch.length > 0) break;
    queue.shift();
    if (text(hash) === undefined) continue;
    room -= tokens;
    batch.push(hash);
  }
  return batch;
}

interface Outcome {
  readonly embedded: number;
  /** The batch is to be tried again in smaller ones. */
  readonly again?: boolean;
  /** Why the only text of the batch was refused. */
  readonly refusal?: HubError;
}

async function embedBatch(batch: readonly string[], run: EmbedRun): Promise<Outcome> {
  const { store } = run;
  const { service, breaker, embedder, stopped } = run.hosted;
  try {
    const vectors = await embedder.embed(
      batch.map((hash) => run.text(hash) ?? ''),
      smartLimits.embeddingBatchMs,
      stopped,
    );
    const good = new Map<string, Float32Array>();
    const bad = new Map<string, string>();
    for (const [i, hash] of batch.entries()) {
      const vector = vectors[i];
      if (vector instanceof Float32Array) good.set(hash, vector);
      else bad.set(hash, vector?.refused ?? 'there is no vector');
    }
    for (const vector of good.values()) run.checkSize(vector);
    // When none is good it is the service that fails, and not the texts.
    const [why] = bad.values();
    if (good.size === 0 && batch.length > 1) throw unusable(why);
    await saveUntilKept(good, run);
    for (const [hash, why] of bad) run.refused(hash, why);
    if (bad.size > 0) await store.release(service.space, [...bad.keys()]);
    breaker.worked();
    run.saved(good.keys());
    return { embedded: good.size };
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    await store.release(service.space, batch).catch(() => {});
    if (error.code === 'cancelled' || error.code === 'not_ready') return { embedded: 0 };
    // Too many at once, or one of them is too long: smaller requests find out.
    if (batch.length > 1 && (error.code === 'invalid_input' || error.code === 'timeout'))
      return { embedded: 0, again: true };
    const [hash] = batch;
    if (error.code === 'invalid_input' && hash !== undefined) {
      return await embedShortened(hash, error, run);
    }
    breaker.failed(error);
    return { embedded: 0 };
  }
}

/** A single text that is refused is mostly too long by the model's own count. */
async function embedShortened(hash: string, first: HubError, run: EmbedRun): Promise<Outcome> {
  const { embedder, breaker, stopped } = run.hosted;
  let text = run.text(hash) ?? '';
  let last = first;
  while (text.length > smartLimits.embeddingShortestChars && !stopped.aborted) {
    text = text.slice(0, text.length / 2);
    try {
      const [vector] = await embedder.embed([text], smartLimits.embeddingBatchMs, stopped);
      if (!(vector instanceof Float32Array)) {
        run.refused(hash, vector?.refused ?? 'there is no vector');
        return { embedded: 0 };
      }
      run.checkSize(vector);
      await saveUntilKept(new Map([[hash, vector]]), run);
      breaker.worked();
      run.saved([hash]);
      return { embedded: 1 };
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      if (error.code === 'cancelled' || error.code === 'not_ready') return { embedded: 0 };
      if (error.code !== 'invalid_input') {
        breaker.failed(error);
        return { embedded: 0 };
      }
      last = error;
    }
  }
  const said = last.cause === undefined ? '' : `: ${errorText(last.cause)}`;
  run.log.warn('The embedding service refuses a tool', { reason: `${last.message}${said}` });
  run.refused(hash, last.message);
  return { embedded: 0, refusal: last };
}

/** What was paid for is not thrown away because the database is away for a moment. */
async function saveUntilKept(vectors: ReadonlyMap<string, Float32Array>, { store, hosted }: EmbedRun): Promise<void> {
  const { service, stopped } = hosted;
  for (;;) {
    try {
      return await store.save(service.space, vectors);
    } catch (error) {
      if (!(error instanceof HubError) || error.code !== 'not_ready' || stopped.aborted) throw error;
      await sleep(smartLimits.embeddingSavePauseMs, undefined, { signal: stopped }).catch(() => {});
    }
  }
}

/**
 * How many texts one request has: half as many after one that was too large, and after some that were not twice as many
 * again.
 */
function batchSize() {
  let most: number = smartLimits.embeddingBatch;
  let good = 0;
  return {
    get most() {
      return most;
    },
    learn(asked: number, tooLarge: boolean): void {
      good = tooLarge ? 0 : good + 1;
      if (tooLarge) most = Math.max(1, Math.floor(asked / 2));
      else if (good % goodUntilMore === 0) most = Math.min(smartLimits.embeddingBatch, most * 2);
    },
  };
}

/**
 * One text that is too long makes requests small, but not those of all tools after it; a service that takes few at once
 * refuses one of nine.
 */
const goodUntilMore = 8;

/** Progress for the log: when the first texts are asked for, at each tenth of a longer run, at the end. */
function reporter(log: Logger, model: string, total: number): (more: number) => void {
  let done = 0;
  let said: number | undefined;
  return (more) => {
    if (said === undefined) log.info('Embedding tools', { model, tools: total });
    said ??= 0;
    done += more;
    if (more === 0 || (done < total && done - said < Math.max(smartLimits.embeddingBatch, total / 10))) return;
    said = done;
    log.info('Embedded tools', { model, done, of: total });
  };
}
