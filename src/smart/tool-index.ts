import { createHash } from 'node:crypto';
import { actionsOfTool } from './words/actions.ts';
import type { ToolDocument } from './document.ts';
import type { LocalEmbedder } from './embedder-local.ts';
import { createLexical, type Lexical } from './words/lexical.ts';
import { createDocumentIds, type DocumentIds } from './document-ids.ts';
import { takesCoordinates } from './words/implied.ts';
import { toolTerms } from './words/tool-terms.ts';
import { createVectors, type Vectors } from './vectors/memory.ts';

/** The tools that can be searched: their document ids, and what the channels keep under those. */
export interface ToolIndex {
  readonly slots: DocumentIds;
  readonly lexical: Lexical;
  /** Undefined without an embedder. */
  readonly vectors: Vectors | undefined;
  /** What the tool of each document id does. */
  readonly actions: Uint32Array;
  /** 1 for each document id whose tool takes coordinates. */
  readonly placed: Uint8Array;
  /** `contentHash` of the tool that is there under this key. */
  hashOf(key: string): string | undefined;
  /** Adds tools, and replaces those whose key is known and whose text differs. */
  put(documents: Iterable<ToolDocument>): Changes;
  /** Returns how many of the keys were there. */
  remove(keys: Iterable<string>): number;
  /** Removes all tools but these; returns how many. */
  keep(keys: ReadonlySet<string> | ReadonlyMap<string, unknown>): number;
  /** Makes the index equal to `documents`, whatever it held. Of several with one key the last one counts. */
  sync(documents: Iterable<ToolDocument>): Changes;
  /** What all this takes in memory, about. */
  bytes(): number;
}

export interface Changes {
  readonly added: number;
  readonly replaced: number;
  readonly removed: number;
  readonly unchanged: number;
}

/** The same for equal texts, in every process and for ever: vectors of a tool can be kept under it. */
export function contentHash(tool: ToolDocument): string {
  const { server, serverDescription = '', name, description, parameterNames, parameterTexts } = tool;
  const text = JSON.stringify([server, serverDescription, name, description, parameterNames, parameterTexts]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

export function createToolIndex(embedder: LocalEmbedder | undefined): ToolIndex {
  const slots = createDocumentIds();
  const lexical = createLexical();
  const vectors = embedder && createVectors(embedder.dimensions);
  let actions = new Uint32Array(256);
  let placed = new Uint8Array(256);

  function add(tool: ToolDocument, hash: string): void {
    const slot = slots.take(tool.key, hash, tool.server);
    const found = toolTerms(tool);
    lexical.add(slot, tool, found);
    if (slot >= actions.length) {
      actions = copied(actions, new Uint32Array(slots.end * 2));
      placed = copied(placed, new Uint8Array(slots.end * 2));
    }
    placed[slot] = takesCoordinates(found.parameterNames) ? 1 : 0;
    actions[slot] = actionsOfTool(tool.name, tool.description);
    const vector = embedder?.tool(found);
    if (vector) vectors?.set(slot, vector);
  }

  function drop(slot: number): void {
    slots.release(slot);
    vectors?.clear(slot);
    if (slots.resting < purgeFrom + slots.size / 4) return;
    lexical.purge(slots.alive);
    slots.wake();
  }

  function putOne(tool: ToolDocument): 'added' | 'replaced' | 'unchanged' {
    const slot = slots.find(tool.key);
    const hash = contentHash(tool);
    if (slot !== undefined && slots.hash(slot) === hash) return 'unchanged';
    if (slot !== undefined) drop(slot);
    add(tool, hash);
    return slot === undefined ? 'added' : 'replaced';
  }

  function put(documents: Iterable<ToolDocument>): Changes {
    const changes = { added: 0, replaced: 0, removed: 0, unchanged: 0 };
    for (const tool of documents) changes[putOne(tool)]++;
    return changes;
  }

  function remove(keys: Iterable<string>): number {
    let removed = 0;
    for (const key of keys) {
      const slot = slots.find(key);
      if (slot === undefined) continue;
      drop(slot);
      removed++;
    }
    return removed;
  }

  function keep(wanted: ReadonlySet<string> | ReadonlyMap<string, unknown>): number {
    return remove(Array.from(slots.keys()).filter((key) => !wanted.has(key)));
  }

  return {
    slots,
    lexical,
    vectors,
    get actions() {
      return actions;
    },
    get placed() {
      return placed;
    },
    hashOf(key) {
      const slot = slots.find(key);
      return slot === undefined ? undefined : slots.hash(slot);
    },
    put,
    remove,
    keep,
    sync(documents) {
      const wanted = new Map<string, ToolDocument>();
      for (const tool of documents) wanted.set(tool.key, tool);
      const removed = keep(wanted);
      return { ...put(wanted.values()), removed };
    },
    bytes: () => lexical.bytes() + (vectors?.bytes() ?? 0) + slots.end * bytesPerTool,
  };
}

function copied<T extends Uint8Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

/** Removed tools that gather before the index is cleared of them, besides a quarter of those that are left. */
const purgeFrom = 64;
/** The approximate size of key, hash and the entries of one document id. */
const bytesPerTool = 250;
