import { onTestFinished } from 'vitest';

type Closer = () => Promise<unknown> | void;
const ofTheFile: Closer[] = [];
const underTheFile: Closer[] = [];

/**
 * Has something undone when the running test ends, or the test file when no test runs (beforeAll). Last come, first
 * undone.
 */
export function atEnd(close: Closer): void {
  try {
    onTestFinished(async () => {
      await close();
    });
  } catch {
    ofTheFile.push(close);
  }
}

/** Has something undone after everything else of the test file. Last come, first undone. */
export function atFileEnd(close: Closer): void {
  underTheFile.push(close);
}

/**
 * What `each-file.ts` does at the end of a test file. What fails keeps nothing else from being undone, for the next
 * file runs in the same process.
 */
export async function closeFile(): Promise<void> {
  const failures: unknown[] = [];
  for (const closers of [ofTheFile, underTheFile]) {
    while (closers.length > 0) {
      try {
        await closers.pop()?.();
      } catch (error) {
        failures.push(error);
      }
    }
  }
  if (failures.length > 0) throw failures[0];
}
