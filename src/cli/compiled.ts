import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire, wrap } from 'node:module';
import { basename, join } from 'node:path';
import { cachedDataVersionTag, setFlagsFromString } from 'node:v8';
import { constants, Script } from 'node:vm';

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
const tagName = 'v8-tag';

/**
 * The files of `folder` are CommonJS modules. What is kept of a file is used only when it was made of just that text,
 * is whole, and V8 takes it.
 */
export function openBundle(folder: string): Bundle {
  // Before anything is compiled, since what is kept goes by the flags (decisions/0029).
  setFlagsFromString('--no-allocation-site-pretenuring');
  // Or V8 goes through the whole heap over and over.
  setFlagsFromString('--heap-growing-percent=300');
  const modules = new Map<string, Loaded>();
  const variant = variantFor(folder);
  const compiled = new Map<string, { readonly text: string; readonly script: Script }>();

  function compile(file: string): Script {
    const text = readFileSync(join(folder, file), 'utf8');
    const cachedData = readKept(join(variant, `${file}.bin`), text);
    // V8 keeps the name too: a whole path would show every user where the program was built, and would point to no file
    // in stack traces.
    const filename = join(basename(folder), file);
    // Libraries import modules of Node when they are needed, as that which sends to a collector does.
    const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
    const script = new Script(wrap(text), { filename, importModuleDynamically, ...(cachedData && { cachedData }) });
    compiled.set(file, { text, script });
    return script;
  }

  function load(file: string): unknown {
    const loaded = modules.get(file);
    if (loaded !== undefined) return loaded.exports;
    const module = { exports: {} };
    modules.set(file, module);
    const outside = createRequire(join(folder, file));
    const require = (id: string): unknown => (id.startsWith('./') ? load(id.slice(2)) : outside(id));
    const run = compile(file).runInThisContext() as (...scope: unknown[]) => void;
    run.call(module.exports, module.exports, require, module, join(folder, file), folder);
    return module.exports;
  }

  return {
    load,
    keep() {
      mkdirSync(variant, { recursive: true });
      for (const [file, { text, script }] of compiled) {
        const data = script.createCachedData();
        writeFileSync(join(variant, `${file}.bin`), Buffer.concat([digest(text, data), data]));
      }
      writeFileSync(join(variant, tagName), String(cachedDataVersionTag()));
    },
  };
}

/**
 * The folder of what was made with the flags of this process: V8 takes nothing else, and what it refuses it has
 * compiled by then. There are two, for a start with the flag that `npm start` gives and for one with none. The tag says
 * which it is, but for another processor too: then the arguments do, where it may be that `NODE_OPTIONS` say more.
 */
function variantFor(folder: string): string {
  const [plain, flagged] = [join(folder, 'compiled'), join(folder, 'compiled-start')];
  const tag = String(cachedDataVersionTag());
  const isFlagged = process.execArgv.some((flag) => flag.startsWith('--max-semi-space-size'));
  return [plain, flagged].find((variant) => tagOf(variant) === tag) ?? (isFlagged ? flagged : plain);
}

function tagOf(variant: string): string | undefined {
  try {
    return readFileSync(join(variant, tagName), 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * V8 itself looks only at the length of the text, not at all at the data, and at its own version: two of Node may have
 * the same, with which the code of one goes wrong in the other.
 */
function readKept(path: string, text: string): Buffer | undefined {
  try {
    const kept = readFileSync(path);
    const data = kept.subarray(digestBytes);
    return digest(text, data).equals(kept.subarray(0, digestBytes)) ? data : undefined;
  } catch {
    return undefined;
  }
}

function digest(text: string, data: Buffer): Buffer {
  return createHash('sha256').update(process.version).update(text).update(data).digest();
}
