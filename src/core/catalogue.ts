import { memberText } from './json/text.ts';

/** What the servers offer now, as one immutable snapshot; a change makes a new one with a greater version. */
export interface Catalogue {
  readonly version: number;
  readonly offers: ReadonlyMap<string, Offer>;
  /**
   * Servers that a change of the settings starts, and that are not started yet, or have not said yet what they offer:
   * changed, renamed, switched on or new.
   */
  readonly restarted?: ReadonlySet<string> | undefined;
}

/** What one server offers, as it sent it. */
export interface Offer {
  readonly server: string;
  /** The server's `initialize` result as JSON text, for endpoints that show one server as itself. */
  readonly about: ServerAbout;
  readonly tools: readonly Item[];
  readonly prompts: readonly Item[];
  readonly resources: readonly Item[];
  readonly templates: readonly Item[];
  /**
   * What the server allows caches to do with its lists; absent for a list of which it says nothing, as servers of the
   * session era do.
   */
  readonly hints?: CacheHints | undefined;
  /** URIs and templates of resources that are held back (`core/pins`): no other way leads to them. */
  readonly held?: readonly string[] | undefined;
}

export type CacheHints = Readonly<Partial<Record<ItemKind, CacheHint>>>;

/** What a server says of one of its lists (2026-07-28, Caching). */
export interface CacheHint {
  /** How long after it was read the list may be taken for fresh; 0: not at all. */
  readonly ttlMs: number;
  /** `public`: it is the same for all who ask. */
  readonly scope: 'public' | 'private';
}

export interface ServerAbout {
  /** `serverInfo` as JSON text. */
  readonly info: string;
  readonly instructions: string | undefined;
  /**
   * Names of the capabilities it declared, with the sub-capabilities that are true or objects (`resources.subscribe`,
   * `tasks.cancel`).
   */
  readonly capabilities: readonly string[];
  readonly protocolVersion: string;
}

/**
 * A tool, prompt, resource or resource template: the key it is known by (name, URI or URI template) and its exact JSON
 * text.
 */
export interface Item {
  readonly key: string;
  readonly text: string;
}

/** Whether a tool says of itself that it only reads (`annotations.readOnlyHint`). `text` is its JSON. */
export function onlyReads(text: string): boolean {
  return memberText(memberText(text, 'annotations') ?? '{}', 'readOnlyHint') === 'true';
}

export const itemKinds = ['tools', 'prompts', 'resources', 'templates'] as const;
export type ItemKind = (typeof itemKinds)[number];

export const emptyCatalogue: Catalogue = { version: 0, offers: new Map() };

/**
 * The offer with the items of an earlier one where they are the same: a text is in memory once, and what was found out
 * about an item, which is remembered by it, is still known.
 */
export function withKnownItems(offer: Offer, before: Offer | undefined): Offer {
  if (!before) return offer;
  const { tools, prompts, resources, templates } = offer;
  return {
    ...offer,
    tools: knownItems(tools, before.tools),
    prompts: knownItems(prompts, before.prompts),
    resources: knownItems(resources, before.resources),
    templates: knownItems(templates, before.templates),
  };
}

/** The list itself of before where all of it is the same. */
export function knownItems(items: readonly Item[], before: readonly Item[]): readonly Item[] {
  let byKey: ReadonlyMap<string, Item> | undefined;
  const found = items.map((item, i) => {
    const beside = before[i];
    const known =
      beside?.key === item.key ? beside : (byKey ??= new Map(before.map((one) => [one.key, one]))).get(item.key);
    return known?.text === item.text ? known : item;
  });
  return found.length === before.length && found.every((item, i) => item === before[i]) ? before : found;
}

/** True when both offer the same things in the same order. */
export function sameOffer(a: Offer, b: Offer): boolean {
  return (
    a.about.info === b.about.info &&
    a.about.instructions === b.about.instructions &&
    a.about.capabilities.join() === b.about.capabilities.join() &&
    itemKinds.every((kind) => sameItems(a[kind], b[kind]) && sameHint(a.hints?.[kind], b.hints?.[kind]))
  );
}

function sameHint(a: CacheHint | undefined, b: CacheHint | undefined): boolean {
  return a?.ttlMs === b?.ttlMs && a?.scope === b?.scope;
}

function sameItems(a: readonly Item[], b: readonly Item[]): boolean {
  return a === b || (a.length === b.length && a.every((item, i) => item.key === b[i]?.key && item.text === b[i]?.text));
}
