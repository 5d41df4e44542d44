import { limits } from '../../core/limits.ts';

/** Passes on the lines of a talkative child as far as a log can take them, and counts the rest. */
export interface Noise {
  add(line: string): void;
  /** Reports what was held back. */
  flush(): void;
}

/** `write` gets at most `limits.noiseLinesPerSecond` lines per second, each within `limits.logLineChars`, and after a burst one line with the count of the rest. */
export function noiseGate(write: (line: string) => void): Noise {
  let second = 0;
  let passed = 0;
  let suppressed = 0;

  function flush(): void {
    if (suppressed > 0) write(`(${suppressed} more lines like these were left out)`);
    suppressed = 0;
  }

  return {
    add(line) {
      const now = Math.floor(Date.now() / 1000);
      if (now !== second) {
        second = now;
        passed = 0;
        flush();
      }
      if (passed < limits.noiseLinesPerSecond) {
        passed++;
        write(line.length > limits.logLineChars ? `${line.slice(0, limits.logLineChars)}…` : line);
      } else {
        suppressed++;
      }
    },
    flush,
  };
}
