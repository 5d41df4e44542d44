import type { Item, Offer } from '../catalogue.ts';
import { editObject, elements, memberText } from '../json/text.ts';
import { skillScheme } from './skills.ts';

/**
 * MCP Apps through endpoints of several servers (CONTRACT §11; extension `io.modelcontextprotocol/ui`). A page that is
 * known of one server alone keeps its URI. Where two servers have `ui://map/view.html`, that of `geo` is
 * `ui://geo/map/view.html`, and so is a page that no list names.
 */

const scheme = 'ui://';

/**
 * The pages that a server is known to have: what it lists, and what its tools are shown with. One without resources has
 * none to show. Read once per offer.
 */
export function pagesOf(offer: Offer): ReadonlySet<string> {
  let known = pages.get(offer);
  if (known === undefined) {
    const texts = [...offer.tools, ...offer.resources, ...offer.templates].map(({ text }) => text);
    const found = new Set<string>();
    const note = (uri: string): string => {
      if (uri.startsWith(scheme)) found.add(uri);
      return uri;
    };
    if (offer.about.capabilities.includes('resources')) for (const text of texts) withPageUris(text, note);
    known = found;
    pages.set(offer, known);
  }
  return known;
}

const pages = new WeakMap<Offer, ReadonlySet<string>>();

/** How a server's pages are called on an endpoint; gives other URIs back as they are. */
export type PageUri = (uri: string) => string;

/**
 * How the pages of these servers are called beside each other, by server. None where fewer than two of them have pages:
 * there all keep their URIs. What reads as the shared URI of another server is never kept: its page would stand in the
 * place of that server's.
 */
export function pageUris(offers: readonly Offer[]): ReadonlyMap<string, PageUri> {
  const having = offers.filter((offer) => pagesOf(offer).size > 0);
  if (having.length < 2) return new Map();
  const owners = new Map<string, number>();
  for (const uri of having.flatMap((offer) => [...pagesOf(offer)])) owners.set(uri, (owners.get(uri) ?? 0) + 1);
  const names = new Set(having.map(({ server }) => server));
  const isReserved = (uri: string, offer: Offer): boolean => {
    const of = ownUri(uri);
    if (of === undefined) return false;
    return of.server === offer.server ? pagesOf(offer).has(of.uri) : names.has(of.server);
  };
  return new Map(
    having.map((offer) => {
      const isKept = (uri: string): boolean =>
        pagesOf(offer).has(uri) && owners.get(uri) === 1 && !isReserved(uri, offer);
      return [offer.server, (uri: string) => (isKept(uri) ? uri : sharedUri(offer.server, uri))] as const;
    }),
  );
}

/** Whether a tool is for the pages of its server alone, and not for models (`_meta.ui.visibility`). */
export function isForAppsAlone(item: Item): boolean {
  if (!item.text.includes('"visibility"')) return false;
  let known = forAppsAlone.get(item);
  if (known === undefined) {
    const ui = memberText(memberText(item.text, '_meta') ?? '{}', 'ui') ?? '{}';
    const given = memberText(ui, 'visibility');
    const visibility = given === undefined ? [] : elements(given).map((one): unknown => JSON.parse(one));
    known = visibility.includes('app') && !visibility.includes('model');
    forAppsAlone.set(item, known);
  }
  return known;
}

const forAppsAlone = new WeakMap<Item, boolean>();

/** The URI of a page of a server among those of others; any other URI as it is. */
export function sharedUri(server: string, uri: string): string {
  return uri.startsWith(scheme) ? `${scheme}${encodeURIComponent(server)}/${uri.slice(scheme.length)}` : uri;
}

/** What `sharedUri` was made of; undefined for any other URI. */
export function ownUri(shared: string): { readonly server: string; readonly uri: string } | undefined {
  const at = shared.startsWith(scheme) ? shared.indexOf('/', scheme.length) : -1;
  if (at === -1) return undefined;
  try {
    const server = decodeURIComponent(shared.slice(scheme.length, at));
    const found = { server, uri: `${scheme}${shared.slice(at + 1)}` };
    return sharedUri(server, found.uri) === shared ? found : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A tool, resource, template or result of a server as JSON text, with its pages and the files of its skills called as
 * `pageUri` says: in `uri` and `uriTemplate`, in `_meta.ui.resourceUri` and its older form, and in what `content`,
 * `contents`, `messages`, `skills`, `skill` and `resources` hold.
 */
export function withPageUris(text: string, pageUri: PageUri): string {
  if (!mayNamePages(text)) return text;
  const shown = (value: string): string => shownText(value, pageUri);
  const uris = (one: string): string => edited(one, { uri: shown, uriTemplate: shown });
  const meta = (one: string): string =>
    edited(one, { ui: (ui) => edited(ui, { resourceUri: shown }), 'ui/resourceUri': shown });
  const block = (one: string): string => edited(uris(one), { resource: uris, _meta: meta });
  const blocks = (list: string): string => listOf(list, block);
  const messages = (list: string): string => listOf(list, (one) => edited(one, { content: block }));
  const resources = (list: string): string => listOf(list, uris);
  const skill = (one: string): string => edited(uris(one), { resources });
  const skills = (list: string): string => listOf(list, skill);
  return edited(block(text), { content: blocks, contents: blocks, messages, skills, skill, resources });
}

/** Whether such a text may have the URI of a page or of a file of a skill; false for most texts. */
export function mayNamePages(text: string): boolean {
  return /(?:ui|skill):(?:\/|\\\/)/.test(text);
}

function listOf(list: string, edit: (one: string) => string): string {
  return list.startsWith('[') ? `[${elements(list).map(edit).join(',')}]` : list;
}

/** A string of JSON with the URI of a page or of a file of a skill. */
function shownText(value: string, pageUri: PageUri): string {
  if (!value.startsWith('"')) return value;
  const uri = JSON.parse(value) as string;
  const shown = uri.startsWith(scheme) || uri.startsWith(skillScheme) ? pageUri(uri) : uri;
  return shown === uri ? value : JSON.stringify(shown);
}

/** The object with members replaced by what is made of them; anything that is no object as it is. */
function edited(text: string, edits: Readonly<Record<string, (value: string) => string>>): string {
  const changed: Record<string, string> = {};
  for (const [name, edit] of Object.entries(edits)) {
    const value = memberText(text, name);
    const next = value === undefined ? undefined : edit(value);
    if (next !== undefined && next !== value) changed[name] = next;
  }
  return Object.keys(changed).length > 0 ? editObject(text, changed) : text;
}
