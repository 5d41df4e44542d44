import { authLimits } from './limits.ts';

/** Where revocations outlive the process: plain JSON, written as a whole. */
export interface RevocationStore {
  /** What was saved last, by any replica; undefined when nothing was. */
  load(): Promise<unknown>;
  save(state: RevocationState): Promise<void>;
}

/** One entry per user with something revoked. Times in milliseconds since the epoch. */
export type RevocationState = readonly {
  readonly username: string;
  /** Every token issued until then has ended; 0 = none. */
  readonly before: number;
  /** Ids of ended tokens with the time they would have expired. */
  readonly ids: readonly (readonly [jti: string, expiresAt: number])[];
}[];

/**
 * Which tokens ended before they expired. Bounded by the users, and by `authLimits.revokedTokensPerUser` for each of
 * them. What could not be stored is reported to the caller, holds here, and is tried again until it is stored.
 */
export interface Revocations {
  /** `consent`: what the token is from, if it is from one; it ends with that. */
  revoked(token: { username: string; jti: string; issuedAt: number }, consent?: string): boolean;
  revoke(token: { username: string; jti: string; expiresAt: number }): Promise<void>;
  /**
   * Ends all tokens issued until now by any hub, whose clock may be ahead by `authLimits.clockToleranceMs`, until
   * `atLeast`, and after the last such end. The tokens that the user gets next are issued after `cutoff`, which may be
   * in the future.
   */
  revokeUser(username: string, atLeast?: number): Promise<void>;
  /** Tokens of this user issued until then have ended; 0 = none. */
  cutoff(username: string): number;
  refresh(): Promise<void>;
  /** Tries once more to store what could not be stored, and no more after that. Never rejects. */
  close(): Promise<void>;
}

interface Entry {
  before: number;
  ids: Map<string, number>;
}

export function createRevocations(options: { store?: RevocationStore; now: () => number }): Revocations {
  const { store, now } = options;
  const users = new Map<string, Entry>();
  const { save, close } = saving(async () => store?.save(state()));

  function entryOf(username: string): Entry {
    let entry = users.get(username);
    if (!entry) {
      entry = { before: 0, ids: new Map() };
      users.set(username, entry);
    }
    return entry;
  }

  function endAll(entry: Entry, atLeast = 0): void {
    // A token issued since the last end says that it was issued just after it, however little time has passed.
    const sinceLast = entry.before > 0 ? entry.before + 1 : 0;
    entry.before = Math.max(now() + authLimits.clockToleranceMs, sinceLast, atLeast);
    // Their tokens ended with all the others.
    entry.ids.clear();
  }

  /**
   * Whether a token that expires then ended with all others, so that its id is not needed. Times of expiry are whole
   * seconds.
   */
  function hasEnded({ before }: Entry, expiresAt: number): boolean {
    return expiresAt - authLimits.accessTokenMs + 999 <= before;
  }

  /** Forgets what has expired anyway. */
  function prune(): void {
    const at = now() - authLimits.clockToleranceMs;
    for (const [username, entry] of users) {
      for (const [jti, expiresAt] of entry.ids) if (expiresAt <= at) entry.ids.delete(jti);
      if (entry.before + authLimits.accessTokenMs <= at) entry.before = 0;
      if (entry.before === 0 && entry.ids.size === 0) users.delete(username);
    }
  }

  function state(): RevocationState {
    prune();
    return [...users].map(([username, { before, ids }]) => ({ username, before, ids: [...ids] }));
  }

  function add(username: string, jti: string, expiresAt: number): void {
    const entry = entryOf(username);
    entry.ids.set(jti, expiresAt);
    // If one were forgotten, its token would be accepted again. So past the limit all tokens of this user are ended.
    if (entry.ids.size > authLimits.revokedTokensPerUser) endAll(entry);
  }

  return {
    revoked({ username, jti, issuedAt }, consent) {
      const entry = users.get(username);
      if (!entry) return false;
      return issuedAt <= entry.before || entry.ids.has(jti) || (consent !== undefined && entry.ids.has(consent));
    },
    revoke({ username, jti, expiresAt }) {
      add(username, jti, expiresAt);
      return save();
    },
    revokeUser(username, atLeast) {
      endAll(entryOf(username), atLeast);
      return save();
    },
    cutoff: (username) => users.get(username)?.before ?? 0,
    async refresh() {
      for (const { username, before, ids } of readRevocations(await store?.load())) {
        const entry = entryOf(username);
        entry.before = Math.max(entry.before, before);
        for (const [jti, expiresAt] of ids) if (!hasEnded(entry, expiresAt)) add(username, jti, expiresAt);
      }
      prune();
    },
    close,
  };
}

/**
 * Writes with `write`, one at a time, and again until it succeeds. `save` rejects with what `write` throws. The caller
 * closes it.
 */
export function saving(write: () => Promise<void>): { save: () => Promise<void>; close: () => Promise<void> } {
  let queued: Promise<void> | undefined;
  let last: Promise<void> = Promise.resolve();
  let retry: NodeJS.Timeout | undefined;
  let isUnsaved = false;
  let isClosed = false;

  async function writeNow(): Promise<void> {
    queued = undefined;
    isUnsaved = true;
    try {
      await write();
      isUnsaved = false;
    } catch (error) {
      later();
      throw error;
    }
  }

  /** What is saved while a write runs is in the next one, and waits for that. */
  function save(): Promise<void> {
    // A write that failed was reported to those who waited for it; the next one brings its content along.
    return (queued ??= last = last.then(writeNow, writeNow));
  }

  /** What has ended would be good again after a restart. */
  function later(): void {
    if (isClosed) return;
    retry ??= setTimeout(() => {
      retry = undefined;
      if (isUnsaved) save().catch(() => undefined);
    }, authLimits.revocationRetryMs).unref();
  }

  return {
    save,
    async close() {
      isClosed = true;
      clearTimeout(retry);
      await last.catch(() => undefined);
      if (isUnsaved) await save().catch(() => undefined);
    },
  };
}

/** What a store returns is not trusted: an invalid entry is skipped. */
export function readRevocations(stored: unknown): RevocationState {
  if (!Array.isArray(stored)) return [];
  return stored.flatMap((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null) return [];
    const { username, before, ids } = entry as Record<string, unknown>;
    if (typeof username !== 'string') return [];
    const pairs = (Array.isArray(ids) ? ids : []).flatMap((pair: unknown) => {
      const [jti, expiresAt] = Array.isArray(pair) ? (pair as unknown[]) : [];
      return typeof jti === 'string' && typeof expiresAt === 'number' ? [[jti, expiresAt] as const] : [];
    });
    return [{ username, before: typeof before === 'number' ? before : 0, ids: pairs }];
  });
}
