import { reaches, reachesGroup } from '../../core/access/rules.ts';
import { saying } from '../../core/sentences.ts';
import type { GroupSettings } from '../../core/settings/group.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import { findGroup } from '../../settings/group/group-edits.ts';
import type { Caller } from './caller.ts';

/** The server of that name, as far as the caller can know. Throws HubError `not_found`. */
export function serverOf({ settings, principal }: Caller, name: string): ServerSettings {
  const server = settings.servers.get(name);
  if (!server || !reaches(settings, principal, server)) throw saying('not_found', 'no_server', { name });
  return server;
}

export function visibleServers({ settings, principal }: Caller): ServerSettings[] {
  return [...settings.servers.values()].filter((server) => reaches(settings, principal, server));
}

/** True for callers who may change the server, and so see its configuration: its owner, and admins. */
export function manages({ principal, user, admin }: Caller, server: ServerSettings): boolean {
  return principal.kind === 'user' && (admin || user?.username === server.owner);
}

/** The server, for a caller who may change it. Throws HubError `not_found` or `forbidden`. */
export function managedServer(caller: Caller, name: string, attempt: string): ServerSettings {
  const server = serverOf(caller, name);
  if (manages(caller, server)) return server;
  throw saying('forbidden', 'not_yours', { attempt, owner: server.owner });
}

/** Throws HubError `not_found`, also for a group the caller may not see. */
export function groupOf(caller: Caller, idOrName: string): GroupSettings {
  return findGroup(visibleGroups(caller), idOrName, () => true);
}

export function visibleGroups({ settings, principal }: Caller): GroupSettings[] {
  return settings.groups.filter((group) => reachesGroup(settings, principal, group));
}
