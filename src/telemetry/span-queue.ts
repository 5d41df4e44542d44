import { withTimeout } from '../core/with-timeout.ts';
import { telemetryLimits } from './limits.ts';
import type { RecordedSpan, SpanEnded } from './spans.ts';

/** Spans that are sent in one request. */
export interface SpanBatch {
  readonly count: number;
  /** False where it is full, and has not taken the span. The first one is always taken. */
  add(span: RecordedSpan): boolean;
}

export interface SpanQueueOptions<Batch extends SpanBatch> {
  /** A batch without spans. */
  readonly open: () => Batch;
  /** Calls `done` when it was delivered, or never will be. */
  readonly exporter: {
    export(batch: Batch, done: () => void): void;
    shutdown(): Promise<void>;
  };
  /** Spans wait so long at most while nothing else is being sent. */
  readonly everyMs: number;
}

export interface SpanQueue {
  readonly ended: SpanEnded;
  /** Sends what waits. */
  close(): Promise<void>;
}

/**
 * Spans that wait for the collector, as the processor of the library has them: one batch is sent at a time, at once
 * when it is full, and what would be too many is dropped. A span goes into its batch as soon as it ends.
 */
export function createSpanQueue<Batch extends SpanBatch>(options: SpanQueueOptions<Batch>): SpanQueue {
  const { open, exporter, everyMs } = options;
  const full: Batch[] = [];
  let current = open();
  let waiting = 0;
  let isSending = false;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function ended(span: RecordedSpan): void {
    if (isClosed || waiting >= telemetryLimits.queued) return;
    waiting++;
    if (!current.add(span)) {
      full.push(current);
      current = open();
      current.add(span);
      if (!isSending) void sendAll();
    }
    timer ??= setTimeout(late, everyMs).unref();
  }

  function late(): void {
    timer = undefined;
    if (!isSending) void sendAll();
  }

  /** A batch that is not full is sent only where no other came before it: what comes meanwhile is to join it. */
  async function sendAll(): Promise<void> {
    isSending = true;
    clearTimeout(timer);
    timer = undefined;
    for (let batch = full.shift() ?? taken(); batch; batch = full.shift()) await send(batch);
    isSending = false;
    if (waiting > 0 && !isClosed) timer ??= setTimeout(late, everyMs).unref();
  }

  function taken(): Batch | undefined {
    if (current.count === 0) return undefined;
    const batch = current;
    current = open();
    return batch;
  }

  async function send(batch: Batch): Promise<void> {
    waiting -= batch.count;
    const sent = new Promise<void>((resolve) => exporter.export(batch, resolve));
    // The next one may begin then.
    await withTimeout(sent, telemetryLimits.exportMs);
  }

  return {
    ended,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      const left = taken();
      await Promise.all([...full.splice(0), ...(left ? [left] : [])].map(send));
      await exporter.shutdown();
    },
  };
}
