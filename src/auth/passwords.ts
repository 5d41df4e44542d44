import { createHmac, randomBytes } from 'node:crypto';
import { hash as argon2Hash, parseOptions as argon2Options, verify as argon2Verify } from '@node-rs/argon2';
import { verify as bcryptVerify } from '@node-rs/bcrypt';
import { saying } from '../core/sentences.ts';
import { coreLimits } from '../core/limits.ts';
import { authLimits } from './limits.ts';

/** Hashes and verifies passwords off the event loop, a few at a time (CONTRACT §4, Users). */
export interface Passwords {
  /**
   * The argon2id hash of a password; which passwords may be set is decided in `settings/user/user-input`. Throws
   * HubError `too_many` when too many wait.
   */
  hash(password: string): Promise<string>;
  /**
   * True when the password fits the hash: argon2id, or the bcrypt of an MCPHub file. A hash of any other kind fits
   * none. `started` runs when its turn has come, and what it throws ends it there. `first` goes before the others who
   * wait, however many they are. Throws HubError `too_many` when too many wait.
   */
  verify(password: string, passwordHash: string, started?: () => void, first?: boolean): Promise<boolean>;
  /**
   * Does for an unknown name what `verify` does for a real one, and answers false: the time of a refusal must not tell
   * which users exist. `known` are the hashes of the real users; each unknown name behaves like one of them, always the
   * same one.
   */
  verifyNobody(username: string, password: string, known: readonly string[], started?: () => void): Promise<false>;
}

/** `memory` in KiB. */
type Argon2 = { name: 'argon2id'; memory: number; passes: number; lanes: number };
type Kind = Argon2 | { name: 'bcrypt'; cost: number };

/** The cost of the hashes that the hub makes. */
const ours = (): Argon2 => ({
  name: 'argon2id',
  memory: authLimits.hashMemoryKiB,
  passes: authLimits.hashPasses,
  lanes: authLimits.hashLanes,
});

export function createPasswords(): Passwords {
  const turns = createTurns(authLimits.passwordsAtOnce, authLimits.passwordsWaiting);
  // Which real user an unknown name resembles must not be computable outside.
  const secret = randomBytes(32);

  function compare(password: string, passwordHash: string, started?: () => void, first = false): Promise<boolean> {
    return turns.take(first, async () => {
      started?.();
      if (password.length > coreLimits.passwordChars) return false;
      const kind = kindOf(passwordHash);
      // A user whose hash the hub cannot verify must not be recognisable by a quick refusal either.
      if (kind === undefined) return (await argon2Verify(hashToCompare(ours()), password)) && false;
      // The two libraries take their arguments in opposite order.
      return kind.name === 'bcrypt' ? bcryptVerify(password, passwordHash) : argon2Verify(passwordHash, password);
    });
  }

  return {
    // Of a user who is logged in already.
    hash(password) {
      const { memory: memoryCost, passes: timeCost, lanes: parallelism } = ours();
      return turns.take(true, () => argon2Hash(password, { memoryCost, timeCost, parallelism }));
    },
    verify: compare,
    async verifyNobody(username, password, known, started) {
      const place = createHmac('sha256', secret).update(username).digest().readUInt32BE(0);
      const like = known[place % Math.max(1, known.length)];
      const kind = like === undefined ? undefined : kindOf(like);
      await compare(password, hashToCompare(kind ?? ours()), started);
      return false;
    },
  };
}

/** True for a hash that should be replaced at the next login: bcrypt, or argon2id weaker than ours. */
export function needsRehash(passwordHash: string): boolean {
  const kind = kindOf(passwordHash);
  if (kind?.name !== 'argon2id') return true;
  const { memory, passes, lanes } = ours();
  return kind.memory < memory || kind.passes < passes || kind.lanes < lanes;
}

/**
 * What a hash is made of; undefined when it is none of ours, or so expensive that verifying it would overload the hub.
 */
function kindOf(passwordHash: string): Kind | undefined {
  try {
    const bcrypt = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(passwordHash);
    if (bcrypt) {
      const cost = Number(bcrypt[1]);
      return cost >= 4 && cost <= authLimits.bcryptCost ? { name: 'bcrypt', cost } : undefined;
    }
    if (!passwordHash.startsWith('$argon2id$')) return undefined;
    const { memoryCost: memory, timeCost: passes, parallelism: lanes } = argon2Options(passwordHash);
    const affordable =
      memory <= authLimits.argon2MemoryKiB && passes <= authLimits.argon2Passes && lanes <= authLimits.argon2Lanes;
    return affordable ? { name: 'argon2id', memory, passes, lanes } : undefined;
  } catch {
    // The parsers throw for what is not a hash: it fits no password.
    return undefined;
  }
}

/** A well-formed hash of this kind that no known password has: the work to verify it is the same. */
function hashToCompare(kind: Kind): string {
  if (kind.name === 'bcrypt') return `$2b$${String(kind.cost).padStart(2, '0')}$${'.'.repeat(53)}`;
  const { memory, passes, lanes } = kind;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${lanes}$${'A'.repeat(22)}$${'A'.repeat(43)}`;
}

/**
 * Runs at most `atOnce` works at a time, in order of arrival, the `first` before the others; of each of these kinds it
 * refuses more than `waiting` in the queue.
 */
function createTurns(atOnce: number, waiting: number) {
  const firsts: (() => void)[] = [];
  const others: (() => void)[] = [];
  let running = 0;

  return {
    async take<T>(first: boolean, work: () => Promise<T>): Promise<T> {
      if (running < atOnce) running++;
      else {
        const queue = first ? firsts : others;
        if (queue.length >= waiting) {
          throw saying('too_many', 'logins_at_once', {}, { retryAfterMs: 5_000 });
        }
        // Work that finishes passes its place to the next, so the count stays.
        await new Promise<void>((resolve) => queue.push(resolve));
      }
      try {
        return await work();
      } finally {
        const next = firsts.shift() ?? others.shift();
        if (next) next();
        else running--;
      }
    },
  };
}
