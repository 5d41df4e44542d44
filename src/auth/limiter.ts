import { hash } from 'node:crypto';
import type { HubError } from '../core/errors.ts';
import { saying } from '../core/sentences.ts';
import { networkOf } from '../core/network.ts';
import { authLimits } from './limits.ts';

/** Who tries to log in, and from where. */
export interface Attempt {
  readonly account: string;
  readonly address: string;
}

/**
 * Slows down guessing of passwords (reference: MCPHub §1.1) without letting one lock out another: what is refused for
 * the rest of a window is an address, or an account from one address. An account that is tried from many addresses is
 * only slowed down, and never for those from which it was logged in to since the hub started.
 */
export interface LoginLimiter {
  /** Throws HubError `too_many` with the time to wait when no further attempt is allowed. */
  check(attempt: Attempt): void;
  /**
   * `check`, and the attempt counts as a failure until `succeeded` is called, or `open`: attempts at the same time must
   * not all pass before the first of them has failed.
   */
  begin(attempt: Attempt): Counted;
  /** True when a login to the account from that address has succeeded. */
  isKnown(attempt: Attempt): boolean;
  /**
   * How many failures of addresses, accounts and pairs of them are remembered; never more than
   * `authLimits.loginRecords`.
   */
  size(): number;
}

/** An attempt that was counted. The first call counts. */
export interface Counted {
  succeeded(): void;
  /** Neither failed nor succeeded: the second factor is still to come. */
  open(): void;
}

interface Window {
  failures: number;
  endsAt: number;
  /**
   * Of an account that is slowed down: when the next attempt from an address that is not known is due; it may come
   * early by `slack`.
   */
  dueAt: number;
}

export interface LoginLimits {
  readonly now?: () => number;
  readonly records?: number;
  readonly perAddress?: number;
  readonly perAccount?: number;
}

export function createLoginLimiter(options: LoginLimits = {}): LoginLimiter {
  const {
    // Not the time of day: if the clock were set back, users would be refused for longer.
    now = () => performance.now(),
    records = authLimits.loginRecords,
    perAddress = authLimits.loginFailuresPerAddress,
    perAccount = authLimits.loginFailuresPerAccount,
  } = options;
  // All windows are equally long, so the order of insertion is the order in which they end.
  const windows = new Map<string, Window>();
  const known = createKnown();
  const slack = (authLimits.loginSlowBurst - 1) * authLimits.loginSlowMs;

  function open(key: string, at: number): Window | undefined {
    const window = windows.get(key);
    return window && window.endsAt > at ? window : undefined;
  }

  function windowOf(key: string, at: number): Window {
    const opened = open(key, at);
    if (opened) return opened;
    windows.delete(key);
    for (const [oldest, { endsAt }] of windows) {
      if (windows.size < records && endsAt > at) break;
      windows.delete(oldest);
    }
    const fresh = { failures: 0, endsAt: at + authLimits.loginWindowMs, dueAt: at };
    windows.set(key, fresh);
    return fresh;
  }

  function check(attempt: Attempt): void {
    const at = now();
    const { address, pair, account } = keysOf(attempt);
    const isKnown = known.has(account, address);
    for (const key of isKnown ? [pair] : [pair, address]) {
      const window = open(key, at);
      if (window && window.failures >= perAddress) throw tooMany(window.endsAt - at);
    }
    const tried = isKnown ? undefined : open(account, at);
    if (tried && isSlow(tried) && at < tried.dueAt - slack) throw tooMany(tried.dueAt - slack - at);
  }

  return {
    check,
    begin(attempt) {
      check(attempt);
      const at = now();
      const { address, pair, account } = keysOf(attempt);
      const tried = windowOf(account, at);
      if (isSlow(tried) && !known.has(account, address))
        tried.dueAt = Math.max(tried.dueAt, at) + authLimits.loginSlowMs;
      const spent = [tried, windowOf(pair, at), windowOf(address, at)];
      for (const window of spent) window.failures++;
      let done = false;
      const giveBack = (): boolean => {
        if (done) return false;
        done = true;
        for (const window of spent) window.failures--;
        return true;
      };
      return {
        succeeded() {
          if (giveBack()) known.add(account, address);
        },
        open: () => void giveBack(),
      };
    },
    isKnown(attempt) {
      const { address, account } = keysOf(attempt);
      return known.has(account, address);
    },
    size: () => windows.size,
  };

  function isSlow({ failures }: Window): boolean {
    return failures >= perAccount;
  }
}

function keysOf({ account, address }: Attempt) {
  const from = networkOf(address);
  // It makes no difference whether the account exists: otherwise the limit would reveal it.
  const who = hash('sha256', account.normalize('NFC').toLowerCase());
  return { address: `address ${from}`, pair: `pair ${who} ${from}`, account: `account ${who}` };
}

/**
 * From which addresses which accounts were logged in to: the latest ones of each account, so that the logins of one
 * account do not push out those of another.
 */
function createKnown() {
  const accounts = new Map<string, Set<string>>();
  return {
    has: (account: string, address: string) => accounts.get(account)?.has(address) === true,
    add(account: string, address: string): void {
      const addresses = accounts.get(account) ?? new Set();
      latest(addresses, address, authLimits.loginKnownAddresses);
      accounts.delete(account);
      accounts.set(account, addresses);
      dropOldest(accounts, authLimits.loginKnownAccounts);
    },
  };
}

function latest(items: Set<string>, item: string, most: number): void {
  items.delete(item);
  items.add(item);
  dropOldest(items, most);
}

function dropOldest(items: Set<string> | Map<string, unknown>, most: number): void {
  const [oldest] = items.keys();
  if (items.size > most && oldest !== undefined) items.delete(oldest);
}

function tooMany(retryAfterMs: number): HubError {
  return saying('too_many', 'too_many_logins', { time: inWords(retryAfterMs) }, { retryAfterMs });
}

/** A time to wait, for people. */
export function inWords(ms: number): string {
  if (ms <= 45_000) return `${Math.max(1, Math.ceil(ms / 1000))} seconds`;
  const minutes = Math.ceil(ms / 60_000);
  return minutes === 1 ? 'a minute' : `${minutes} minutes`;
}
