import { createRequire } from 'node:module';
import type * as Cedar from '@cedar-policy/cedar-wasm/nodejs';

type Engine = typeof Cedar;

let loaded: Engine | undefined;
let loads = 0;

/**
 * Uses the Cedar engine, which is loaded when it is first needed: a hub without policies never pays for its 4 MB. What
 * the engine throws, as opposed to what it answers, means that its memory may be damaged (a stack that overflowed): the
 * next use gets a fresh one. `load` differs between two engines, so that what was prepared in one is not sought in
 * another.
 */
export function withCedar<T>(use: (cedar: Engine, load: number) => T): T {
  loaded ??= fresh();
  try {
    return use(loaded, loads);
  } catch (error) {
    loaded = undefined;
    throw error;
  }
}

function fresh(): Engine {
  const require = createRequire(import.meta.url);
  const path = require.resolve('@cedar-policy/cedar-wasm/nodejs');
  delete require.cache[path];
  loads += 1;
  return require(path) as Engine;
}

/** Whether the engine was loaded in this process. */
export function cedarIsLoaded(): boolean {
  return loaded !== undefined;
}
