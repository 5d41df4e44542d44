import type { LoggerFor } from '../../core/logger.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import type { Grant, GrantKey, Grants } from './grants.ts';

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
