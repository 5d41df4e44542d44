import { isObject } from '../../core/protocol/rpc.ts';

/** What one user set for one server (CONTRACT §8, Per-user credentials). */
export interface Binding {
  readonly server: string;
  readonly username: string;
  /** When the account was made, as the settings say it: a later user of that name has none of it. */
  readonly since?: string | undefined;
  /** Where the values may go: `placeOf` the server. */
  readonly place: string;
  /** By `env.<name>`, `headers.<name>`, `args.<name>`. */
  readonly values: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
}

/**
 * The bindings of all users, in memory for the calls, and sealed where they are kept. Writing throws HubError when it
 * could not be written; nothing has changed then.
 */
export interface Bindings {
  get(server: string, username: string): Binding | undefined;
  /** The oldest first. The same list until something changes. */
  all(): readonly Binding[];
  /** All of it or nothing: takes out what is gone, then puts in what takes its place. */
  change(edit: BindingChange): Promise<void>;
  close(): Promise<void>;
}

export interface BindingChange {
  readonly gone?: readonly Pick<Binding, 'server' | 'username'>[];
  readonly put?: readonly Binding[];
}

export function oldestFirst(bindings: Iterable<Binding>): readonly Binding[] {
  return [...bindings].toSorted((a, b) => a.updatedAt - b.updatedAt);
}

export function bindingId({ server, username }: Pick<Binding, 'server' | 'username'>): string {
  return JSON.stringify([server, username]);
}

/** A binding as it was sealed, which only hubs with the secret do; undefined for anything else. */
export function parsedBinding(text: string | undefined): Binding | undefined {
  if (text === undefined) return undefined;
  const found: unknown = JSON.parse(text);
  return isObject(found) && typeof found['server'] === 'string' && typeof found['username'] === 'string'
    ? (found as unknown as Binding)
    : undefined;
}
