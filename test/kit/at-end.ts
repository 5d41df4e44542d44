import { afterAll, onTestFinished } from 'vitest';

type Closer = () => Promise<unknown> | void;
const ofTheFile: Closer[] = [];

/** Has something undone when the running test ends, or the test file when no test runs (beforeAll). Last come, first undone. */
export function atEnd(close: Closer): void {
  try {
    onTestFinished(async () => {
      await close();
    });
  } catch {
    ofTheFile.push(close);
  }
}

/** Has something undone after everything else of the test file. */
export function atFileEnd(close: Closer): void {
  ofTheFile.unshift(close);
}

afterAll(async () => {
  while (ofTheFile.length > 0) await ofTheFile.pop()?.();
});
