import type { Offer, ServerAbout } from '../catalogue.ts';

/**
 * Skills of servers (extension `io.modelcontextprotocol/skills`). On an endpoint of several servers their URIs begin
 * with the server's name: `skill://refunds/SKILL.md` of `shop` is `skill://shop/refunds/SKILL.md` there. Two servers
 * may have the same URI for different skills, and the hub does not know all of them before it asks.
 */
export const skillsExtension = 'io.modelcontextprotocol/skills';
export const skillScheme = 'skill://';

export function servesSkills({ capabilities }: Pick<ServerAbout, 'capabilities'>): boolean {
  return capabilities.includes(`extensions.${skillsExtension}`);
}

/** Whether it also lists folders (`directoryRead`). */
export function listsFolders({ capabilities }: Pick<ServerAbout, 'capabilities'>): boolean {
  return capabilities.includes(`extensions.${skillsExtension}.directoryRead`);
}

/**
 * The servers whose `skill:` URIs get their names in front beside each other: those with skills, and where there are
 * any (`hasOwn`: of the hub itself), those that list such a URI without having skills. Otherwise these could list the
 * URI of another server's skill.
 */
export function withSharedSkills(offers: readonly Offer[], hasOwn: boolean): ReadonlySet<string> {
  if (!hasOwn && !offers.some(({ about }) => servesSkills(about))) return new Set();
  const isOfSkill = ({ key }: { readonly key: string }): boolean => key.startsWith(skillScheme);
  const having = offers.filter(
    ({ about, resources, templates }) => servesSkills(about) || resources.some(isOfSkill) || templates.some(isOfSkill),
  );
  return new Set(having.map(({ server }) => server));
}

/** The URI of a file of a server's skill among those of other servers. */
export function sharedSkillUri(server: string, uri: string): string {
  return `${skillScheme}${encodeURIComponent(server)}/${uri.slice(skillScheme.length)}`;
}

/** What `sharedSkillUri` was made of; undefined for any other URI. */
export function ownSkillUri(shared: string): { readonly server: string; readonly uri: string } | undefined {
  const at = shared.startsWith(skillScheme) ? shared.indexOf('/', skillScheme.length) : -1;
  if (at === -1) return undefined;
  try {
    const server = decodeURIComponent(shared.slice(skillScheme.length, at));
    const found = { server, uri: `${skillScheme}${shared.slice(at + 1)}` };
    return sharedSkillUri(server, found.uri) === shared ? found : undefined;
  } catch {
    return undefined;
  }
}
