import { endpointNameOf } from '../../core/access/endpoint.ts';
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

type Asker = Pick<Caller, 'settings' | 'principal'>;

/**
 * The name by which the endpoint of a group is reached, from its id or name; another text, such as the name of a
 * server, as it is.
 */
export function endpointNamed(caller: Asker, idOrName: string): string {
  const groups = visibleGroups(caller);
  const group = groups.find(({ id }) => id === idOrName) ?? groups.find(({ name }) => name === idOrName);
  return group ? endpointNameOf(caller.settings, group) : idOrName;
}

/** Throws HubError `not_found`, also for a group the caller may not see. */
export function groupOf(caller: Asker, idOrName: string): GroupSettings {
  return findGroup(visibleGroups(caller), idOrName, () => true);
}

export function visibleGroups({ settings, principal }: Asker): GroupSettings[] {
  return settings.groups.filter((group) => reachesGroup(settings, principal, group));
}
