import { coreLimits } from '../limits.ts';
import { isUsedAlone } from './per-user.ts';
import { resolve, type Resolved, type ScopeMember } from './rules.ts';
import { type Catalogue, type Item, type ItemKind, itemKinds, type Offer, type ServerAbout } from '../catalogue.ts';
import { memberText } from '../json/text.ts';
import { type Principal, principalId } from './principal.ts';
import { type Scope, scopeId } from './scope.ts';
import type { ItemSettings, Selection, ServerDescriptionMode, Settings, ToolOverride } from '../settings/types.ts';
import { shortAbout, smartToolNames, smartToolTexts } from '../smart-tools.ts';
import { exposedName, tieBreakName } from './tool-name.ts';
import {
  argumentRules,
  type ArgumentRules,
  exposedText,
  isReadOnly,
  mergedOverride,
  renamed,
} from './tool-override.ts';
import { matchesTemplate } from '../protocol/uri-template.ts';

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
  /** What becomes of the arguments of a tool. */
  readonly rules?: ArgumentRules | undefined;
}

/**
 * One list as clients get it. `texts` are the items' JSON, exposed names in place; `targets[i]` is where `texts[i]`
 * leads.
 */
export interface ViewList {
  readonly texts: readonly string[];
  readonly targets: readonly Target[];
}

/**
 * What one principal sees in one scope: a pure function of settings, catalogue, principal and scope (DESIGN, sentence
 * 2). Every surface reads it: lists, calls, search, REST, the OpenAPI document.
 */
export interface View {
  readonly kind: Resolved['kind'];
  /** The one server that the scope shows as itself. */
  readonly single: ServerAbout | undefined;
  /** Names of the servers in the scope, whether or not they offer anything now. */
  readonly servers: readonly string[];
  readonly lists: Readonly<Record<ItemKind, ViewList>>;
  /**
   * Set for smart routing: the tools it searches, describes and calls; `lists.tools` then holds its own few, and those
   * that the group pins.
   */
  readonly smart: SmartView | undefined;
  tool(name: string): Target | undefined;
  prompt(name: string): Target | undefined;
  resource(uri: string): Target | undefined;
  /** By the template itself. */
  template(uriTemplate: string): Target | undefined;
  /**
   * Where the name of a tool or prompt leads whose server has never been listed because no user has set what only users
   * can (`isUsedAlone`). The server may have no such tool. Undefined where every server that is used so is listed.
   */
  readonly unlisted: ((name: string) => Target | undefined) | undefined;
}

export interface SmartView {
  readonly progressive: boolean;
  readonly tools: ViewList;
  /** The place of an exposed name in `tools`. */
  indexOf(name: string): number | undefined;
  /** Whether the tool of that name is listed on the endpoint itself, and called there like any other. */
  isPinned(name: string): boolean;
}

/** What of a scope the view needs besides what it resolves to. */
interface SmartScope {
  readonly group: string | undefined;
  readonly progressive: boolean;
  readonly describe: ServerDescriptionMode;
}

/** Builds a view. Costs time in proportion to what is visible; `createViews` keeps the results. */
export function view(settings: Settings, catalogue: Catalogue, principal: Principal, scope: Scope): View {
  return viewOf(settings, catalogue, resolve(settings, principal, scope), smartScope(settings, scope));
}

function smartScope(settings: Settings, scope: Scope): SmartScope | undefined {
  if (scope.kind !== 'smart') return undefined;
  const { progressiveDisclosure: progressive = false, serverDescriptionMode: describe = 'names' } = settings.system;
  return { group: scope.group, progressive, describe };
}

function viewOf(settings: Settings, catalogue: Catalogue, resolved: Resolved, smart: SmartScope | undefined): View {
  const naming: Naming = {
    own: resolved.kind === 'server',
    separator: settings.system.nameSeparator,
    prefixes: new Set([...settings.servers.keys(), ...resolved.members.map((member) => member.prefix)]),
  };
  const tools = new NamedList(naming);
  const prompts = new NamedList(naming);
  const resources = new UriList();
  const templates = new UriList();
  for (const member of resolved.members) {
    const offer = catalogue.offers.get(member.server.name);
    if (!offer) continue;
    tools.add(member, shownTools(member, offer.tools));
    prompts.add(member, shown(offer.prompts, member.prompts, member.server.prompts));
    resources.add(member, shown(offer.resources, member.resources, member.server.resources));
    templates.add(member, shown(offer.templates, member.resources, member.server.resources));
  }
  const only = resolved.kind === 'server' ? resolved.members[0] : undefined;
  const servers = resolved.members.map((member) => member.server.name);
  const pinned = smart ? pinnedPlaces(resolved.members, tools) : [];
  return {
    kind: resolved.kind,
    single: only && catalogue.offers.get(only.server.name)?.about,
    servers,
    lists: {
      tools: smart
        ? smartList(
            resolved.members,
            catalogue,
            smart,
            pinned.map((at) => tools.texts[at] ?? '{}'),
          )
        : tools,
      prompts,
      resources,
      templates,
    },
    smart: smart && {
      progressive: smart.progressive,
      tools,
      indexOf: (name) => tools.indexOf(name),
      isPinned: (name) => pinned.includes(tools.indexOf(name) ?? -1) && !smartToolNames.has(name),
    },
    tool: (name) => tools.find(name),
    prompt: (name) => prompts.find(name),
    template: (uriTemplate) => templates.find(uriTemplate),
    resource: (uri) => resources.find(uri) ?? unlisted(uri, templates, resolved, catalogue),
    unlisted: unlistedNames(resolved, catalogue, naming),
  };
}

/** `View.unlisted`. Of the prefixes of the scope the longest counts, as it does in names (`exposedName`). */
function unlistedNames({ members }: Resolved, { offers }: Catalogue, { own, separator }: Naming): View['unlisted'] {
  const isUnlisted = ({ server }: ScopeMember): boolean => isUsedAlone(server) && !offers.has(server.name);
  if (!members.some(isUnlisted)) return undefined;
  return (name) => {
    const prefixOf = (member: ScopeMember): string => `${member.prefix}${separator}`;
    const longest = members
      .filter((member) => name.startsWith(prefixOf(member)))
      .reduce<ScopeMember | undefined>((a, b) => (a && a.prefix.length >= b.prefix.length ? a : b), undefined);
    const only = members.length === 1 || own ? members[0] : undefined;
    const member = longest ?? only;
    if (!member || !isUnlisted(member)) return undefined;
    return { server: member.server.name, key: longest ? name.slice(prefixOf(longest).length) : name };
  };
}

export interface Views {
  /** The view at this moment. Built once for all who see the same, until settings or catalogue change. */
  get(principal: Principal, scope: Scope): View;
}

/**
 * Keeps views ready until settings or catalogue change; `now` gives the two snapshots, which are compared by identity.
 */
export function createViews(now: () => { settings: Settings; catalogue: Catalogue }): Views {
  let settings: Settings | undefined;
  let catalogue: Catalogue | undefined;
  // By principal, then by scope: the id of a principal may be long, and V8 hashes a text that was joined for each call.
  const kept = new Map<string, Map<string, View>>();
  let keptViews = 0;
  // Most principals see what others see; with ten thousand tools a view of their own would cost each of them megabytes.
  const shared = new Map<string, View>();
  let items = 0;

  function forget(): void {
    kept.clear();
    keptViews = 0;
    shared.clear();
    items = 0;
  }

  function build(current: { settings: Settings; catalogue: Catalogue }, resolved: Resolved, scope: Scope): View {
    const smart = smartScope(current.settings, scope);
    const content = JSON.stringify([
      smart,
      resolved.kind,
      resolved.members.map((one) => [
        one.server.name,
        one.prefix,
        one.tools,
        one.prompts,
        one.resources,
        one.readOnly,
        one.pinnedTools,
        one.overrides && [...one.overrides],
      ]),
    ]);
    const found = shared.get(content);
    if (found) return found;
    const built = viewOf(current.settings, current.catalogue, resolved, smart);
    if (items > coreLimits.viewItems) forget();
    items += itemKinds.reduce((sum, kind) => sum + built.lists[kind].texts.length, 1);
    shared.set(content, built);
    return built;
  }

  return {
    get(principal, scope) {
      const current = now();
      if (current.settings !== settings || current.catalogue !== catalogue) {
        ({ settings, catalogue } = current);
        forget();
      }
      // The kind too: a path may name a group `$smart`, which is nothing, and must not be taken for what `$smart` is.
      const key = `${scope.kind}\n${scopeId(scope)}`;
      const id = principalId(principal);
      const found = kept.get(id)?.get(key);
      if (found) return found;
      const built = build(current, resolve(current.settings, principal, scope), scope);
      if (keptViews >= coreLimits.views) {
        kept.clear();
        keptViews = 0;
      }
      const ofPrincipal = kept.get(id) ?? new Map<string, View>();
      kept.set(id, ofPrincipal.set(key, built));
      keptViews += 1;
      return built;
    },
  };
}

/** The kinds whose lists differ between two views of the same principal and scope. */
export function changedKinds(before: View, after: View): ItemKind[] {
  if (before === after) return [];
  return itemKinds.filter((kind) => {
    const a = before.lists[kind].texts;
    const b = after.lists[kind].texts;
    return a.length !== b.length || a.some((text, i) => text !== b[i]);
  });
}

/** The tools of smart routing itself, which lead to no server, and after them those that the group pins. */
function smartList(
  members: readonly ScopeMember[],
  catalogue: Catalogue,
  { group, progressive, describe }: SmartScope,
  pinned: readonly string[],
): ViewList {
  const servers = members.map(({ server: { name, description } }) => {
    const words = description ?? catalogue.offers.get(name)?.about.instructions;
    return { name, about: describe === 'full' ? shortAbout(words) : undefined };
  });
  return { texts: [...smartToolTexts({ servers, group, progressive }), ...pinned], targets: [] };
}

/** Where the tools that the members pin stand in the list; a pin shows nothing that the list does not. */
function pinnedPlaces(members: readonly ScopeMember[], tools: ViewList): number[] {
  const pins = new Map(members.map(({ server, pinnedTools }) => [server.name, new Set(pinnedTools)]));
  return tools.targets.flatMap(({ server, key }, at) => {
    if (pins.get(server)?.has(key) !== true) return [];
    return smartToolNames.has(nameOf(tools.texts[at])) ? [] : [at];
  });
}

function nameOf(text = '{}'): string {
  return String(JSON.parse(memberText(text, 'name') ?? 'null'));
}

interface Naming {
  /** True on the endpoint of one server, where names are the server's own. */
  readonly own: boolean;
  readonly separator: string;
  readonly prefixes: ReadonlySet<string>;
}

/** Items whose names are exposed with a prefix: tools and prompts. */
class NamedList implements ViewList {
  readonly texts: string[] = [];
  readonly targets: Target[] = [];
  readonly #byName = new Map<string, Target>();
  /**
   * The form that is not listed but understood: prefixed on a server's own endpoint, bare where only one server is
   * shown.
   */
  readonly #alias = new Map<string, Target>();
  readonly #naming: Naming;
  #members = 0;

  constructor(naming: Naming) {
    this.#naming = naming;
  }

  add(member: ScopeMember, items: Iterable<ShownItem>): void {
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
      };
      let prefixed = exposedName(member.prefix, bare, separator, prefixes);
      if (this.#byName.has(prefixed)) prefixed = tieBreakName(member.prefix, item.key, separator);
      const name = own ? bare : prefixed;
      if (this.#byName.has(name)) continue;
      this.#byName.set(name, target);
      this.#alias.set(own ? prefixed : bare, target);
      this.texts.push(exposedText(item, name === item.key ? undefined : name, override));
      this.targets.push(target);
    }
  }

  find(name: string): Target | undefined {
    return this.#byName.get(name) ?? (this.#members === 1 ? this.#alias.get(name) : undefined);
  }

  indexOf(name: string): number | undefined {
    const target = this.find(name);
    return target && this.targets.indexOf(target);
  }
}

/** Items known by URI, unchanged; where two servers offer the same one, the first in the settings wins. */
class UriList implements ViewList {
  readonly texts: string[] = [];
  readonly targets: Target[] = [];
  readonly #byUri = new Map<string, Target>();

  add(member: ScopeMember, items: Iterable<ShownItem>): void {
    for (const { item, override } of items) {
      if (this.#byUri.has(item.key)) continue;
      const target = { server: member.server.name, key: item.key };
      this.#byUri.set(item.key, target);
      this.texts.push(exposedText(item, undefined, override));
      this.targets.push(target);
    }
  }

  find(uri: string): Target | undefined {
    return this.#byUri.get(uri);
  }
}

interface ShownItem {
  readonly item: Item;
  /** The operator's words in place of the server's. */
  readonly override: ToolOverride | undefined;
  /** What the operator calls it. */
  readonly name?: string | undefined;
}

/** The items that the scope selects and the server's own switches leave on. */
function* shown(
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
function* shownTools({ server, tools, readOnly, overrides }: ScopeMember, items: readonly Item[]): Iterable<ShownItem> {
  const overrideOf = (key: string) => mergedOverride(server.tools.get(key), overrides?.get(key));
  // Of all its tools, so that a name does not depend on who asks.
  const names = server.tools.size > 0 || overrides ? renamed(items, overrideOf) : undefined;
  for (const { item, override } of shown(items, tools, server.tools)) {
    if (readOnly && !isReadOnly(item, server.tools.get(item.key))) continue;
    yield { item, override: overrides ? overrideOf(item.key) : override, name: names?.get(item.key) };
  }
}

/**
 * Where to read a URI that no list names: the first server with a template that fits, else the only server of the scope
 * that has resources. What the operator switched off or left out of the group, a resource or a whole template, is not
 * found this way either.
 */
function unlisted(uri: string, templates: UriList, resolved: Resolved, catalogue: Catalogue): Target | undefined {
  const template = templates.targets.find((target) => matchesTemplate(target.key, uri));
  const server = template?.server ?? onlyWithResources(resolved, catalogue)?.server;
  const member = resolved.members.find((one) => one.server.name === server);
  if (!member) return undefined;
  const hides = member.resources !== 'all' || [...member.server.resources.values()].some(({ enabled }) => !enabled);
  const target = { server: member.server.name, key: uri, ...(hides && { guarded: true }) };
  const plain = plainUri(uri);
  const isOff = [...member.server.resources].some(
    ([key, { enabled }]) => !enabled && (plainUri(key) === plain || (!template && matchesTemplate(key, uri))),
  );
  const held = catalogue.offers.get(member.server.name)?.held ?? [];
  if (isOff || held.some((key) => plainUri(key) === plain || (!template && matchesTemplate(key, uri))))
    return undefined;
  if (member.resources === 'all' || member.resources.includes(uri)) return target;
  // Of a named subset a template opens what could not be named itself.
  const isListed = catalogue.offers.get(target.server)?.resources.some((item) => plainUri(item.key) === plain);
  return template && isListed === false ? target : undefined;
}

/** One spelling of the several that servers take for the same URI. */
function plainUri(uri: string): string {
  try {
    const url = new URL(uri);
    url.hash = '';
    return decodeURIComponent(url.href);
  } catch {
    return uri;
  }
}

function onlyWithResources(resolved: Resolved, catalogue: Catalogue): Offer | undefined {
  const offers = resolved.members.flatMap((member) => catalogue.offers.get(member.server.name) ?? []);
  const having = offers.filter((offer) => offer.about.capabilities.includes('resources'));
  return having.length === 1 ? having[0] : undefined;
}
