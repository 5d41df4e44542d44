import { coreLimits } from '../limits.ts';
import { ownLists, ownSkillsPrefix, ownSkillTarget } from '../own-items.ts';
import { hasResultLimit, readResultName, readResultText } from '../large-results.ts';
import { ItemTexts, ownTexts } from './item-texts.ts';
import { isUsedAlone } from './per-user.ts';
import { resolve, type Resolved, type ScopeMember } from './rules.ts';
import { type Catalogue, type ItemKind, itemKinds, type ServerAbout } from '../catalogue.ts';
import { memberText } from '../json/text.ts';
import { type Principal, principalId } from './principal.ts';
import { type Scope, scopeId } from './scope.ts';
import type { Settings } from '../settings/settings.ts';
import type { ServerDescriptionMode } from '../settings/system.ts';
import { shortAbout, smartToolNames, smartToolTexts } from '../smart-tools.ts';
import { type Naming, NamedList, shown, shownTools, type Target, UriList, type ViewList } from './view-lists.ts';
import { ofSkill, pagesIn, unlistedUri } from './view-uris.ts';

export type { Target, ViewList };

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
  /** What clients that show apps get as `tools/list`: the tools for apps alone too. Undefined where there are none. */
  readonly forApps: Pick<ViewList, 'texts'> | undefined;
  /** All tools that can be called, whatever is listed. */
  readonly all: ViewList;
  /** The names of all tools that a page may mean by a name that has no server in front; a single one is found by it. */
  meantByPages(name: string): readonly string[];
  /** Whether the hub has skills of its own, which every endpoint has. */
  readonly hasOwnSkills: boolean;
  tool(name: string): Target | undefined;
  prompt(name: string): Target | undefined;
  resource(uri: string): Target | undefined;
  /** By the template itself. */
  template(uriTemplate: string): Target | undefined;
  /**
   * Where the name of a tool or prompt leads whose server is not listed: because no user has set what only users can
   * (`isUsedAlone`), or since a change of the settings starts it. The server may have no such tool.
   * Undefined where every such server is listed.
   */
  readonly unlisted: ((name: string) => Target | undefined) | undefined;
  /** Those of `servers` that are in `Catalogue.restarted`; undefined where there are none. */
  readonly restarting: ReadonlySet<string> | undefined;
}

export interface SmartView {
  readonly progressive: boolean;
  /** The endpoint is one for code. */
  readonly code: boolean;
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
  readonly code: boolean;
  readonly describe: ServerDescriptionMode;
}

/** Builds a view. Costs time in proportion to what is visible; `createViews` keeps the results. */
export function view(settings: Settings, catalogue: Catalogue, principal: Principal, scope: Scope): View {
  return viewOf(settings, catalogue, resolve(settings, principal, scope), smartScope(settings, scope));
}

const readResultItem = { key: readResultName, text: readResultText };

function smartScope(settings: Settings, scope: Scope): SmartScope | undefined {
  if (scope.kind !== 'smart') return undefined;
  const { progressiveDisclosure: progressive = false, serverDescriptionMode: describe = 'names' } = settings.system;
  const code = scope.code === true;
  return { group: scope.group, progressive: progressive && !code, code, describe };
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
  const hasOwnSkills = settings.own?.skills !== undefined && resolved.kind !== 'nothing';
  const pages = pagesIn(resolved, catalogue, hasOwnSkills);
  const own = settings.own && resolved.kind !== 'nothing' ? ownLists(settings.own) : undefined;
  const addOwn = (): void => {
    prompts.addOwn(own?.prompts ?? []);
    resources.addOwn(own?.resources ?? []);
  };
  // An endpoint of one server shows that server as itself; elsewhere no server takes the place of what the hub says.
  if (resolved.kind !== 'server') addOwn();
  for (const member of resolved.members) {
    const offer = catalogue.offers.get(member.server.name);
    if (!offer) continue;
    const apps = pages(member.server.name);
    tools.add(member, shownTools(member, offer.tools), apps);
    prompts.add(member, shown(offer.prompts, member.prompts, member.server.prompts));
    resources.add(member, shown(offer.resources, member.resources, member.server.resources), apps);
    templates.add(member, shown(offer.templates, member.resources, member.server.resources), apps);
  }
  if (resolved.kind === 'server') addOwn();
  const only = resolved.kind === 'server' ? resolved.members[0] : undefined;
  const servers = resolved.members.map((member) => member.server.name);
  const reads = hasResultLimit(
    settings,
    resolved.group,
    resolved.members.map(({ server }) => server),
  );
  if (reads && resolved.members.length > 0) tools.addOwn([readResultItem]);
  const forModels = tools.forModels();
  const pinned = smart ? pinnedPlaces(resolved.members, forModels) : [];
  const listed = smart
    ? smartList(
        resolved.members,
        catalogue,
        smart,
        forModels.texts.pick(pinned).followedBy(ownTexts(reads ? [readResultText] : [])),
      )
    : forModels;
  const placeOf = (name: string): number | undefined => {
    const target = tools.find(name);
    const at = target ? forModels.targets.indexOf(target) : -1;
    return at === -1 ? undefined : at;
  };
  return {
    kind: resolved.kind,
    single: only && catalogue.offers.get(only.server.name)?.about,
    servers,
    lists: {
      tools: listed,
      prompts,
      resources,
      templates,
    },
    smart: smart && {
      progressive: smart.progressive,
      code: smart.code,
      tools: forModels,
      indexOf: placeOf,
      isPinned: (name) => pinned.includes(placeOf(name) ?? -1) && !smartToolNames.has(name),
    },
    forApps: appTools(listed, tools.forApps()),
    all: tools,
    meantByPages: (name) => tools.meantByPages(name),
    tool: (name) => tools.find(name),
    prompt: (name) => prompts.find(name),
    template: (uriTemplate) => templates.find(uriTemplate),
    hasOwnSkills,
    resource: (uri) =>
      hasOwnSkills && uri.startsWith(ownSkillsPrefix)
        ? ownSkillTarget(settings.own, uri)
        : (ofSkill(uri, templates, resolved, { catalogue, pages }) ??
          resources.find(uri) ??
          unlistedUri(uri, templates, resolved, { catalogue, pages })),
    unlisted: unlistedNames(resolved, catalogue, naming),
    restarting: restartingOf(servers, catalogue),
  };
}

function appTools({ texts }: ViewList, more: ItemTexts): View['forApps'] {
  return more.length > 0 ? { texts: texts.followedBy(more) } : undefined;
}

function restartingOf(servers: readonly string[], { restarted }: Catalogue): View['restarting'] {
  const found = servers.filter((name) => restarted?.has(name));
  return found.length > 0 ? new Set(found) : undefined;
}

/** `View.unlisted`. Of the prefixes of the scope the longest counts, as it does in names (`exposedName`). */
function unlistedNames({ members }: Resolved, now: Catalogue, { separator }: Naming): View['unlisted'] {
  const isUnlisted = ({ server }: ScopeMember): boolean =>
    !now.offers.has(server.name) && (isUsedAlone(server) || now.restarted?.has(server.name) === true);
  if (!members.some(isUnlisted)) return undefined;
  return (name) => {
    const prefixOf = (member: ScopeMember): string => `${member.prefix}${separator}`;
    const longest = members
      .filter((member) => name.startsWith(prefixOf(member)))
      .reduce<ScopeMember | undefined>((a, b) => (a && a.prefix.length >= b.prefix.length ? a : b), undefined);
    const member = longest ?? (members.length === 1 ? members[0] : undefined);
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
  let asked: { readonly scope: Scope; readonly key: string } | undefined;

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
      resolved.group?.maxResultTokens,
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
      // All requests to an endpoint have the same scope object. The key has the kind too: a path may name a group
      // `$smart`, which is nothing, and must not be taken for what `$smart` is.
      if (asked?.scope !== scope) asked = { scope, key: `${scope.kind}\n${scopeId(scope)}` };
      const id = principalId(principal);
      const found = kept.get(id)?.get(asked.key);
      if (found) return found;
      const built = build(current, resolve(current.settings, principal, scope), scope);
      if (keptViews >= coreLimits.views) {
        kept.clear();
        keptViews = 0;
      }
      const ofPrincipal = kept.get(id) ?? new Map<string, View>();
      kept.set(id, ofPrincipal.set(asked.key, built));
      keptViews += 1;
      return built;
    },
  };
}

/** The kinds whose lists differ between two views of the same principal and scope. */
export function changedKinds(before: View, after: View): ItemKind[] {
  if (before === after) return [];
  return itemKinds.filter((kind) => {
    return (
      !before.lists[kind].texts.equals(after.lists[kind].texts) ||
      (kind === 'tools' && !(before.forApps?.texts ?? noTexts).equals(after.forApps?.texts ?? noTexts))
    );
  });
}

const noTexts = new ItemTexts();

/** The tools of smart routing itself, which lead to no server, and after them those that the group pins. */
function smartList(
  members: readonly ScopeMember[],
  catalogue: Catalogue,
  { group, progressive, code, describe }: SmartScope,
  pinned: ItemTexts,
): ViewList {
  const servers = members.map(({ server: { name, description } }) => {
    const words = description ?? catalogue.offers.get(name)?.about.instructions;
    return { name, about: describe === 'full' ? shortAbout(words) : undefined };
  });
  return { texts: ownTexts(smartToolTexts({ servers, group, progressive, code })).followedBy(pinned), targets: [] };
}

/** Where the tools that the members pin stand in the list; a pin shows nothing that the list does not. */
function pinnedPlaces(members: readonly ScopeMember[], tools: ViewList): number[] {
  const pins = new Map(members.map(({ server, pinnedTools }) => [server.name, new Set(pinnedTools)]));
  return tools.targets.flatMap(({ server, key }, at) => {
    if (pins.get(server)?.has(key) !== true) return [];
    return smartToolNames.has(nameOf(tools.texts.at(at))) ? [] : [at];
  });
}

function nameOf(text = '{}'): string {
  return String(JSON.parse(memberText(text, 'name') ?? 'null'));
}
