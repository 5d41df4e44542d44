import { type Principal, principalOf, type Reach } from '../../core/access/principal.ts';
import { reaches, reachesGroup, resolve } from '../../core/access/rules.ts';
import { type Scope, scopeOf } from '../../core/access/scope.ts';
import { saying } from '../../core/sentences.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import type { Consent } from '../../auth/oauth/consents.ts';
import type { Asked } from '../../auth/oauth/open-authorization.ts';
import { authLimits } from '../../auth/limits.ts';
import type { ConsentPage } from './authorize-pages.ts';

/** In front of the name of a server that a group has too. */
const serverMark = '$server/';

/**
 * Who decides, and what they can cut a consent down to at an endpoint: groups where all servers are, and the servers
 * there.
 */
export function choicesOf(
  settings: Settings,
  user: UserSettings,
  endpoint: string,
): Pick<ConsentPage, 'username' | 'isAdmin' | 'groups' | 'servers'> {
  const principal = principalOf(user);
  const scope = scopeOfEndpoint(endpoint);
  const { kind, members } = resolve(
    settings,
    principal,
    scope.kind === 'smart' && !scope.group ? { kind: 'all' } : scope,
  );
  const seen = settings.groups.filter((group) => reachesGroup(settings, principal, group));
  const groups = kind === 'all' ? seen.map(({ name }) => ({ value: name, text: name })) : [];
  const names = kind === 'server' ? [] : members.map(({ server }) => server.name);
  const isGroup = (name: string): boolean => seen.some((group) => group.name === name || group.id === name);
  return {
    username: user.username,
    isAdmin: user.role === 'admin',
    groups,
    servers: names.map((name) => ({ value: isGroup(name) ? `${serverMark}${name}` : name, text: name })),
  };
}

/** What a user chose in the form of a consent. Throws HubError `invalid_input`. */
export function chosenIn(
  form: URLSearchParams,
  { wantsApi }: Pick<Asked, 'wantsApi'>,
  settings: Settings,
  user: UserSettings,
): Pick<Consent, 'reach' | 'scope'> {
  const reach = reachIn(form.getAll('reach'), settings, principalOf(user));
  if (!wantsApi || !form.getAll('scope').includes('api')) return { reach };
  // A client that manages could widen its reach.
  if (reach) throw saying('invalid_input', 'reach_all_for_api');
  return { scope: 'mcp api' };
}

/**
 * What the fields `reach` of a consent say: `all` (undefined here), or the names of groups and servers, which count
 * where both are there. Throws HubError `invalid_input` for none, for a name that this user does not reach, and for too
 * many.
 */
function reachIn(fields: readonly string[], settings: Settings, principal: Principal): Reach | undefined {
  const names = [...new Set(fields)].filter((name) => name !== 'all');
  if (names.length === 0) {
    if (fields.includes('all')) return undefined;
    throw saying('invalid_input', 'reach_none');
  }
  if (names.length > authLimits.reachNames || names.join('').length > authLimits.reachChars)
    throw saying('invalid_input', 'reach_many', { most: String(authLimits.reachNames) });
  const groups: string[] = [];
  const servers: string[] = [];
  for (const name of names) {
    const group = settings.groups.find(
      (group) => (group.name === name || group.id === name) && reachesGroup(settings, principal, group),
    );
    const server = settings.servers.get(name.startsWith(serverMark) ? name.slice(serverMark.length) : name);
    if (group) groups.push(group.id);
    else if (server && reaches(settings, principal, server)) servers.push(server.name);
    else throw saying('invalid_input', 'reach_unknown', { name: name.slice(0, 100) });
  }
  return { groups, servers };
}

/** The scope of an endpoint, also of a user's own (`/ann/mcp`). */
function scopeOfEndpoint(endpoint: string): Scope {
  const [, rest = ''] = /^(?:\/[^/]+)??\/(?:mcp|sse)((?:\/.*)?)$/s.exec(endpoint) ?? [];
  return scopeOf(rest) ?? { kind: 'all' };
}
