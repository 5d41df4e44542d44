import { createHash } from 'node:crypto';
import type { SearchedTool, ToolDocument } from '../document.ts';
import { smartLimits } from '../limits.ts';

/** Which tools there are, which of them have a vector in one space, and which are to get one. */
export interface Coverage {
  readonly tools: number;
  /** Hashes of all texts, each once. */
  hashes(): string[];
  hashOf(key: string): string | undefined;
  text(hash: string): string | undefined;
  /** Takes over what the tools are now, a step for each and the last for all: until then everything is as it was. */
  sync(offered: readonly SearchedTool[]): Generator<void>;
  /** Texts are read to another length from the next `sync` on. */
  readAnew(readable: (text: string) => string): void;
  has(hash: string): boolean;
  /** Hashes of which it is not known that they have a vector. */
  unknown(): string[];
  /** Which of them have a vector has to be checked again; until then what was known counts. */
  doubt(): void;
  readonly doubted: boolean;
  /** What was found among `asked`, the hashes that `unknown` gave. */
  found(asked: readonly string[], hashes: Iterable<string>): void;
  /** Hashes that got a vector just now. */
  embedded(hashes: Iterable<string>): void;
  refused(hash: string, why: string): void;
  /** All are to be embedded, also those with a vector. */
  again(): void;
  readonly reindexing: boolean;
  /** What is to be embedded now. */
  todo(): string[];
  /** When a refused text is to be tried again, in milliseconds since 1970; undefined when there is none. */
  nextTry(): number | undefined;
  /** Those who were refused are tried again at once. */
  forgive(): void;
  /** Keys of tools without a vector. */
  missing(): string[];
  /** Why texts were refused, each reason once. */
  refusals(): string[];
  /** Every text has a vector or was refused. */
  complete(): boolean;
}

export function createCoverage(space: string, readable: (text: string) => string): Coverage {
  let hashed = hasher(space, readable);
  let tools = new Map<string, string>();
  let texts = new Map<string, string>();
  const present = new Set<string>();
  let doubted = false;
  const refused = new Map<string, { why: string; until: number }>();
  let redo: Set<string> | undefined;

  function* sync(offered: readonly SearchedTool[]): Generator<void> {
    const [keys, read] = [new Map<string, string>(), new Map<string, string>()];
    for (const tool of offered) {
      const { hash, text } = hashed(tool);
      keys.set(tool.key, hash);
      read.set(hash, text);
      yield;
    }
    tools = keys;
    texts = read;
    for (const set of [present, refused, redo ?? new Set<string>()])
      for (const hash of set.keys()) if (!texts.has(hash)) set.delete(hash);
    settle([]);
  }

  function settle(hashes: Iterable<string>): void {
    for (const hash of hashes) redo?.delete(hash);
    if (redo?.size === 0) redo = undefined;
  }

  return {
    get tools() {
      return tools.size;
    },
    get reindexing() {
      return redo !== undefined;
    },
    hashes: () => [...texts.keys()],
    hashOf: (key) => tools.get(key),
    text: (hash) => texts.get(hash),
    sync,
    readAnew(next) {
      hashed = hasher(space, next);
    },
    has: (hash) => present.has(hash),
    unknown: () => [...texts.keys()].filter((hash) => doubted || !present.has(hash)),
    doubt() {
      doubted = true;
    },
    get doubted() {
      return doubted;
    },
    found(asked, hashes) {
      // What came while it was looked is not among those asked about.
      if (doubted) for (const hash of asked) present.delete(hash);
      doubted = false;
      for (const hash of hashes) if (texts.has(hash)) present.add(hash);
    },
    embedded(hashes) {
      for (const hash of hashes) {
        if (texts.has(hash)) present.add(hash);
        refused.delete(hash);
        redo?.delete(hash);
      }
      settle([]);
    },
    refused(hash, why) {
      refused.set(hash, { why, until: Date.now() + smartLimits.embeddingRefusedMs });
      settle([hash]);
    },
    again() {
      redo = new Set(texts.keys());
      refused.clear();
      settle([]);
    },
    todo() {
      const now = Date.now();
      const wanted = redo ? [...redo] : [...texts.keys()].filter((hash) => !present.has(hash));
      return wanted.filter((hash) => (refused.get(hash)?.until ?? 0) <= now);
    },
    nextTry() {
      const times = Array.from(refused.values(), ({ until }) => until);
      return times.length === 0 ? undefined : times.reduce((a, b) => Math.min(a, b));
    },
    forgive: () => refused.clear(),
    missing: () => [...tools].flatMap(([key, hash]) => (present.has(hash) ? [] : [key])),
    refusals: () => [...new Set(Array.from(refused.values(), ({ why }) => why))],
    complete: () => present.size + [...refused.keys()].filter((hash) => !present.has(hash)).length >= texts.size,
  };
}

/**
 * The text and its hash are made once for a tool; the hash is the same for equal texts, in every process and for
 * ever.
 */
function hasher(space: string, readable: (text: string) => string): (tool: SearchedTool) => Hashed {
  const known = new WeakMap<SearchedTool, Hashed>();
  return (tool) => {
    const text = known.get(tool)?.text ?? readable(textOf(tool.document()));
    const hash =
      known.get(tool)?.hash ?? createHash('sha256').update(`${space}\n${text}`).digest('base64url').slice(0, 22);
    known.set(tool, { hash, text });
    return { hash, text };
  };
}

interface Hashed {
  readonly hash: string;
  readonly text: string;
}

/** What a service reads of a tool: its name, where it belongs, what it does and what it wants. */
function textOf({ name, server, description, parameterNames }: ToolDocument): string {
  const parameters = parameterNames === '' ? '' : `\nParameters: ${parameterNames.replaceAll(' ', ', ')}`;
  return `${name} (${server})\n${description}${parameters}`;
}
