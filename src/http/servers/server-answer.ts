import { isPerUser, slotsOf } from '../../core/access/per-user.ts';
import { granted } from '../../core/access/rules.ts';
import { exposedName } from '../../core/access/tool-name.ts';
import type { ItemCount, Server, ServerDetails, ServerNames, ServerSummary } from '../../core/answers/settings.ts';
import { isReadOnly, mergedOverride, overriddenText, renamed } from '../../core/access/tool-override.ts';
import type { Catalogue, Item, Offer } from '../../core/catalogue.ts';
import { memberText } from '../../core/json/text.ts';
import { coreLimits } from '../../core/limits.ts';
import type { HubError } from '../../core/errors.ts';
import type { ServerState } from '../../core/hub.ts';
import { confinementOf } from '../../core/settings/confinement.ts';
import { reasonWords } from '../../core/reasons.ts';
import type { Selection } from '../../core/settings/group.ts';
import type { ItemSettings, ServerSettings, UsableTransport } from '../../core/settings/server.ts';
import { tokensOf } from '../../core/tokens.ts';
import type { Entry } from '../../settings/document/document.ts';
import { maskServer } from '../../settings/server/server-secrets.ts';
import { boundsObstacle } from '../../upstream/channels/stdio/cgroup.ts';
import type { UserCredentials } from '../../upstream/user-credentials/user-credentials.ts';
import type { Caller } from '../frame/caller.ts';
import { manages } from '../frame/reachable.ts';
import { iconOf } from './server-icon.ts';

/** Where answers about servers come from. */
export interface ServerSources {
  readonly catalogue: () => Catalogue;
  /** What each server does now; `error` without secrets. */
  readonly states: () => readonly ServerState[];
  /** The settings document in force. */
  readonly document: () => { readonly mcpServers?: Readonly<Record<string, Readonly<Entry>>> };
  /** Why a user cannot use a server yet that users sign in to alone. */
  readonly refusal: (server: ServerSettings, user: string) => HubError | undefined;
  /** Variables that its settings name, and that were not set at the last attempt to connect. */
  readonly unsetVariables: (server: string) => readonly string[];
  /** The catalogue that callers see: without what pins hold back. */
  readonly shown: () => Catalogue;
  /** What users set for themselves. */
  readonly credentials: Pick<UserCredentials, 'state'>;
}

/** What a caller sees of what a server offers: those who manage it see what pins hold back too. */
function offerOf(caller: Caller, server: ServerSettings, { catalogue, shown }: ServerSources): Offer | undefined {
  return (manages(caller, server) ? catalogue() : shown()).offers.get(server.name);
}

/** An element of `GET /servers` (reference: MCPHub §1.5), without the configuration. */
export function serverAnswer(caller: Caller, server: ServerSettings, sources: ServerSources): Server {
  const offer = offerOf(caller, server, sources);
  return { ...frameAnswer(caller, server, sources), ...itemsAnswer(caller, server, offer, manages(caller, server)) };
}

/** The same with counts in place of the items, for lists of servers that have thousands of them. */
export function serverSummary(caller: Caller, server: ServerSettings, sources: ServerSources): ServerSummary {
  const offer = offerOf(caller, server, sources);
  const managed = manages(caller, server);
  const { tools, prompts, resources, templates } = shownItems(caller, server, offer, managed);
  return {
    ...frameAnswer(caller, server, sources),
    managed,
    tools: countOf(tools, server.tools),
    prompts: countOf(prompts, server.prompts),
    resources: countOf([...resources, ...templates], server.resources),
  };
}

/** The least there is to find a server or a tool by: its name. A list of ten thousand tools stays small. */
export function serverNames(caller: Caller, server: ServerSettings, sources: ServerSources): ServerNames {
  const managed = manages(caller, server);
  const { tools } = shownItems(caller, server, offerOf(caller, server, sources), managed);
  const titled = tools.flatMap((tool) => {
    const title = titleOf(tool);
    return title === undefined ? [] : [[tool.key, title] as const];
  });
  return {
    name: server.name,
    enabled: server.enabled,
    managed,
    tools: tools.map(({ key }) => key),
    ...(titled.length > 0 && { titles: Object.fromEntries(titled) }),
  };
}

/**
 * The tools with all these words in the names of server and tool, in its title or its description, and the beginning
 * of their descriptions. Undefined where there is none.
 */
export function foundNames(
  caller: Caller,
  server: ServerSettings,
  sources: ServerSources,
  words: readonly string[],
): ServerNames | undefined {
  const all = serverNames(caller, server, sources);
  const offer = offerOf(caller, server, sources);
  const { tools } = shownItems(caller, server, offer, all.managed);
  const serverName = server.name.toLowerCase();
  const descriptions: Record<string, string> = {};
  for (const tool of tools) {
    const description = server.tools.get(tool.key)?.description;
    const own = description?.toLowerCase() ?? '';
    const searched = searchedText(tool);
    if (!words.every((word) => serverName.includes(word) || searched.includes(word) || own.includes(word))) continue;
    descriptions[tool.key] = (description ?? descriptionOf(tool)).slice(0, coreLimits.titleChars);
  }
  const found = all.tools.filter((name) => Object.hasOwn(descriptions, name));
  if (found.length === 0) return undefined;
  const titles = Object.entries(all.titles ?? {}).filter(([name]) => Object.hasOwn(descriptions, name));
  const { titles: _titles, ...names } = all;
  return { ...names, tools: found, ...(titles.length > 0 && { titles: Object.fromEntries(titles) }), descriptions };
}

/** Items never change, so each is read once: ten thousand tools are searched with each letter that is typed. */
const searchedTexts = new WeakMap<Item, string>();

function searchedText(item: Item): string {
  let text = searchedTexts.get(item);
  if (text === undefined) {
    text = `${item.key} ${titleOf(item) ?? ''} ${descriptionOf(item)}`.slice(0, coreLimits.textChars).toLowerCase();
    searchedTexts.set(item, text);
  }
  return text;
}

function descriptionOf({ text }: Item): string {
  const given = memberText(text, 'description');
  const description: unknown = given === undefined ? undefined : JSON.parse(given);
  return typeof description === 'string' ? description : '';
}

/** What people are to be shown in place of the name (2025-06-18, Tool: `title`; before that in `annotations`). */
function titleOf({ key, text }: Item): string | undefined {
  if (!text.includes('"title"')) return undefined;
  const own = memberText(text, 'title') ?? memberText(memberText(text, 'annotations') ?? '{}', 'title');
  const title: unknown = own === undefined ? undefined : JSON.parse(own);
  return typeof title === 'string' && title !== '' && title !== key ? title.slice(0, coreLimits.titleChars) : undefined;
}

function countOf(items: readonly Item[], switches: Switches): ItemCount {
  const enabled = items.filter(({ key }) => isOn(switches, key));
  const tokens = enabled.reduce((sum, { text }) => sum + tokensOf(text), 0);
  return { total: items.length, enabled: enabled.length, tokens };
}

/** What is said of a server besides its items. */
function frameAnswer(caller: Caller, server: ServerSettings, sources: ServerSources) {
  const { name, owner, enabled, description, visibility, sharedWithUsers } = server;
  const state = sources.states().find((state) => state.name === name);
  const unset = enabled ? sources.unsetVariables(name) : [];
  const isManaged = manages(caller, server);
  return {
    name,
    ...aboutOf(offerOf(caller, server, sources)),
    ...(description !== undefined && { description }),
    type: server.transport.type,
    owner,
    ...(visibility && { visibility }),
    ...(isManaged && { sharedWithUsers }),
    enabled,
    ...statusAnswer(server, state, isManaged),
    ...keptAnswer(server),
    ...(isManaged && unset.length > 0 && { unsetVariables: unset }),
    ...ownSignIn(caller, server, sources),
    ...ownCredentials(caller, server, sources),
  };
}

/**
 * The same with the configuration: with secrets hidden for users who manage the server, only the harmless part for the
 * others.
 */
export function serverDetails(caller: Caller, server: ServerSettings, sources: ServerSources): ServerDetails {
  const answer = serverAnswer(caller, server, sources);
  const entry = sources.document().mcpServers?.[server.name] ?? {};
  const { transport } = server;
  const held = transport.type === 'stdio' ? { sandbox: sandboxAnswer(transport) } : {};
  if (manages(caller, server)) return { ...answer, config: maskServer(entry), ...held };
  const { type, enabled, owner, description } = answer;
  const config = { type, enabled, owner, ...(description !== undefined && { description }) };
  return { ...answer, config, configRestricted: true };
}

function sandboxAnswer(transport: UsableTransport & { readonly type: 'stdio' }): ServerDetails['sandbox'] {
  const sandbox = confinementOf(transport);
  if (sandbox === undefined) return null;
  // The engine of a container bounds it by itself.
  const unbounded = transport.container ? undefined : boundsObstacle(sandbox);
  const { network, read, write, memoryMb, cpus, processes } = sandbox;
  return {
    network,
    read,
    write,
    ...(memoryMb !== undefined && { memoryMb }),
    ...(cpus !== undefined && { cpus }),
    ...(processes !== undefined && { processes }),
    ...(unbounded && { unbounded }),
  };
}

/** Whose calls are kept may know it. */
function keptAnswer({ keepPayloadsUntil = 0 }: ServerSettings): { payloadsKeptUntil?: string } {
  return keepPayloadsUntil > Date.now() ? { payloadsKeptUntil: new Date(keepPayloadsUntil).toISOString() } : {};
}

/** Why a server is away may quote what it said last, and where it is: that is for those who manage it. */
function statusAnswer(server: ServerSettings, found: ServerState | undefined, isManaged: boolean) {
  // Right after a switch the state is still that of before: the settings say what holds.
  const state = (found?.status === 'disabled') === server.enabled ? undefined : found;
  const {
    status = server.enabled ? 'connecting' : 'disabled',
    error,
    reason,
    output,
    phase,
    phaseSince,
    waiting,
    nextRetryAt,
    attempts,
    lastConnectedAt,
    oauth,
  } = state ?? {};
  const unreachable = 'The server cannot be reached now. Its owner and admins see why.';
  return {
    status,
    error: error === undefined ? null : isManaged ? error : unreachable,
    ...(isManaged && reason && { reason: { ...reason, ...reasonWords(reason) } }),
    ...(isManaged && output !== undefined && { output }),
    ...(phase !== undefined && { phase }),
    ...(phaseSince !== undefined && { phaseSince }),
    ...(waiting && { waiting }),
    ...(nextRetryAt !== undefined && { nextRetryAt }),
    attempts: attempts ?? 0,
    ...(lastConnectedAt !== undefined && { lastConnectedAt }),
    // A user who signs in there gives the hub their rights.
    ...(isManaged && oauth && { oauth }),
  };
}

/**
 * The sign-in state, for the caller alone, of a server that each user signs in to. It does not depend on which other
 * users are signed in.
 */
function ownSignIn(
  { user }: Caller,
  server: ServerSettings,
  { refusal }: ServerSources,
): Partial<Pick<Server, 'status' | 'error' | 'oauth'>> {
  if (!isPerUser(server) || !server.enabled || !user) return {};
  const refused = refusal(server, user.username);
  const oauth = { perUser: true, signedIn: refused === undefined };
  if (refused?.authorizationUrl === undefined) return { oauth };
  const { authorizationUrl, message } = refused;
  return { status: 'oauth_required', error: message, oauth: { ...oauth, authorizationUrl } };
}

/** Whether the caller has set theirs. */
function ownCredentials({ user }: Caller, server: ServerSettings, { credentials }: ServerSources) {
  if (slotsOf(server).length === 0 || !user) return {};
  return { credentials: { configured: credentials.state(server, user).configured } };
}

function aboutOf(offer: Offer | undefined) {
  if (!offer) return {};
  const info = JSON.parse(offer.about.info) as { version?: unknown; icons?: unknown };
  const { version } = info;
  const icon = iconOf(info);
  const { instructions, protocolVersion } = offer.about;
  return {
    ...(typeof version === 'string' && { version }),
    ...(icon !== undefined && { icon }),
    ...(instructions !== undefined && { instructions }),
    protocolVersion,
  };
}

/** All items for users who can switch them; for others the items they may call. */
function itemsAnswer(caller: Caller, server: ServerSettings, offer: Offer | undefined, isManaged: boolean) {
  const { settings } = caller;
  const items = shownItems(caller, server, offer, isManaged);
  const prefixes = [...settings.servers.keys()];
  const exposed = (name: string) => exposedName(server.name, name, settings.system.nameSeparator, prefixes);
  const { tools, prompts, resources } = server;
  const names = renamed(offer?.tools ?? [], (key) => mergedOverride(tools.get(key), undefined));
  return {
    tools: items.tools.map((item) => ({
      ...toolAnswer(item, tools),
      name: exposed(names.get(item.key) ?? item.key),
      originalName: item.key,
    })),
    prompts: items.prompts.map((item) => ({
      ...itemAnswer(item, prompts),
      name: exposed(item.key),
      originalName: item.key,
    })),
    resources: items.resources.map((item) => itemAnswer(item, resources)),
    resourceTemplates: items.templates.map((item) => itemAnswer(item, resources)),
  };
}

function shownItems(caller: Caller, server: ServerSettings, offer: Offer | undefined, isManaged: boolean) {
  const { settings, principal } = caller;
  const grant = isManaged ? undefined : granted(settings, principal, server);
  const shown = (items: readonly Item[] = [], switches: Switches, selection: Selection = []) => {
    if (isManaged) return items;
    return server.enabled ? items.filter(({ key }) => isOn(switches, key) && selects(selection, key)) : [];
  };
  const { tools, prompts, resources } = server;
  return {
    tools: shown(offer?.tools, tools, grant?.tools).filter(
      (item) => grant?.readOnly !== true || isReadOnly(item, tools.get(item.key)),
    ),
    prompts: shown(offer?.prompts, prompts, grant?.prompts),
    resources: shown(offer?.resources, resources, grant?.resources),
    templates: shown(offer?.templates, resources, grant?.resources),
  };
}

type Switches = ReadonlyMap<string, ItemSettings>;

function isOn(switches: Switches, key: string): boolean {
  return switches.get(key)?.enabled !== false;
}

function selects(selection: Selection, key: string): boolean {
  return selection === 'all' || selection.includes(key);
}

/** The tool as clients see it; what the server said of it is at its override (`…/override`). */
function toolAnswer(item: Item, switches: Switches) {
  const override = switches.get(item.key)?.override;
  if (!override) return itemAnswer(item, switches);
  return { ...itemAnswer({ ...item, text: overriddenText(item, override) }, switches), hasOverride: true as const };
}

/** What the server said of the item, with the operator's description in place of its own. */
function itemAnswer({ key, text }: Item, switches: Switches) {
  const item = JSON.parse(text) as Record<string, unknown>;
  const override = switches.get(key)?.description;
  const defaultDescription = typeof item['description'] === 'string' ? item['description'] : '';
  return {
    ...item,
    description: override ?? defaultDescription,
    defaultDescription,
    hasDescriptionOverride: override !== undefined,
    enabled: isOn(switches, key),
  };
}
