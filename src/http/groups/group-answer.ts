import { granted, reachesMember } from '../../core/access/rules.ts';
import { exposedName } from '../../core/access/tool-name.ts';
import { isReadOnly } from '../../core/access/tool-override.ts';
import type { Catalogue } from '../../core/catalogue.ts';
import type { Logger } from '../../core/logger.ts';
import type { GroupSettings } from '../../core/settings/group.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import type { Draft, Editor } from '../../settings/document/document.ts';
import { groupAnswer, type GroupChange } from '../../settings/group/group-edits.ts';
import type { GroupEditor } from '../../settings/group/group-servers.ts';
import type { SettingsStore } from '../../settings/store.ts';
import { type Caller, changeAs } from '../frame/caller.ts';
import { manages } from '../frame/reachable.ts';

export interface GroupRoutes {
  readonly settings: Pick<SettingsStore, 'change'>;
  readonly catalogue: () => Catalogue;
  /** The catalogue without what pins hold back. */
  readonly shown: () => Catalogue;
  readonly log: Logger;
}

/** `changeAs`, for what changes a group. */
export function changeGroups<T>(
  options: GroupRoutes,
  caller: Caller,
  edit: (draft: Draft, by: GroupEditor) => T,
): Promise<T> {
  return changeAs(options.settings, caller, (draft, by) => edit(draft, groupEditor(caller, by, options)));
}

function groupEditor(
  caller: Caller,
  by: Editor,
  { catalogue, shown }: Pick<GroupRoutes, 'catalogue' | 'shown'>,
): GroupEditor {
  const { principal, settings } = caller;
  const { servers, system } = settings;
  const isManaged = (server: ServerSettings | undefined): boolean => server !== undefined && manages(caller, server);
  const shownTool = (prefix: string, tool: string): string =>
    exposedName(prefix, tool, system.nameSeparator, servers.keys());
  return {
    ...by,
    granted(name) {
      const server = servers.get(name);
      return server && granted(settings, principal, server);
    },
    manages: (name) => isManaged(servers.get(name)),
    // What is held back, switched off or of others is not told apart from what is not there.
    knownTools(name) {
      const server = servers.get(name);
      const { offers } = isManaged(server) ? catalogue() : seenOf(caller, server, shown());
      return offers.get(name)?.tools.map(({ key }) => key);
    },
    shownTool,
  };
}

/** The catalogue with those tools of the server that a caller who does not manage it may call. */
export function seenOf(caller: Caller, server: ServerSettings | undefined, { offers, version }: Catalogue): Catalogue {
  const offer = server && offers.get(server.name);
  const grant = server && granted(caller.settings, caller.principal, server);
  if (!offer || !grant) return { version, offers: new Map() };
  const { tools, readOnly } = grant;
  const seen = offer.tools.filter((item) => {
    const settings = server.tools.get(item.key);
    if (settings?.enabled === false || (tools !== 'all' && !tools.includes(item.key))) return false;
    return !readOnly || isReadOnly(item, settings);
  });
  return { version, offers: new Map([[server.name, { ...offer, tools: seen }]]) };
}

/** A group as this caller sees it (SPEC, Group). */
export function shownGroup(caller: Caller, group: GroupSettings) {
  return groupAnswer(group, seesIn(caller, group));
}

/**
 * Which members of a group the caller sees. One that is gone from the settings is there for those who can take it out.
 */
export function seesIn(caller: Caller, group: GroupSettings): (server: string) => boolean {
  const { settings, principal, user, admin } = caller;
  return (name) => {
    const server = settings.servers.get(name);
    return server ? reachesMember(settings, principal, group, server) : admin || user?.username === group.owner;
  };
}

/** The answer to every change of a group: the group as it is now, and in the message what may be a mistake. */
export function changedGroup(caller: Caller, { group, notes }: GroupChange, message: string) {
  return [shownGroup(caller, group), { message: [message, ...notes].join(' ') }] as const;
}
