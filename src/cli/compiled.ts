import { setFlags, withFlagsOfNode, withOwnFlags } from './v8-flags.ts';
import { isAscii } from 'node:buffer';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire, wrap } from 'node:module';
import { basename, join } from 'node:path';
import { Script } from 'node:vm';

/**
 * What V8 made of the files of a bundle is kept beside them, since compiling two megabytes takes longer than all else
 * in a start (decisions/0027).
 */
export interface Bundle {
  /**
   * The exports of the module in that file (`main.js`), which is run when it is asked for first; what it requires with
   * `./` comes from the bundle too.
   */
  load(file: string): unknown;
  /**
   * Keeps what was compiled so far of every file that was loaded, for a start with the same version of Node and the
   * same flags.
   */
  keep(): void;
}

interface Loaded {
  readonly exports: unknown;
}

const digestBytes = 32;

/**
 * The files of `folder` are CommonJS modules. What is kept of a file is used only when it was made of just that text,
 * is whole, and V8 takes it.
 */
export function openBundle(folder: string): Bundle {
  // The getter of Node is called whenever the clock is read, and takes as long as reading it.
  const clock = { value: performance, writable: true, configurable: true, enumerable: true };
  Object.defineProperty(globalThis, 'performance', clock);
  setFlags();
  // Where it is not told so, zod makes code for each kind of object that it checks, and has V8 compile it.
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
  const modules = new Map<string, Loaded>();
  const keptIn = join(folder, 'compiled');
  const compiled = new Map<string, Script>();

  function compile(file: string): Script {
    const bytes = readFileSync(join(folder, file));
    const cachedData = readKept(join(keptIn, `${file}.bin`), bytes);
    const text = bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
    // V8 keeps the name too: a whole path would show every user where the program was built, and would point to no file
    // in stack traces.
    const filename = join(basename(folder), file);
    const script = new Script(wrap(text), { filename, ...(cachedData && { cachedData }) });
    compiled.set(file, script);
    return script;
  }

  function load(file: string): unknown {
    const loaded = modules.get(file);
    if (loaded !== undefined) return loaded.exports;
    const module = { exports: {} };
    modules.set(file, module);
    const outside = createRequire(join(folder, file));
    const require = (id: string): unknown =>
      id.startsWith('./') ? load(id.slice(2)) : withFlagsOfNode(() => outside(id) as unknown);
    try {
      const run = withOwnFlags(() => compile(file)).runInThisContext() as (...scope: unknown[]) => void;
      // Node loads modules of its own also where something is used for the first time, as `Response` is.
      withFlagsOfNode(() => run.call(module.exports, module.exports, require, module, join(folder, file), folder));
    } catch (error) {
      // It is run again when it is asked for again.
      modules.delete(file);
      throw error;
    }
    return module.exports;
  }

  return {
    load,
    keep() {
      mkdirSync(keptIn, { recursive: true });
      for (const [file, script] of compiled) {
        const data = script.createCachedData();
        const own = digest(readFileSync(join(folder, file)), data);
        writeFileSync(join(keptIn, `${file}.bin`), Buffer.concat([own, data]));
      }
    },
  };
}

/**
 * V8 itself looks only at the length of the text, not at all at the data, and at its own version: two of Node may have
 * the same, with which the code of one goes wrong in the other.
 */
function readKept(path: string, text: Buffer): Buffer | undefined {
  try {
    const kept = readFileSync(path);
    const data = kept.subarray(digestBytes);
    return digest(text, data).equals(kept.subarray(0, digestBytes)) ? data : undefined;
  } catch {
    return undefined;
  }
}

function digest(text: Buffer, data: Buffer): Buffer {
  return createHash('sha256').update(process.version).update(text).update(data).digest();
}
