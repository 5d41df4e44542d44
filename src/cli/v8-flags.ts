import { setFlagsFromString } from 'node:v8';

// V8 takes what Node has compiled ahead of its own modules only where all flags are as they were when Node was built,
// and compiles them itself where one is not: a seventh of the CPU time until the first server is started. So this
// module comes before all that need those of Node. By now V8 has made the young generation of this thread as large as
// `npm start` has it, and it stays so. Threads that start later get V8's default, half of that.
setFlagsFromString('--max-semi-space-size=0');

/** The flags that the hub sets (decisions/0029), each with what V8 has without it. */
const flags = [
  ['--no-allocation-site-pretenuring', '--allocation-site-pretenuring'],
  // Or V8 goes through the whole heap over and over.
  ['--heap-growing-percent=300', '--heap-growing-percent=0'],
] as const;

/** What V8 has kept of the files of the hub goes by them, so they come before those. */
export function setFlags(): void {
  for (const [own] of flags) setFlagsFromString(own);
}

/** Loads modules of Node with the flags that it was built with. */
export function withFlagsOfNode<T>(load: () => T): T {
  for (const [, usual] of flags) setFlagsFromString(usual);
  try {
    return load();
  } finally {
    setFlags();
  }
}
