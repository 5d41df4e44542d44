import { readFile } from 'node:fs/promises';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { diskError, errnoOf } from '../../disk/disk-error.ts';
import { writeFileAtomic } from '../../disk/write-file-atomic.ts';
import { authLimits } from '../limits.ts';
import { saving } from '../revocations.ts';
import { type Consent, type Consents, isStale, rotated } from './consents.ts';

const formatVersion = 1;

/**
 * Consents of a hub without replicas, in a file of its data folder. No secret is in it. What cannot be written down is
 * tried again until it is; a consent that was ended has ended meanwhile.
 */
export async function openFileConsents(path: string, log: Logger, now: () => number = Date.now): Promise<Consents> {
  const consents = new Map((await load(path, log)).map((consent) => [consent.id, consent]));
  /** Ids of those that have ended here and not yet in the file. */
  const unwritten = new Set<string>();
  const writer = saving(async () => {
    const ended = [...unwritten];
    await writeFileAtomic(path, JSON.stringify({ version: formatVersion, consents: [...consents.values()] }));
    for (const id of ended) unwritten.delete(id);
  });

  function save(attempt = 'Cannot write down which clients users let in'): Promise<void> {
    return writer.save().catch((error: unknown) => {
      throw diskError(error, attempt, path);
    });
  }

  /** What it takes away because a user has too many. */
  function prune(username: string): readonly Consent[] {
    const at = now();
    for (const [id, consent] of consents) if (isStale(consent, at)) consents.delete(id);
    const own = [...consents.values()].filter((consent) => consent.username === username);
    const oldest = own.toSorted((a, b) => b.usedAt - a.usedAt).slice(authLimits.consentsPerUser);
    for (const { id } of oldest) consents.delete(id);
    return oldest;
  }

  const live = (id: string): Consent | undefined => {
    const consent = consents.get(id);
    return consent && consent.endedAt === undefined && !isStale(consent, now()) ? consent : undefined;
  };

  /** One that has not ended, also if only the file says so. */
  const known = (id: string): Consent | undefined => live(id) ?? (unwritten.has(id) ? consents.get(id) : undefined);

  async function endNow(own: readonly Consent[]): Promise<readonly Consent[]> {
    const ended = own.map((consent) => ({ ...consent, endedAt: consent.endedAt ?? now() }));
    for (const consent of ended) {
      consents.set(consent.id, consent);
      unwritten.add(consent.id);
    }
    if (ended.length > 0)
      await save(
        'The client has no access any more. That is not written down yet, and is tried again; a restart before that brings its access back. Cannot write it',
      );
    return ended;
  }

  return {
    async add(consent) {
      if (consents.has(consent.id)) return undefined;
      consents.set(consent.id, consent);
      const pushedOut = prune(consent.username);
      try {
        await save();
      } catch (error) {
        consents.delete(consent.id);
        for (const one of pushedOut) consents.set(one.id, one);
        throw error;
      }
      return pushedOut.filter(({ endedAt }) => endedAt === undefined);
    },
    async rotate(id, generation) {
      const consent = live(id);
      if (!consent) return { kind: 'unknown' };
      const rotation = rotated(consent, generation, now());
      if (rotation.kind === 'good' && rotation.consent !== consent) {
        consents.set(id, rotation.consent);
        // What a restart forgets of it does no harm: the token that was given has the higher number.
        await save().catch((error: unknown) => log.warn('refresh token not written down', { error: errorText(error) }));
      }
      return rotation;
    },
    async all() {
      const found = [...consents.keys()].flatMap((id) => known(id) ?? []);
      return found.toSorted((a, b) => b.createdAt - a.createdAt);
    },
    async end(id) {
      const consent = known(id);
      return consent && (await endNow([consent]))[0];
    },
    async endUser(username) {
      return endNow([...consents.keys()].flatMap((id) => known(id) ?? []).filter((one) => one.username === username));
    },
    async knows(client) {
      return [...consents.values()].some((consent) => consent.client === client);
    },
    close: writer.close,
  };
}

async function load(path: string, log: Logger): Promise<readonly Consent[]> {
  try {
    const saved: unknown = JSON.parse(await readFile(path, 'utf8'));
    // Only the hub writes it, as a whole.
    if (isObject(saved) && saved['version'] === formatVersion && Array.isArray(saved['consents']))
      return saved['consents'] as Consent[];
    throw new Error('unknown format');
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT')
      log.warn('Cannot read which clients users let in; they have to let them in again', {
        path,
        error: errorText(error),
      });
    return [];
  }
}
