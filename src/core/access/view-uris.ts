import type { Catalogue, Offer } from '../catalogue.ts';
import { matchesTemplate } from '../protocol/uri-template.ts';
import { ownUri, pagesOf, pageUris } from './apps.ts';
import type { Resolved, ScopeMember } from './rules.ts';
import { ownSkillUri, sharedSkillUri, skillScheme, withSharedSkills } from './skills.ts';
import type { Pages, Target, UriList } from './view-lists.ts';

// Where URIs lead that no list of a view has.

/** What targets say of the pages of a server in this scope. */
export function pagesIn(
  { kind, members }: Resolved,
  { offers }: Catalogue,
  hasOwnSkills: boolean,
): (server: string) => Pages {
  const offered = members.flatMap(({ server }) => offers.get(server.name) ?? []);
  const uris = pageUris(offered);
  const skills = kind === 'server' ? undefined : withSharedSkills(offered, hasOwnSkills);
  return (server) => {
    const offer = offers.get(server);
    if (!offer) return {};
    const page = uris.get(server);
    const hasSkills = skills?.has(server) === true;
    const pageUri = hasSkills
      ? (uri: string) => (uri.startsWith(skillScheme) ? sharedSkillUri(server, uri) : (page?.(uri) ?? uri))
      : page;
    return {
      ...(pagesOf(offer).size > 0 && { hasPages: true }),
      ...(pageUri && { pageUri }),
      ...(hasSkills && { hasSkills }),
    };
  };
}

/** Where a URI of a skill with a server's name in front leads; before any list, so that no other server takes it. */
export function ofSkill(uri: string, templates: UriList, { members }: Resolved, now: Unlisted): Target | undefined {
  const own = uri.startsWith(skillScheme) ? ownSkillUri(uri) : undefined;
  const member = own && members.find(({ server: { name } }) => name === own.server && now.pages(name).hasSkills);
  return member && readable(member, own.uri, templates, now);
}

interface Unlisted {
  readonly catalogue: Catalogue;
  readonly pages: (server: string) => Pages;
}

/**
 * Where to read a URI that no list names: a page of an app at its server, known of its tools or by its shared URI, else
 * the first server with a template that fits, else the only server of the scope that has resources. A page that several
 * servers have goes by no server's own URI.
 */
export function unlistedUri(uri: string, templates: UriList, resolved: Resolved, now: Unlisted): Target | undefined {
  const { members } = resolved;
  const having = members.filter(({ server }) => now.pages(server.name).hasPages);
  const known = having.find(({ server: { name } }) => {
    const offer = now.catalogue.offers.get(name);
    return offer && pagesOf(offer).has(uri) && (now.pages(name).pageUri?.(uri) ?? uri) === uri;
  });
  if (known) return readable(known, uri, templates, now);
  const page = ownUri(uri);
  const owner = page && having.find(({ server: { name } }) => name === page.server && now.pages(name).pageUri);
  if (owner) return readable(owner, page.uri, templates, now);
  const template = templates.targets.find(
    ({ key, pageUri }) => matchesTemplate(key, uri) && (pageUri?.(key) ?? key) === key,
  );
  if (!template && uri.startsWith('ui://') && having.length > 0) {
    const [only] = having;
    return only && having.length === 1 ? readable(only, uri, templates, now) : undefined;
  }
  const server = template?.server ?? onlyWithResources(resolved, now.catalogue)?.server;
  const member = members.find((one) => one.server.name === server);
  return member && readable(member, uri, templates, now);
}

/**
 * The resource at this server. What the operator switched off or left out of the group, a resource or a whole template,
 * is not found in this way either.
 */
function readable(
  member: ScopeMember,
  uri: string,
  templates: UriList,
  { catalogue, pages }: Unlisted,
): Target | undefined {
  const { name } = member.server;
  const offer = catalogue.offers.get(name);
  const template = templates.targets.find((target) => target.server === name && matchesTemplate(target.key, uri));
  const hides = member.resources !== 'all' || [...member.server.resources.values()].some(({ enabled }) => !enabled);
  const target = { server: name, key: uri, ...(hides && { guarded: true }), ...pages(name) };
  const plain = plainUri(uri);
  const isOff = [...member.server.resources].some(
    ([key, { enabled }]) => !enabled && (plainUri(key) === plain || (!template && matchesTemplate(key, uri))),
  );
  const held = offer?.held ?? [];
  if (isOff || held.some((key) => plainUri(key) === plain || (!template && matchesTemplate(key, uri))))
    return undefined;
  if (member.resources === 'all' || member.resources.includes(uri)) return target;
  // Of a named subset a template opens what could not be named itself.
  const isListed = offer?.resources.some((item) => plainUri(item.key) === plain);
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
