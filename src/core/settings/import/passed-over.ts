import { type Draft, type Entry, textOf } from '../document.ts';
import { isObject } from '../../protocol/rpc.ts';

/** What an import of settings leaves alone: a user who is there already, an access key (a file has no secret of it that could be trusted), a section the hub does not know. */
export interface PassedOver {
  readonly kind: 'user' | 'key' | 'section';
  readonly name: string;
}

const taken = new Set(['mcpServers', 'groups', 'users', 'systemConfig', 'bearerKeys']);

/** What `importSettings` will pass over of this file; to be asked before it is run. Names are as the file has them. */
export function passedOver(draft: Readonly<Draft>, given: unknown): PassedOver[] {
  if (!isObject(given)) return [];
  const known = new Set((draft.users ?? []).map(({ username }) => username));
  const users = namesIn(given['users'], 'username').filter((name) => known.has(name));
  const keys = namesIn(given['bearerKeys'], 'name');
  const sections = Object.keys(given).filter((key) => !taken.has(key));
  return [
    ...users.map((name): PassedOver => ({ kind: 'user', name })),
    ...keys.map((name): PassedOver => ({ kind: 'key', name })),
    ...sections.map((name): PassedOver => ({ kind: 'section', name })),
  ];
}

function namesIn(list: unknown, member: string): string[] {
  if (!Array.isArray(list)) return [];
  return list.filter((each): each is Entry => isObject(each)).map((each) => textOf(each[member]) ?? '');
}
