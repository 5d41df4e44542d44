import { isObject } from '../../core/protocol/rpc.ts';

/** One object of the settings document, unknown members and all. */
export type Entry = Record<string, unknown>;

/**
 * The settings document (`mcp_settings.json`, reference §4.1) as edits get it: plain JSON that they change in place.
 * Only the containers are named; what is in them may have been written by hand, so it is read liberally, and what an
 * edit does not concern stays as it is.
 */
export interface Draft {
  mcpServers?: Record<string, Entry>;
  groups?: Entry[];
  users?: Entry[];
  bearerKeys?: Entry[];
  systemConfig?: Entry;
  [key: string]: unknown;
}

/**
 * On whose behalf a change is made, and what that user may see: for everything else the change must answer as if it did
 * not exist.
 */
export interface Editor {
  readonly username: string;
  readonly isAdmin: boolean;
  readonly seesServer: (name: string) => boolean;
  readonly seesGroup: (id: string) => boolean;
}

/** The live list of a kind, made when it is missing; its elements are the entries themselves. */
export function listOf(draft: Draft, kind: 'groups' | 'users' | 'bearerKeys'): Entry[] {
  return (draft[kind] ??= []);
}

export function serversOf(draft: Draft): Record<string, Entry> {
  return (draft.mcpServers ??= {});
}

export function hasServer(draft: Draft, name: string): boolean {
  return Object.hasOwn(serversOf(draft), name);
}

/** The elements that are texts; nothing of what is not a list. */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((element) => typeof element === 'string') : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The name of an element of a group's `servers`, which is a name or an object with one. */
export function memberName(element: unknown): string | undefined {
  return isObject(element) ? textOf(element['name']) : textOf(element);
}

/** The owner of a server or group. */
export function ownerOf(draft: Draft, entry: Entry): string {
  return textOf(entry['owner']) ?? systemOwner(draft.users);
}

/**
 * Who owns the servers and groups without an owner, which are the system's: `admin` (reference: MCPHub §1.1), or the
 * first admin where the user of that name is no admin. So a user who is no admin does not get them because of the name.
 * `users` as the document has them.
 */
export function systemOwner(users: unknown): string {
  const known: Entry[] = Array.isArray(users) ? users.filter(isObject) : [];
  const named = known.find(({ username }) => username === 'admin');
  if (!named || roleOf(named) === 'admin') return 'admin';
  return textOf(known.find((user) => roleOf(user) === 'admin')?.['username']) ?? 'admin';
}

/**
 * MCPHub writes `isAdmin`, SPEC says `role`: files have either. Where they contradict each other the user is no admin.
 */
export function roleOf(user: Entry): 'admin' | 'user' {
  const { role, isAdmin } = user;
  if (role === undefined || role === null) return isAdmin === true ? 'admin' : 'user';
  return role === 'admin' && isAdmin !== false ? 'admin' : 'user';
}

/**
 * Changes each list of names in place: `each` gives the new name, or undefined to take it out. A name that occurs twice
 * afterwards stays once. Members that are no list are left alone.
 */
export function renameIn(entries: readonly Entry[], member: string, each: (name: string) => string | undefined): void {
  for (const entry of entries) {
    const list = entry[member];
    if (!Array.isArray(list)) continue;
    const renamed = list.flatMap((element: unknown) => {
      const name = typeof element === 'string' ? each(element) : element;
      return name === undefined ? [] : [name];
    });
    entry[member] = [...new Set(renamed)];
  }
}
