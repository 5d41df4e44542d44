import { isObject } from '../../core/protocol/rpc.ts';
import { type Draft, type Entry, textOf } from '../document/document.ts';
import { exportSettings } from '../export/export-settings.ts';
import { hasUnknownOwner, isPublishedElsewhere } from './import-settings.ts';

/**
 * What an import of settings leaves alone: a user who is there already, an access key (a file has no secret of it that
 * could be trusted), a section the hub does not know; of a server that it is public by an admin's word (`publication`),
 * and an owner who is unknown here (`owner`).
 */
export interface SkippedMembers {
  readonly kind: 'user' | 'key' | 'section' | 'publication' | 'owner';
  readonly name: string;
}

const taken = new Set(['mcpServers', 'groups', 'users', 'systemConfig', 'bearerKeys', 'prompts', 'resources']);

/** What `importSettings` will pass over of this file; to be asked before it is run. Names are as the file has them. */
export function skippedMembers(draft: Readonly<Draft>, given: unknown): SkippedMembers[] {
  if (!isObject(given)) return [];
  const known = new Set((draft.users ?? []).map(({ username }) => username));
  const users = namesIn(given['users'], 'username').filter((name) => known.has(name));
  const keys = namesIn(given['bearerKeys'], 'name');
  const sections = Object.keys(given).filter((key) => !taken.has(key));
  const servers = Object.entries(isObject(given['mcpServers']) ? given['mcpServers'] : {});
  const { mcpServers: here = {} } = draft;
  const exported = exportSettings(draft) as Draft;
  const published = servers.filter(([name, entry]) =>
    isPublishedElsewhere(entry, here[name], exported.mcpServers?.[name]),
  );
  const allUsers = [...(draft.users ?? []), ...entriesIn(given['users'])];
  const ofUnknown = servers.filter(([name, entry]) => hasUnknownOwner(allUsers, entry, here[name]));
  return [
    ...users.map((name): SkippedMembers => ({ kind: 'user', name })),
    ...keys.map((name): SkippedMembers => ({ kind: 'key', name })),
    ...sections.map((name): SkippedMembers => ({ kind: 'section', name })),
    ...published.map(([name]): SkippedMembers => ({ kind: 'publication', name })),
    ...ofUnknown.map(([name]): SkippedMembers => ({ kind: 'owner', name })),
  ];
}

function namesIn(list: unknown, member: string): string[] {
  return entriesIn(list).map((each) => textOf(each[member]) ?? '');
}

function entriesIn(list: unknown): Entry[] {
  return Array.isArray(list) ? list.filter((each): each is Entry => isObject(each)) : [];
}
