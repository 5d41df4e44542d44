import type { Catalogue, Item } from '../core/catalogue.ts';
import type { Settings } from '../core/settings.ts';
import { type ToolDefinition, type ToolDocument, toolDocument } from './document.ts';
import type { SearchAnswer, SearchEngine } from './search-engine.ts';

/** The search over everything the servers offer, kept equal to the catalogue. */
export interface SmartIndex {
  /** Takes over what changed; texts that are the same as before cost nothing but a look. */
  sync(settings: Settings, catalogue: Catalogue): void;
  /** `allowed` are the tools that may be found, as `toolKey` names them: nothing else influences the answer. */
  search(request: {
    query: string;
    context: string | undefined;
    limit: number;
    allowed: ReadonlySet<string>;
    explain?: boolean;
  }): SearchAnswer;
}

/** The key of a server's tool in the index. */
export function toolKey(server: string, tool: string): string {
  return `${server}\n${tool}`;
}

export function createSmartIndex(engine: SearchEngine): SmartIndex {
  /** A tool's document is made once for each wording of it. */
  const documents = new WeakMap<
    Item,
    { description: string | undefined; about: string | undefined; document: ToolDocument }
  >();

  function documentOf(
    server: { name: string; description: string | undefined },
    item: Item,
    description: string | undefined,
  ): ToolDocument {
    const known = documents.get(item);
    if (known && known.description === description && known.about === server.description) return known.document;
    const definition = JSON.parse(item.text) as ToolDefinition;
    const worded = description === undefined ? definition : { ...definition, description };
    const document = toolDocument(toolKey(server.name, item.key), server, { ...worded, name: item.key });
    documents.set(item, { description, about: server.description, document });
    return document;
  }

  function* all(settings: Settings, catalogue: Catalogue): Iterable<ToolDocument> {
    for (const [name, offer] of catalogue.offers) {
      const server = settings.servers.get(name);
      if (!server?.enabled) continue;
      const about = { name, description: server.description ?? offer.about.instructions?.slice(0, instructionChars) };
      for (const item of offer.tools) yield documentOf(about, item, server.tools.get(item.key)?.description);
    }
  }

  return {
    sync: (settings, catalogue) => void engine.sync(all(settings, catalogue)),
    search: ({ query, context, limit, allowed, explain = false }) =>
      engine.search({ query, limit, allowed, explain, ...(context !== undefined && { context }) }),
  };
}

/** Of a server's instructions the beginning says what it is for; the rest says how. */
const instructionChars = 500;
