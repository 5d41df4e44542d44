import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '../../core/errors.ts';
import type { AuditRecord } from '../../core/audit.ts';
import type { Logger } from '../../core/logger.ts';
import { auditLimits } from './limits.ts';

/** Records on their way to another program, in order. */
export interface Delivery {
  /** O(1), never throws. Past `auditLimits.sinkQueue` the oldest are dropped, which is logged. */
  add(records: readonly AuditRecord[]): void;
  /** Waits a moment for what is under way. Idempotent. */
  close(): Promise<void>;
}

export interface DeliveryOptions {
  /** All or nothing; tried again with the same records when it throws. */
  readonly send: (records: readonly AuditRecord[], signal: AbortSignal) => Promise<void>;
  readonly end?: () => void;
  /** For messages: `the webhook of the audit log`. */
  readonly name: string;
  readonly log: Logger;
  readonly firstRetryMs?: number;
}

export function createDelivery({ send, end, name, log, firstRetryMs }: DeliveryOptions): Delivery {
  const stop = new AbortController();
  const firstMs = firstRetryMs ?? auditLimits.sinkRetryFirstMs;
  let queue: AuditRecord[] = [];
  let dropped = 0;
  let running: Promise<void> | undefined;
  let isFailing = false;

  async function sendOnce(batch: readonly AuditRecord[]): Promise<boolean> {
    try {
      await send(batch, AbortSignal.any([stop.signal, AbortSignal.timeout(auditLimits.sinkMs)]));
      if (isFailing) log.info(`${name} takes records again`, dropped > 0 ? { dropped } : {});
      isFailing = false;
      dropped = 0;
      return true;
    } catch (error) {
      // Once for each time that it is away.
      if (!isFailing && !stop.signal.aborted)
        log.warn(`${name} does not take records; they are kept for a while and tried again`, {
          error: errorText(error),
        });
      isFailing = true;
      return false;
    }
  }

  async function run(): Promise<void> {
    for (let waitMs = firstMs; queue.length > 0 && !stop.signal.aborted;) {
      const batch = queue.slice(0, auditLimits.sinkBatch);
      const last = batch.at(-1);
      if (await sendOnce(batch)) {
        // Some of them may have been dropped meanwhile.
        queue = queue.filter(({ id }) => id > (last?.id ?? 0));
        waitMs = firstMs;
      } else {
        await sleep(waitMs, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
        waitMs = Math.min(waitMs * 2, auditLimits.sinkRetryMaxMs);
      }
    }
    running = undefined;
  }

  return {
    add(records) {
      if (stop.signal.aborted) return;
      queue.push(...records);
      const excess = queue.length - auditLimits.sinkQueue;
      if (excess > 0) {
        queue.splice(0, excess);
        dropped += excess;
      }
      running ??= run();
    },
    async close() {
      if (!isFailing) {
        const early = new AbortController();
        const late = sleep(auditLimits.sinkCloseMs, undefined, { signal: early.signal, ref: false });
        await Promise.race([running, late.catch(() => undefined)]);
        early.abort();
      }
      stop.abort();
      await running;
      end?.();
    },
  };
}
