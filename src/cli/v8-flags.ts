import { setFlagsFromString } from 'node:v8';

// V8 takes what Node has compiled ahead of its own modules only where all flags are as they were when Node was built,
// and compiles them itself where one is not: a seventh of the CPU time until the first server is started.

/** What V8 has without a flag of ours; that of Node 20 is older than the others. */
const usualTieringBudget = Number(process.versions.node.split('.', 1)[0]) < 22 ? 1_800_000 : 13_000_000;

/** The flags that the hub sets (decisions/0029), each with what V8 has without it. */
const flags = [
  ['--no-allocation-site-pretenuring', '--allocation-site-pretenuring'],
  // Or V8 goes through the whole heap over and over.
  ['--heap-growing-percent=300', '--heap-growing-percent=0'],
  // WebAssembly is optimised later: for undici's HTTP parser that takes up to a second of CPU time and 29 MB, which the
  // C library keeps. `database/embedded-worker.ts` sets the same.
  ['--wasm-tiering-budget=2000000000', `--wasm-tiering-budget=${usualTieringBudget}`],
] as const;

/** What all flags that are set here are in a V8 that nothing was told. */
export const usualFlags: readonly string[] = flags.map(([, usual]) => usual);

const ownFlags = flags.map(([own]) => own);
let current = usualFlags;

function set(wanted: readonly string[]): void {
  if (wanted !== current) for (const flag of wanted) setFlagsFromString(flag);
  current = wanted;
}

function withFlags<T>(wanted: readonly string[], work: () => T): T {
  const before = current;
  set(wanted);
  try {
    return work();
  } finally {
    set(before);
  }
}

/** From now on the flags are those of the hub, but for what is done by the functions below. */
export const setFlags = (): void => set(ownFlags);

/** Compiles files of the hub: what V8 keeps of them goes by the hub's own flags. */
export const withOwnFlags = <T>(compile: () => T): T => withFlags(ownFlags, compile);

/** Loads modules of Node, or runs what may do so, with the flags that Node was built with. */
export const withFlagsOfNode = <T>(load: () => T): T => withFlags(usualFlags, load);
