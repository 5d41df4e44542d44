import { isForAppsAlone, type PageUri } from './apps.ts';
import { ItemTexts } from './item-texts.ts';
import type { ScopeMember } from './rules.ts';
import type { Item } from '../catalogue.ts';
import { ownServer } from '../own-items.ts';
import type { Selection } from '../settings/group.ts';
import type { ItemSettings, ToolOverride } from '../settings/server.ts';
import { exposedName, tieBreakName } from './tool-name.ts';
import { argumentRules, type ArgumentRules, isReadOnly, mergedOverride, renamed } from './tool-override.ts';

/** Where an exposed name or URI leads: the server, and the key the server itself knows it by. */
export interface Target {
  readonly server: string;
  readonly key: string;
  /**
   * Set for a resource that no list names, of a server that has others hidden: an error of the server must not tell the
   * two apart.
   */
  readonly guarded?: boolean;
  /** What the operator calls a tool in place of its key. */
  readonly name?: string;
  /** Its server has pages for apps. */
  readonly hasPages?: boolean;
  /** The URIs of its skills have its name in front here. */
  readonly hasSkills?: boolean;
  /**
   * How those, and the files of its skills, are called here, where some go by other URIs than their own: results are
   * changed to match.
   */
  readonly pageUri?: PageUri | undefined;
  /** What becomes of the arguments of a tool. */
  readonly rules?: ArgumentRules | undefined;
}

/**
 * One list as clients get it. `texts` are the items' JSON, exposed names in place; `targets[i]` is where `texts[i]`
 * leads.
 */
export interface ViewList {
  readonly texts: ItemTexts;
  readonly targets: readonly Target[];
}

/** What a target says of the pages of its server. */
export type Pages = Pick<Target, 'hasPages' | 'hasSkills' | 'pageUri'>;

export interface Naming {
  /** True on the endpoint of one server, where names are the server's own. */
  readonly own: boolean;
  readonly separator: string;
  readonly prefixes: ReadonlySet<string>;
}

/** Items whose names are exposed with a prefix: tools and prompts. */
export class NamedList implements ViewList {
  readonly texts = new ItemTexts();
  readonly targets: Target[] = [];
  readonly #byName = new Map<string, Target>();
  /**
   * The form that is not listed but understood: prefixed on a server's own endpoint, bare where only one server is
   * shown.
   */
  readonly #alias = new Map<string, Target>();
  /** Tools of servers with apps by their own names: pages call them so. */
  readonly #ofApps = new Map<string, { readonly name: string; readonly target: Target }[]>();
  readonly #forAppsAlone = new Set<Target>();
  readonly #naming: Naming;
  #members = 0;

  constructor(naming: Naming) {
    this.#naming = naming;
  }

  add(member: ScopeMember, items: Iterable<ShownItem>, pages: Pages = {}): void {
    this.#members++;
    const { own, separator } = this.#naming;
    // Only a longer prefix that begins with this one can be read into a name; looking at all of them for each tool
    // takes its time.
    const prefixes = [...this.#naming.prefixes].filter((other) => other.startsWith(member.prefix));
    for (const { item, override, name: bare = item.key } of items) {
      const rules = argumentRules(item, override);
      const target = {
        server: member.server.name,
        key: item.key,
        ...(bare !== item.key && { name: bare }),
        ...(rules && { rules }),
        ...pages,
      };
      let prefixed = exposedName(member.prefix, bare, separator, prefixes);
      if (this.#byName.has(prefixed)) prefixed = tieBreakName(member.prefix, item.key, separator);
      const name = own ? bare : prefixed;
      if (this.#byName.has(name)) continue;
      this.#byName.set(name, target);
      this.#alias.set(own ? prefixed : bare, target);
      this.texts.add({ item, name: name === item.key ? undefined : name, override, server: pages });
      this.targets.push(target);
      if (isForAppsAlone(item)) this.#forAppsAlone.add(target);
      if (pages.hasPages) this.#addCalledByPages([bare, item.key], { name, target });
    }
  }

  /** Pages are written for the names that their server itself gives, whatever the operator calls a tool. */
  #addCalledByPages(called: readonly string[], tool: { readonly name: string; readonly target: Target }): void {
    for (const one of new Set(called))
      if (one !== tool.name) this.#ofApps.set(one, [...(this.#ofApps.get(one) ?? []), tool]);
  }

  /** Items of the hub itself, under their own names where no server has these. */
  addOwn(items: readonly Item[]): void {
    for (const item of items) {
      const { key } = item;
      if (this.#byName.has(key)) continue;
      const target = { server: ownServer, key };
      this.#byName.set(key, target);
      this.texts.add({ item });
      this.targets.push(target);
    }
  }

  find(name: string): Target | undefined {
    const found = this.#byName.get(name) ?? (this.#members === 1 ? this.#alias.get(name) : undefined);
    if (found) return found;
    const ofApps = this.#ofApps.get(name);
    return ofApps?.length === 1 ? ofApps[0]?.target : undefined;
  }

  /** The names of all tools that a page may mean by a name that has no server in front. */
  meantByPages(name: string): readonly string[] {
    return (this.#ofApps.get(name) ?? []).map((one) => one.name);
  }

  /** The list without tools for apps alone; the list itself where there are none. */
  forModels(): ViewList {
    if (this.#forAppsAlone.size === 0) return this;
    const places = [...this.targets.keys()].filter((at) => !this.#isForAppsAlone(at));
    return { texts: this.texts.pick(places), targets: places.flatMap((at) => this.targets[at] ?? []) };
  }

  /** The texts of tools for apps alone. */
  forApps(): ItemTexts {
    return this.texts.pick([...this.targets.keys()].filter((at) => this.#isForAppsAlone(at)));
  }

  #isForAppsAlone(at: number): boolean {
    const target = this.targets[at];
    return target !== undefined && this.#forAppsAlone.has(target);
  }
}

/**
 * Items known by URI. Where two servers offer the same one, the first in the settings wins; pages for apps are told
 * apart by server.
 */
export class UriList implements ViewList {
  readonly texts = new ItemTexts();
  readonly targets: Target[] = [];
  readonly #byUri = new Map<string, Target>();

  add({ server: { name } }: ScopeMember, items: Iterable<ShownItem>, pages: Pages = {}): void {
    const { pageUri } = pages;
    for (const { item, override } of items) {
      const uri = pageUri ? pageUri(item.key) : item.key;
      if (this.#byUri.has(uri)) continue;
      const target = { server: name, key: item.key, ...pages };
      this.#byUri.set(uri, target);
      this.texts.add({ item, name: undefined, override, server: pages });
      this.targets.push(target);
    }
  }

  /** Resources of the hub itself; a server's of the same URI comes first only where it was added first. */
  addOwn(items: readonly Item[]): void {
    for (const item of items) {
      const { key } = item;
      if (this.#byUri.has(key)) continue;
      const target = { server: ownServer, key };
      this.#byUri.set(key, target);
      this.texts.add({ item });
      this.targets.push(target);
    }
  }

  find(uri: string): Target | undefined {
    return this.#byUri.get(uri);
  }
}

export interface ShownItem {
  readonly item: Item;
  /** The operator's words in place of the server's. */
  readonly override: ToolOverride | undefined;
  /** What the operator calls it. */
  readonly name?: string | undefined;
}

/** The items that the scope selects and the server's own switches leave on. */
export function* shown(
  items: readonly Item[],
  selection: Selection,
  switches: ReadonlyMap<string, ItemSettings>,
): Iterable<ShownItem> {
  const selected = selection === 'all' ? undefined : new Set(selection);
  for (const item of items) {
    const own = switches.get(item.key);
    if (own?.enabled === false || selected?.has(item.key) === false) continue;
    yield { item, override: mergedOverride(own, undefined) };
  }
}

/** The same for tools, which have more to be overridden. */
export function* shownTools(
  { server, tools, readOnly, overrides }: ScopeMember,
  items: readonly Item[],
): Iterable<ShownItem> {
  const overrideOf = (key: string) => mergedOverride(server.tools.get(key), overrides?.get(key));
  // Of all its tools, so that a name does not depend on who asks.
  const names = server.tools.size > 0 || overrides ? renamed(items, overrideOf) : undefined;
  for (const { item, override } of shown(items, tools, server.tools)) {
    if (readOnly && !isReadOnly(item, server.tools.get(item.key))) continue;
    yield { item, override: overrides ? overrideOf(item.key) : override, name: names?.get(item.key) };
  }
}
