import { hash } from 'node:crypto';
import { HubError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';

/** Who tries to log in, and from where. */
export interface Attempt {
  readonly account: string;
  readonly address: string;
}

/** Slows down guessing of passwords: failures are counted per account and per address (reference: MCPHub §1.1). */
export interface LoginLimiter {
  /** Throws HubError `too_many` with the time to wait when no further attempt is allowed. */
  check(attempt: Attempt): void;
  /**
   * `check`, and the attempt counts as a failure until `succeeded` is called: attempts at the same time must not all pass before the
   * first of them has failed.
   */
  begin(attempt: Attempt): { succeeded(): void };
  /** Addresses and accounts remembered; never more than `limits.loginRecords`. */
  size(): number;
}

interface Window {
  failures: number;
  endsAt: number;
}

export function createLoginLimiter(
  options: { now?: () => number; records?: number; perAddress?: number; perAccount?: number } = {},
): LoginLimiter {
  const {
    // Not the time of day: a clock that is set back would keep people out for as long.
    now = () => performance.now(),
    records = limits.loginRecords,
    perAddress = limits.loginFailuresPerAddress,
    perAccount = limits.loginFailuresPerAccount,
  } = options;
  // All windows are equally long, so the order of insertion is the order in which they end.
  const windows = new Map<string, Window>();

  function windowOf(key: string, at: number): Window {
    const known = windows.get(key);
    if (known && known.endsAt > at) return known;
    windows.delete(key);
    for (const [oldest, { endsAt }] of windows) {
      if (windows.size < records && endsAt > at) break;
      windows.delete(oldest);
    }
    const fresh = { failures: 0, endsAt: at + limits.loginWindowMs };
    windows.set(key, fresh);
    return fresh;
  }

  function check(attempt: Attempt): void {
    const at = now();
    for (const { key, most } of counted(attempt)) {
      const window = windows.get(key);
      if (window && window.endsAt > at && window.failures >= most) throw tooMany(window.endsAt - at);
    }
  }

  function counted({ account, address }: Attempt) {
    return [
      { key: `address ${network(address)}`, most: perAddress },
      // Whether the account exists makes no difference, or the limit would tell.
      { key: `account ${hash('sha256', account.normalize('NFC').toLowerCase())}`, most: perAccount },
    ];
  }

  return {
    check,
    begin(attempt) {
      check(attempt);
      const spent = counted(attempt).map(({ key }) => windowOf(key, now()));
      for (const window of spent) window.failures++;
      let done = false;
      return {
        succeeded() {
          if (done) return;
          done = true;
          for (const window of spent) window.failures--;
        },
      };
    },
    size: () => windows.size,
  };
}

function tooMany(retryAfterMs: number): HubError {
  const minutes = Math.ceil(retryAfterMs / 60_000);
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`;
  return new HubError('too_many', `Too many failed logins. Try again in ${wait}.`, { retryAfterMs });
}

/** What one attacker has: an IPv4 address, or the /64 that every IPv6 host is given. */
function network(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.toLowerCase().replace(/%.*$/, '').split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length);
  const parts = [...first, ...Array<string>(zeros).fill('0'), ...last];
  return parts
    .slice(0, 4)
    .map((part) => part.replace(/^0+(?=.)/, ''))
    .join(':');
}
