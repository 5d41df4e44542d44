import { afterAll, afterEach, beforeEach } from 'vitest';
import { authLimits } from '../../src/auth/limits.ts';
import { closeFile } from './at-end.ts';
import { setLimits } from './limits.ts';

// Test files share a process, and the modules in it: these lines run for each of them, ahead of it.
afterAll(closeFile);

// Every hub makes a hash and every login verifies one. At their full cost that is a tenth of what the tests compute;
// `src/auth/passwords.test.ts` looks at that cost, and so do the tests that start the hub as a process.
setLimits(authLimits, { hashMemoryKiB: 256, hashPasses: 1 });

// What a hub in this process logs belongs to the test that runs, as its own console does, and is shown when that fails.
// Kept until then: to hand each line to the process that reports costs more than most lines themselves.
let kept: string[] | undefined;
// oxlint-disable-next-line no-console
const show = (text: string) => console.log(text.trimEnd());
process.stdout.write = (text: string | Uint8Array) => {
  if (kept === undefined) show(String(text));
  else if (kept.push(String(text)) > 20_000) kept.splice(0, 10_000);
  return true;
};
beforeEach(() => void (kept = []));
afterEach(({ task }) => {
  if (task.result?.state === 'fail' && kept !== undefined && kept.length > 0) show(kept.join(''));
  kept = undefined;
});
