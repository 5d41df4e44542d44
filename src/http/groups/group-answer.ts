import { granted, reachesMember } from '../../core/access/rules.ts';
import { exposedName } from '../../core/access/tool-name.ts';
import type { Catalogue } from '../../core/catalogue.ts';
import type { Logger } from '../../core/logger.ts';
import type { GroupSettings } from '../../core/settings/group.ts';
import type { Draft, Editor } from '../../settings/document/document.ts';
import { groupAnswer, type GroupChange } from '../../settings/group/group-edits.ts';
import type { GroupEditor } from '../../settings/group/group-servers.ts';
import type { SettingsStore } from '../../settings/store.ts';
import { type Caller, changeAs } from '../frame/caller.ts';
import { manages } from '../frame/reachable.ts';

export interface GroupRoutes {
  readonly settings: Pick<SettingsStore, 'change'>;
  /** The tools a server offers now, by its own names; undefined while that is not known. */
  readonly knownTools: (server: string) => readonly string[] | undefined;
  readonly catalogue: () => Catalogue;
  /** The catalogue without what pins hold back. */
  readonly shown: () => Catalogue;
  readonly log: Logger;
}

/** `changeAs`, for what changes a group. */
export function changeGroups<T>(
  { settings, knownTools }: GroupRoutes,
  caller: Caller,
  edit: (draft: Draft, by: GroupEditor) => T,
): Promise<T> {
  return changeAs(settings, caller, (draft, by) => edit(draft, groupEditor(caller, by, knownTools)));
}

function groupEditor(caller: Caller, by: Editor, knownTools: GroupRoutes['knownTools']): GroupEditor {
  const { principal, settings } = caller;
  const { servers, system } = settings;
  const shownTool = (prefix: string, tool: string): string =>
    exposedName(prefix, tool, system.nameSeparator, servers.keys());
  return {
    ...by,
    granted(name) {
      const server = servers.get(name);
      return server && granted(settings, principal, server);
    },
    manages(name) {
      const server = servers.get(name);
      return server !== undefined && manages(caller, server);
    },
    knownTools,
    shownTool,
  };
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
