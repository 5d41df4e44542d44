import { limits } from '../../core/limits.ts';

/** Passes on the lines of a talkative child as far as a log can take them. What is too much is left out, but for its end: that says what went wrong. */
export interface Noise {
  add(line: string): void;
  /** Nothing more comes: writes the end of what was held back. */
  end(): void;
}

/** How many lines a server may write: many at once, few over minutes, however often its process is started anew. Below 0 where the end of a flood was written all the same. */
export class LineBudget {
  #lines: number = limits.noiseBurstLines;
  #countedAt = performance.now();

  get lines(): number {
    const now = performance.now();
    const earned = ((now - this.#countedAt) / 1_000) * limits.noiseLinesPerSecond;
    this.#countedAt = now;
    this.#lines = Math.min(limits.noiseBurstLines, this.#lines + earned);
    return this.#lines;
  }

  spend(lines: number): void {
    this.#lines -= lines;
  }
}

/**
 * `write` gets each line, within `limits.logLineChars`, as long as the budget lasts. Then the last `limits.noiseLastLines` are held back, and written in order behind a line with the number of those
 * left out: when no line came for a moment, when the budget has room for them, and at the end.
 */
export function noiseGate(write: (line: string) => void, budget: LineBudget): Noise {
  let held: string[] = [];
  let leftOut = 0;
  let heldAt = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Cut in batches: moving all of them for each line would cost more than the line. */
  function keepLast(): void {
    leftOut += Math.max(0, held.length - limits.noiseLastLines);
    held = held.slice(-limits.noiseLastLines);
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
    const isQuiet = performance.now() - heldAt >= limits.noisePauseMs;
    if (budget.lines >= (isQuiet ? 0 : limits.noiseLastLines)) release();
    else timer = setTimeout(look, limits.noisePauseMs).unref();
  }

  return {
    add(line) {
      const text = line.length > limits.logLineChars ? `${line.slice(0, limits.logLineChars)}…` : line;
      if (timer === undefined && budget.lines >= 1) {
        budget.spend(1);
        return write(text);
      }
      held.push(text);
      heldAt = performance.now();
      if (held.length >= limits.noiseLastLines * 2) keepLast();
      timer ??= setTimeout(look, limits.noisePauseMs).unref();
    },
    end() {
      if (timer !== undefined) release();
    },
  };
}
