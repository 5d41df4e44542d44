import { isDeepStrictEqual } from 'node:util';
import { HubError } from '../../core/errors.ts';
import { isObject } from '../../core/protocol/rpc.ts';

export type Entry = Readonly<Record<string, unknown>>;

/** Where an entry is: the member that holds all of them, and its name there. */
export interface EntryPlace {
  readonly servers: string;
  readonly name: string;
}

/** Members that say how a server is reached, in any client: those of another connection go. */
const ofConnections = new Set(
  `type transport transportType url serverUrl httpUrl tcp headers requestInit auth oauth command args env envFile cwd
  bearer_token bearer_token_env_var http_headers env_http_headers env_vars scopes`.split(/\s+/),
);

/**
 * The entry that takes the place of what is there: the connection is the new one, what a user set besides (switched
 * off, approved, a timeout) stays.
 */
export function merged(there: unknown, entry: Entry): Entry {
  if (!isObject(there)) return entry;
  return { ...entry, ...Object.fromEntries(Object.entries(there).filter(([name]) => !ofConnections.has(name))) };
}

/** Whether an entry reaches the same address in the same way; what it shows there (a key) may differ. */
export function isSameConnection(there: unknown, entry: Entry): boolean {
  if (!isObject(there)) return false;
  const shown = new Set(['headers', 'env']);
  const rest = (from: Entry) =>
    Object.fromEntries(Object.entries(from).filter(([name]) => ofConnections.has(name) && !shown.has(name)));
  return isDeepStrictEqual(rest(there), rest(entry)) && hasCredential(there) === hasCredential(entry);
}

function hasCredential({ headers, env }: Entry): boolean {
  return (isObject(headers) && 'Authorization' in headers) || (isObject(env) && 'TOOLHUB_AUTH' in env);
}

/** What a file has to say after an edit. Throws HubError where the place is something else than a list of servers. */
export function expected(document: unknown, { servers, name }: EntryPlace, entry: Entry | undefined): unknown {
  if (!isObject(document)) throw new HubError('misconfigured', 'holds something else than members with names');
  const all = document[servers];
  if (all !== undefined && !isObject(all)) throw new HubError('misconfigured', `has something else at "${servers}"`);
  const { [name]: _, ...others } = all ?? {};
  if (entry !== undefined) return { ...document, [servers]: { ...all, [name]: entry } };
  return all === undefined ? document : { ...document, [servers]: others };
}
