import type { Catalogue, Item } from '../core/catalogue.ts';
import type { ToolOverride } from '../core/settings/server.ts';
import type { Settings } from '../core/settings/settings.ts';
import { editObject } from '../core/json/text.ts';
import { mergedOverride, overrideEdits } from '../core/access/tool-override.ts';
import { type SearchedTool, type ToolDefinition, type ToolDocument, toolDocument } from './document.ts';
import type { SearchAnswer, SearchEngine, SearchRequest } from './search-engine.ts';
import { createCooperativeTask } from './cooperative-task.ts';
import { smartLimits } from './limits.ts';

/** The search over everything the servers offer, kept equal to the catalogue. */
export interface SmartIndex {
  /**
   * Takes over what changed, what is gone first, in slices, so that calls do not wait while thousands of tools are
   * read. A later call takes the place of one that still runs.
   */
  sync(settings: Settings, catalogue: Catalogue): void;
  /** Resolves when all is taken over. Rejects with what went wrong. */
  ready(): Promise<void>;
  /**
   * Has these tools taken over before others, and resolves when they are, when nothing is taken over any more, or after
   * `waitMs`. Undefined when nothing is taken over now.
   */
  first(tools: ReadonlySet<string>, waitMs?: number): Promise<void> | undefined;
  /** Ends taking over. */
  stop(): void;
  /**
   * `allowed` are the tools that may be found, as `toolKey` names them: nothing else influences the answer. The set
   * must not change afterwards.
   */
  search(request: IndexRequest): SearchAnswer;
}

export interface IndexRequest extends Omit<SearchRequest, 'context' | 'allowed'> {
  readonly context: string | undefined;
  readonly allowed: ReadonlySet<string>;
}

interface Waiting {
  /** Those of its tools that were not looked for yet. */
  readonly keys: Iterator<string>;
  readonly done: () => void;
}

/** The key of a server's tool in the index. */
export function toolKey(server: string, tool: string): string {
  return `${server}\n${tool}`;
}

/** `synced` hears of all tools each time they have been taken over. */
export function createSmartIndex(
  engine: SearchEngine,
  synced: (tools: readonly SearchedTool[]) => void = () => undefined,
): SmartIndex {
  const searched = createSearched();
  const work = createCooperativeTask();
  let isReading = false;
  /** Searches that wait, the one whose turn it is first. */
  let waiting: Waiting[] = [];

  function* steps(settings: Settings, catalogue: Catalogue): Generator<void> {
    try {
      const left = new Map<string, Offered>();
      for (const one of offered(settings, catalogue)) {
        left.set(toolKey(one.server.name, one.item.key), one);
        yield;
      }
      engine.keep(left);
      const all: SearchedTool[] = [];
      for (const next of inOrder(left)) {
        if (next) {
          left.delete(next[0]);
          const tool = searched(next[1]);
          tool.putInto(engine);
          all.push(tool);
        }
        yield;
      }
      synced(all);
    } finally {
      // Not reached by what is given up for a later catalogue: those who wait do so for the later one.
      end();
    }
  }

  /**
   * What is left, the tools of searches that wait first: one of each search in turn, so that one over many tools does
   * not hold up others. Undefined when a search needs to wait no more: among many other work gets its turn.
   */
  function* inOrder(left: ReadonlyMap<string, Offered>): Generator<readonly [string, Offered] | undefined> {
    const rest = left.entries();
    for (;;) {
      const search = waiting.shift();
      if (search) {
        const found = nextOf(search.keys, left);
        if (found) waiting.push(search);
        else search.done();
        yield found;
        continue;
      }
      const next = rest.next();
      if (next.done) return;
      yield next.value;
    }
  }

  function nextOf(keys: Iterator<string>, left: ReadonlyMap<string, Offered>): readonly [string, Offered] | undefined {
    for (let key = keys.next(); !key.done; key = keys.next()) {
      const found = left.get(key.value);
      if (found) return [key.value, found];
    }
    return undefined;
  }

  function end(): void {
    isReading = false;
    for (const { done } of waiting) done();
    waiting = [];
  }

  return {
    sync(settings, catalogue) {
      isReading = true;
      work.start(steps(settings, catalogue));
    },
    ready: () => work.done(),
    first(tools, waitMs = smartLimits.indexWaitMs) {
      if (!isReading) return undefined;
      return new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          resolve();
        };
        const search = { keys: tools.values(), done };
        const timer = setTimeout(() => {
          waiting = waiting.filter((other) => other !== search);
          resolve();
        }, waitMs);
        waiting.push(search);
      });
    },
    stop() {
      work.stop();
      end();
    },
    search: ({ context, ...request }) => engine.search({ ...request, ...(context !== undefined && { context }) }),
  };
}

interface About {
  readonly name: string;
  readonly description: string | undefined;
}

interface Offered {
  readonly server: About;
  readonly item: Item;
  /** The operator's words in place of the server's. */
  readonly override: ToolOverride | undefined;
}

/**
 * All tools of enabled servers, also those that are switched off themselves: who may find what is asked at each search.
 */
function* offered(settings: Settings, catalogue: Catalogue): Generator<Offered> {
  for (const [name, offer] of catalogue.offers) {
    const server = settings.servers.get(name);
    if (!server?.enabled) continue;
    const about = { name, description: server.description ?? offer.about.instructions?.slice(0, instructionChars) };
    for (const item of offer.tools)
      yield { server: about, item, override: mergedOverride(server.tools.get(item.key), undefined) };
  }
}

/** A tool as it is worded now. Its document is not kept: most are never read again. */
class WordedTool implements SearchedTool {
  readonly key: string;
  readonly wording: string;
  readonly #offered: Offered;
  /** What the engine called its document. */
  #hash: string | undefined;

  constructor(offered: Offered, wording: string) {
    this.key = toolKey(offered.server.name, offered.item.key);
    this.wording = wording;
    this.#offered = offered;
  }

  get server(): string {
    return this.#offered.server.name;
  }

  document(): ToolDocument {
    const { server, item, override } = this.#offered;
    const text = override ? editObject(item.text, overrideEdits(item.text, override)) : item.text;
    const definition = JSON.parse(text) as ToolDefinition;
    return toolDocument(this.key, server, { ...definition, name: override?.name ?? item.key });
  }

  putInto(engine: SearchEngine): void {
    if (this.#hash !== undefined && engine.hashOf(this.key) === this.#hash) return;
    engine.put([this.document()]);
    this.#hash = engine.hashOf(this.key);
  }
}

/** The same object for the same wording of an item. */
function createSearched() {
  const known = new WeakMap<Item, WordedTool>();
  return (offered: Offered): WordedTool => {
    const { server, item, override } = offered;
    const wording = override ? `${JSON.stringify(override)}\n${server.description}` : (server.description ?? '');
    const before = known.get(item);
    // An item of a server that is called otherwise now.
    if (before?.wording === wording && before.server === server.name) return before;
    const tool = new WordedTool(offered, wording);
    known.set(item, tool);
    return tool;
  };
}

/** Of a server's instructions the beginning says what it is for; the rest says how. */
const instructionChars = 500;
