import { readFile } from 'node:fs/promises';
import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { diskError, errnoOf } from '../disk/disk-error.ts';
import { writeFileAtomic } from '../disk/write-file-atomic.ts';
import { authLimits } from './limits.ts';
import { isOver, type LoginSession, type SeenSession, type SessionStore } from './session-store.ts';

const formatVersion = 1;

interface Entry extends SeenSession {
  readonly tokenHash: string;
}

/** Sessions of a hub without replicas, in a file of its data folder. No secret is in it. */
export async function openFileSessions(path: string, log: Logger, now: () => number = Date.now): Promise<SessionStore> {
  const entries = new Map((await load(path, log)).map((entry) => [entry.session.claims.jti, entry]));
  let queued: Promise<void> | undefined;
  let last: Promise<void> = Promise.resolve();

  /** One write at a time; what changes while one runs is in the next one. */
  function save(): Promise<void> {
    const write = async (): Promise<void> => {
      queued = undefined;
      await writeFileAtomic(path, JSON.stringify({ version: formatVersion, sessions: [...entries.values()] }));
    };
    queued ??= last = last.then(write, write);
    return queued.catch((error: unknown) => {
      throw diskError(error, 'Cannot write down who is logged in', path);
    });
  }

  function live(): Entry[] {
    for (const [id, entry] of entries) if (isOver(entry, now())) entries.delete(id);
    return [...entries.values()].toSorted((a, b) => b.seenAt - a.seenAt);
  }

  return {
    async add(tokenHash, session) {
      const { jti, username } = session.claims;
      entries.set(jti, { tokenHash, session, seenAt: now() });
      const own = live().filter((entry) => entry.session.claims.username === username);
      const pushedOut = own.slice(authLimits.sessionsPerUser).map(({ session }) => session);
      for (const { claims } of pushedOut) entries.delete(claims.jti);
      try {
        await save();
      } catch (error) {
        entries.delete(jti);
        throw error;
      }
      return pushedOut;
    },
    async find(tokenHash, isUse) {
      const entry = live().find((entry) => entry.tokenHash === tokenHash);
      if (!entry || !isUse) return entry;
      const used = { ...entry, seenAt: now() };
      entries.set(entry.session.claims.jti, used);
      // What a restart forgets of it only makes the session idle earlier.
      save().catch((error: unknown) => log.warn('use of a session not written down', { error: errorText(error) }));
      return used;
    },
    async renew(id, tokenHash, session) {
      if (!live().some((entry) => entry.session.claims.jti === id)) return false;
      entries.set(id, { tokenHash, session, seenAt: now() });
      await save();
      return true;
    },
    onRenewed: () => () => undefined,
    async replace(id, refreshedAt, session) {
      const entry = live().find((entry) => entry.session.claims.jti === id);
      if (entry?.session.provider?.refresh?.at !== refreshedAt) return false;
      entries.set(id, { ...entry, session });
      await save();
      return true;
    },
    async ofUser(username) {
      return live().filter(({ session }) => session.claims.username === username);
    },
    async via(method) {
      return live().flatMap(({ session }) => (session.via === method ? [session] : []));
    },
    async end(ids) {
      const ended = ids.flatMap((id): LoginSession[] => {
        const entry = entries.get(id);
        return entry && entries.delete(id) ? [entry.session] : [];
      });
      if (ended.length > 0) await save();
      return ended;
    },
  };
}

async function load(path: string, log: Logger): Promise<readonly Entry[]> {
  try {
    const saved: unknown = JSON.parse(await readFile(path, 'utf8'));
    // Only the hub writes it, as a whole.
    if (isObject(saved) && saved['version'] === formatVersion && Array.isArray(saved['sessions']))
      return saved['sessions'] as Entry[];
    throw new Error('unknown format');
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT')
      log.warn('Cannot read who is logged in; users have to log in again', { path, error: errorText(error) });
    return [];
  }
}
