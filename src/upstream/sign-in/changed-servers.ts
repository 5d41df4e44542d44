import { isPerUser } from '../../core/access/per-user.ts';
import type { LoggerFor } from '../../core/logger.ts';
import type { ServerSettings, TransportSettings } from '../../core/settings/server.ts';
import { upstreamLimits } from '../limits.ts';
import { addressOf } from './accounts.ts';
import { type Grant, grantId, type GrantKey, type Grants } from './grants.ts';

// What becomes of sign-ins when their server, or their user, changes in the settings: those of a renamed server go
// along, what no longer fits is forgotten.

/**
 * Sign-ins that go along when their server gets another name: whose they are and where they are good stays as it was.
 */
export interface Renaming {
  /**
   * The grants without those that are being moved, which are neither stale grants nor for the next server of the old
   * name.
   */
  readonly seen: Grants;
  /** Forgets what a server left that was deleted. */
  readonly deleted: (server: string) => Promise<void>;
  /** Resolves when all that was on its way to this name is there. */
  arrived(server: string): Promise<void>;
  /**
   * Resolves when all are there; one that is being renewed comes with its new tokens. Call it as soon as the settings
   * say so: what is there under the new name is another server's.
   */
  readonly rename: (from: string, to: string) => Promise<void>;
}

export interface RenamingOptions {
  readonly grants: Grants;
  /** The server of that name now. */
  readonly server: (name: string) => ServerSettings | undefined;
  /** Ends the account that uses a sign-in under its old name. */
  readonly forget: (key: GrantKey) => void;
  /** The server has to be connected again: its account was ended. */
  readonly relist: (server: string) => void;
  readonly log: LoggerFor;
}

interface Move {
  readonly from: string;
  readonly to: string;
  /** When it began: a user who signs in later under the old name signs in to another server. */
  readonly at: number;
  readonly owner: string | undefined;
}

export function createRenaming({ grants, server, forget, relist, log }: RenamingOptions): Renaming {
  /** What is under way, and when it is over. One after the other: the next may take the same sign-ins on, or back. */
  const moves = new Map<Move, Promise<void>>();
  let last: Promise<void> = Promise.resolve();

  const isUnderWay = (name: string): boolean => [...moves.keys()].some(({ from }) => from === name);
  const isOnItsWay = (grant: Grant): boolean => [...moves.keys()].some((move) => isOf(move, grant));

  /** Only while the server that it is for exists, and no user has signed in to that server meanwhile. */
  async function copy({ to, owner }: Move, grant: Grant): Promise<void> {
    const next = server(to);
    const isThere = isUnderWay(to) || (next !== undefined && next.owner === owner);
    if (isThere && !grants.get({ ...grant, server: to })?.tokens) await grants.set({ ...grant, server: to });
  }

  async function moveOne(move: Move, grant: Grant): Promise<void> {
    try {
      await inPlace(grants, move, grant, (now) => copy(move, now));
    } catch {
      // Other hubs cannot be asked whether one of them is renewing it.
      const now = grants.get(grant);
      if (now && isOf(move, now)) await copy(move, now);
    }
    const left = grants.get(grant);
    if (left && isOf(move, left)) await grants.delete(left);
  }

  async function moveAll(move: Move): Promise<void> {
    const { from, to } = move;
    const all = grants.all().filter((grant) => isOf(move, grant));
    await Promise.all(all.map((grant) => moveOne(move, grant)));
    if (all.length > 0) log(`server:${to}`).info('sign-ins go on under the new name of the server', { before: from });
  }

  /** Forgets what a server left that had the name before; false when that was nothing. */
  async function clear(name: string): Promise<boolean> {
    const left = grants.all().filter((grant) => grant.server === name && !isOnItsWay(grant));
    for (const grant of left) forget(grant);
    await Promise.all(left.map((grant) => grants.delete(grant)));
    return left.length > 0;
  }

  return {
    seen: {
      ...grants,
      all: () => grants.all().filter((grant) => !isOnItsWay(grant)),
      get(key) {
        const grant = grants.get(key);
        return grant && isOnItsWay(grant) ? undefined : grant;
      },
      async set(grant) {
        const stored = grants.get(grant);
        // A registration of the next server of the old name can be made again, the tokens in this place cannot.
        if (grant.tokens === undefined && stored && isOnItsWay(stored)) return;
        await grants.set(grant);
      },
    },
    async deleted(name) {
      if (await clear(name)) relist(name);
    },
    async arrived(name) {
      await Promise.all([...moves].flatMap(([{ to }, over]) => (to === name ? [over] : [])));
    },
    async rename(from, to) {
      // A name that a server gets back before its sign-ins have left it.
      const isBack = isUnderWay(to);
      if (!isBack) void clear(to);
      const move = { from, to, at: Date.now(), owner: server(to)?.owner };
      const own = grants.all().filter((grant) => isOf(move, grant));
      const isComing = [...moves.keys()].some((earlier) => earlier.to === from);
      if (own.length === 0 && !isComing) return;
      // At once: from here on nothing is renewed under the old name, and what goes is not taken for a sign-out.
      for (const grant of own) forget(grant);
      last = last
        .catch(() => undefined)
        .then(() => moveAll(move))
        .finally(() => moves.delete(move));
      moves.set(move, last);
      await last;
      if (isBack) relist(to);
    },
  };
}

function isOf({ from, at }: Move, { server, since = 0 }: Grant): boolean {
  return server === from && since <= at;
}

/**
 * Runs `work` with the grant once no renewal of it is under way: tokens that a renewal has used up would be of no use
 * under another name.
 */
async function inPlace(grants: Grants, move: Move, grant: Grant, work: (now: Grant) => Promise<void>): Promise<void> {
  let done = false;
  let now: Grant | undefined = grant;
  while (now && isOf(move, now)) {
    now = await grants.replace(now, async (current) => {
      await work(current);
      done = true;
      return current;
    });
    if (done) return;
  }
}

export interface StaleGrantsOptions {
  readonly grants: Grants;
  /**
   * When other hubs have the same sign-ins: whether our settings can be as new as theirs, give or take a moment.
   * Absent: there are no others.
   */
  readonly isCurrent?: () => boolean;
  /** The server's transport with its placeholders filled in. Throws HubError when it cannot be used. */
  readonly expand: (server: ServerSettings) => TransportSettings;
  /** The server of that name now. */
  readonly server: (name: string) => ServerSettings | undefined;
  /**
   * True while this user may sign in to the server: for all users, or, where each user signs in alone, for this user.
   */
  readonly maySignIn: (username: string, server: ServerSettings) => boolean;
  /** When this user was made, as the settings say it. */
  readonly userSince: (username: string) => string | undefined;
  /** Grants that do not fit now are to be looked at again. Raise a flag and return. */
  readonly changed: () => void;
  readonly log: LoggerFor;
}

/** What is kept of sign-ins that no longer fit the settings. */
export interface StaleGrants {
  /** The server is there, at this address, and where users sign in alone this one still may. */
  isGood(grant: Grant): boolean;
  /** Forgets all that are not; `forgotten` is called first. */
  forget(forgotten: (key: GrantKey) => void): void;
  close(): void;
}

export function createStaleGrants(options: StaleGrantsOptions): StaleGrants {
  const { grants, log } = options;
  let settleTimer: NodeJS.Timeout | undefined;
  /** Since when each has not fitted the settings, milliseconds since the epoch. */
  const suspects = new Map<string, number>();

  function isGood({ server: name, holder, holderSince, address }: Grant): boolean {
    const server = options.server(name);
    if (!server) return false;
    const now = currentAddress(server, options.expand);
    if (now !== address && now !== 'unknown') return false;
    if (holder === undefined) return true;
    return isPerUser(server) && options.maySignIn(holder, server) && options.userSince(holder) === holderSince;
  }

  /** Where all users shared one sign-in before and each user signs in alone now, the shared one is of no use. */
  function isStale({ server: name, holder, tokens }: Grant): boolean {
    const server = options.server(name);
    return server !== undefined && isPerUser(server) && holder === undefined && tokens !== undefined;
  }

  /** Looked at again when the settings must have come. */
  function settleLater(): void {
    settleTimer ??= setTimeout(() => {
      settleTimer = undefined;
      options.changed();
    }, upstreamLimits.signInSettleMs + 1_000).unref();
  }

  /**
   * Another hub may have newer settings, with that server and that user in them: what is forgotten here is forgotten
   * for all.
   */
  function isCertain(id: string): boolean {
    if (!options.isCurrent) return true;
    if (!options.isCurrent()) {
      suspects.clear();
      return false;
    }
    const since = suspects.get(id) ?? Date.now();
    suspects.set(id, since);
    return Date.now() - since >= upstreamLimits.signInSettleMs;
  }

  function remove(grant: Grant, forgotten: (key: GrantKey) => void): void {
    const { server, holder } = grant;
    const why = 'a sign-in is forgotten: no user may use it any more, or the server is gone or elsewhere';
    log(`server:${server}`).info(why, { ...(holder !== undefined && { user: holder }) });
    suspects.delete(grantId(grant));
    forgotten(grant);
    void grants.delete(grant);
  }

  return {
    isGood,
    forget(forgotten) {
      for (const grant of grants.all()) {
        if (isGood(grant) && !isStale(grant)) suspects.delete(grantId(grant));
        else if (isCertain(grantId(grant))) remove(grant, forgotten);
        else settleLater();
      }
    },
    close: () => clearTimeout(settleTimer),
  };
}

/** `unknown` while the settings of the server cannot be used. */
function currentAddress(server: ServerSettings, expand: StaleGrantsOptions['expand']): string | undefined {
  let transport: TransportSettings;
  try {
    transport = expand(server);
  } catch {
    return 'unknown';
  }
  return 'url' in transport ? addressOf(transport.url) : undefined;
}
