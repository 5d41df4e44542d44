import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Cidr, inRanges, parseCidr } from '../core/address.ts';
import { isInForce } from '../core/access/identity.ts';
import { maskKey } from '../core/mask.ts';
import type { KeySettings } from '../core/settings/key.ts';
import type { Settings } from '../core/settings/settings.ts';

/** A new access key (CONTRACT §2). */
export interface NewKey {
  /** Shown to its owner once and kept nowhere. */
  readonly token: string;
  /** What the settings keep: SHA-256, hex. */
  readonly tokenHash: string;
  /** What lists show of it. */
  readonly masked: string;
}

/** `mcphub_` and 64 hex digits: 256 random bits, so a plain SHA-256 is enough to keep it by. */
export function makeKey(): NewKey {
  const token = `mcphub_${randomBytes(32).toString('hex')}`;
  return { token, tokenHash: hashKey(token), masked: maskKey(token) };
}

export function hashKey(token: string): string {
  return hash('sha256', token, 'hex');
}

/**
 * The key with this token that is enabled and has not expired; undefined when there is none. The token before its last
 * rotation counts until its time is over.
 */
export function findKey(settings: Settings, token: string): KeySettings | undefined {
  let found = tokens.get(settings.keys);
  let entry = found?.get(token);
  if (!entry) {
    entry = entryWith(settings, token);
    if (!entry) return undefined;
    // At most as many as there are keys, twice.
    found ??= new Map();
    tokens.set(settings.keys, found.set(token, entry));
  }
  const { key, until } = entry;
  return isInForce(key) && (until === undefined || Date.now() < until) ? key : undefined;
}

/** Whether a text is the token of any key, also of one that is not accepted. */
export function isTokenOfKey(settings: Settings, token: string): boolean {
  return entryWith(settings, token) !== undefined;
}

/** Whether a key is accepted from an address. One that cannot be known (`unknown`) is none of those allowed. */
export function isAcceptedFrom({ allowedAddresses }: KeySettings, address: string | undefined): boolean {
  if (allowedAddresses === undefined) return true;
  let ranges = rangesOf.get(allowedAddresses);
  if (!ranges) {
    ranges = allowedAddresses.flatMap((text) => parseCidr(text) ?? []);
    rangesOf.set(allowedAddresses, ranges);
  }
  return address !== undefined && inRanges(address, ranges);
}

/** Read once per snapshot of the settings. */
const rangesOf = new WeakMap<readonly string[], readonly Cidr[]>();

/** A token of a key, and until when it is accepted if another has taken its place. */
interface Entry {
  readonly key: KeySettings;
  readonly tokenHash: string;
  readonly until: number | undefined;
}

/** Tokens that were right, so that not each call need be hashed. */
const tokens = new WeakMap<readonly KeySettings[], Map<string, Entry>>();

function entryWith(settings: Settings, token: string): Entry | undefined {
  const tokenHash = hashKey(token);
  const entry = indexOf(settings.keys).get(tokenHash);
  // Looking up by hash tells an attacker at most about hashes; the comparison that decides takes the same time for all
  // of them.
  return entry && timingSafeEqual(Buffer.from(entry.tokenHash), Buffer.from(tokenHash)) ? entry : undefined;
}

const indexes = new WeakMap<readonly KeySettings[], ReadonlyMap<string, Entry>>();

/** Settings are immutable snapshots, so the index of one is made once and goes away with it. */
function indexOf(keys: readonly KeySettings[]): ReadonlyMap<string, Entry> {
  let index = indexes.get(keys);
  if (!index) {
    const entry = (key: KeySettings, hash: string, until?: number): [string, Entry] => {
      const tokenHash = hash.toLowerCase();
      return [tokenHash, { key, tokenHash, until }];
    };
    // A token that is some key's now is that key's, whichever had it before.
    index = new Map([
      ...keys.flatMap((key) => (key.previous ? [entry(key, key.previous.tokenHash, key.previous.until)] : [])),
      ...keys.map((key) => entry(key, key.tokenHash)),
    ]);
    indexes.set(keys, index);
  }
  return index;
}
