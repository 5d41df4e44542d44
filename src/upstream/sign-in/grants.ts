import type { OAuthClient } from './oauth-client.ts';

/** Tokens of one sign-in. Times are milliseconds since the epoch. */
export interface OAuthTokens {
  readonly access?: string | undefined;
  readonly refresh?: string | undefined;
  readonly scope?: string | undefined;
  /** Absent: until it is refused. */
  readonly expiresAt?: number | undefined;
  /** From when on a new one should be fetched. */
  readonly renewAt?: number | undefined;
}

/**
 * What the hub keeps of the sign-in to one server. It is good for this server at this address, this resource and this
 * issuer and for nothing else.
 */
export interface Grant {
  readonly server: string;
  /** The user whose sign-in it is, and for whom alone it is used; absent: all users share it. */
  readonly holder?: string | undefined;
  /** Origin and path that the tokens may be sent to. */
  readonly address: string;
  /** The authorization server; unknown for tokens from the settings until they are renewed. */
  readonly issuer?: string | undefined;
  /** The resource indicator (RFC 8707) the tokens were asked for. */
  readonly resource?: string | undefined;
  readonly client?: OAuthClient | undefined;
  readonly tokens?: OAuthTokens | undefined;
  /** Marks the tokens of the settings that this began with, or that it replaced: they are not taken twice. */
  readonly imported?: string | undefined;
  /**
   * Marks what the settings said in place of the authorization server when the user signed in; the tokens go nowhere
   * else.
   */
  readonly endpoints?: string | undefined;
  /**
   * When the holder was made a user of the hub, as the settings say it: the next user of that name is another person.
   */
  readonly holderSince?: string | undefined;
  /** When the user signed in, milliseconds since the epoch. */
  readonly since?: number | undefined;
}

/** Names one grant among all. */
export type GrantKey = Pick<Grant, 'server' | 'holder'>;

/** The key as one text. */
export function grantId({ server, holder }: GrantKey): string {
  return JSON.stringify(holder === undefined ? [server] : [server, holder]);
}

/** The grants of all servers, kept across restarts. */
export interface Grants {
  get(key: GrantKey): Grant | undefined;
  all(): readonly Grant[];
  /** Resolves when it is stored, or the log says why it is not: the hub goes on with what it has in memory. */
  set(grant: Grant): Promise<void>;
  delete(key: GrantKey): Promise<void>;
  /**
   * Puts what `work` makes of `old` in its place, unless that is not what is stored any more; gives what is stored
   * then. For one grant this happens once at a time, in all hubs that share it. Throws what `work` throws, and HubError
   * `not_ready` or `timeout` when the others cannot be asked to wait.
   */
  replace(old: Grant, work: (old: Grant) => Promise<Grant>): Promise<Grant | undefined>;
  /** Calls `changed` after each change of this grant, by any hub or user. Returns the function that ends it. */
  watch(key: GrantKey, changed: () => void): () => void;
  /** Everything in it that must never be shown. */
  secrets(): string[];
  /** Waits for what is being written. */
  close(): Promise<void>;
}

/** What every store of grants has in memory: it is asked by each request to a server. */
export type GrantMemory = Pick<Grants, 'get' | 'all' | 'watch' | 'secrets'> & {
  put(grant: Grant): void;
  remove(key: GrantKey): void;
};

export function createGrantMemory(initial: readonly Grant[], changed: () => void): GrantMemory {
  const grants = new Map(initial.map((grant) => [grantId(grant), grant]));
  const watchers = new Map<string, Set<() => void>>();

  function tell(id: string): void {
    for (const watcher of watchers.get(id) ?? []) watcher();
    changed();
  }

  return {
    get: (key) => grants.get(grantId(key)),
    all: () => [...grants.values()],
    put(grant) {
      grants.set(grantId(grant), grant);
      tell(grantId(grant));
    },
    remove(key) {
      if (grants.delete(grantId(key))) tell(grantId(key));
    },
    watch(key, watcher) {
      const id = grantId(key);
      const all = watchers.get(id) ?? new Set();
      watchers.set(id, all.add(watcher));
      return () => {
        all.delete(watcher);
        if (all.size === 0) watchers.delete(id);
      };
    },
    secrets: () =>
      [...grants.values()]
        .flatMap(({ client, tokens }) => [client?.secret, tokens?.access, tokens?.refresh])
        .filter((secret) => secret !== undefined),
  };
}
