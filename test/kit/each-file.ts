import { afterAll } from 'vitest';
import { closeFile } from './at-end.ts';

// Test files share a process, and the modules in it: these lines run for each of them, ahead of it.
afterAll(closeFile);

// What a hub in this process logs belongs to the test that runs, as its own console does, and is shown when that fails.
process.stdout.write = (text: string | Uint8Array) => {
  // oxlint-disable-next-line no-console
  console.log(String(text).trimEnd());
  return true;
};
