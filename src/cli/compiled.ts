import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire, wrap } from 'node:module';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';

/** What V8 made of the files of a bundle is kept beside them, since compiling two megabytes takes longer than all else in a start (decisions/0027). */
export interface Bundle {
  /** The exports of the module in that file (`main.js`), which is run when it is asked for first; what it requires with `./` comes from the bundle too. */
  load(file: string): unknown;
  /** Keeps what was compiled so far of every file that was loaded, for a start with the same version of Node and the same flags. */
  keep(): void;
}

interface Loaded {
  readonly exports: unknown;
}

const digestBytes = 32;

/** V8 takes only what was made with the same flags. The hub is started in two ways: by the command itself, and with the flag that `npm start` gives. */
const plain = 'compiled';
const flagged = 'compiled-start';

/** The files of `folder` are CommonJS modules. What is kept of a file is used only when it was made of just that text, is whole, and V8 takes it. */
export function openBundle(folder: string): Bundle {
  const modules = new Map<string, Loaded>();
  let variant = process.execArgv.some((flag) => flag.startsWith('--max-semi-space-size')) ? flagged : plain;
  const compiled = new Map<string, { readonly text: string; readonly script: Script }>();

  function compile(file: string): Script {
    const text = readFileSync(join(folder, file), 'utf8');
    const script = (variant: string): Script => {
      const cachedData = readKept(keptPath(folder, variant, file), text);
      return new Script(wrap(text), { filename: join(folder, file), ...(cachedData && { cachedData }) });
    };
    let made = script(variant);
    if (made.cachedDataRejected === true) {
      // The flags may be those of NODE_OPTIONS.
      variant = variant === plain ? flagged : plain;
      made = script(variant);
    }
    compiled.set(file, { text, script: made });
    return made;
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
      for (const [file, { text, script }] of compiled) {
        const data = script.createCachedData();
        const path = keptPath(folder, variant, file);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, Buffer.concat([digest(text, data), data]));
      }
    },
  };
}

function keptPath(folder: string, variant: string, file: string): string {
  return join(folder, variant, `${file}.bin`);
}

/** V8 itself looks only at the length of the text, and not at all at the data. */
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
  return createHash('sha256').update(text).update(data).digest();
}
