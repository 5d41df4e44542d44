import { coreLimits } from '../../../core/limits.ts';
import { upstreamLimits } from '../../limits.ts';

/**
 * Passes on the lines of a child process within a rate limit. Lines above the limit are left out, except the last ones:
 * they say what went wrong.
 */
export interface LogRateLimiter {
  add(line: string): void;
  /** Nothing more comes: writes the end of what was held back. */
  end(): void;
}

/**
 * How many lines a server may write: many at once, few over minutes, however often its process is started again. Below
 * 0 when the end of a flood was written although the budget was used up.
 */
export class LineBudget {
  #lines: number = upstreamLimits.serverLogBurstLines;
  #countedAt = performance.now();

  get lines(): number {
    const now = performance.now();
    const earned = ((now - this.#countedAt) / 1_000) * upstreamLimits.serverLogLinesPerSecond;
    this.#countedAt = now;
    this.#lines = Math.min(upstreamLimits.serverLogBurstLines, this.#lines + earned);
    return this.#lines;
  }

  spend(lines: number): void {
    this.#lines -= lines;
  }
}

/**
 * `write` gets each line, within `coreLimits.rawLogLineChars`, as long as the budget lasts. Then the last
 * `upstreamLimits.serverLogLastLines` are held back, and written in order after a line with the number of those left
 * out: when no line came for a moment, when the budget is large enough for them, and at the end.
 */
export function createLogRateLimiter(write: (line: string) => void, budget: LineBudget): LogRateLimiter {
  let held: string[] = [];
  let leftOut = 0;
  let heldAt = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Cut in batches: moving all of them for each line would cost more than the line. */
  function keepLast(): void {
    leftOut += Math.max(0, held.length - upstreamLimits.serverLogLastLines);
    held = held.slice(-upstreamLimits.serverLogLastLines);
  }

  function release(): void {
    clearTimeout(timer);
    timer = undefined;
    keepLast();
    budget.spend(held.length);
    if (leftOut > 0) write(`(${leftOut} lines were left out here)`);
    for (const line of held) write(line);
    held = [];
    leftOut = 0;
  }

  function look(): void {
    const isQuiet = performance.now() - heldAt >= upstreamLimits.serverLogPauseMs;
    if (budget.lines >= (isQuiet ? 0 : upstreamLimits.serverLogLastLines)) release();
    else timer = setTimeout(look, upstreamLimits.serverLogPauseMs).unref();
  }

  return {
    add(line) {
      const text = line.length > coreLimits.rawLogLineChars ? `${line.slice(0, coreLimits.rawLogLineChars)}…` : line;
      if (timer === undefined && budget.lines >= 1) {
        budget.spend(1);
        return write(text);
      }
      held.push(text);
      heldAt = performance.now();
      if (held.length >= upstreamLimits.serverLogLastLines * 2) keepLast();
      timer ??= setTimeout(look, upstreamLimits.serverLogPauseMs).unref();
    },
    end() {
      if (timer !== undefined) release();
    },
  };
}
