import { type SentenceCode, saying } from '../core/sentences.ts';
import { networkOf } from '../core/network.ts';
import { authLimits } from './limits.ts';

/**
 * Counts what one address does. The function throws HubError `too_many`, which says `refusal`, past `most` in an hour;
 * what it returns takes the count back, for what turned out to be no cause to count.
 */
export function countByAddress(
  most: number,
  refusal: SentenceCode,
  now: () => number = () => performance.now(),
): (address: string) => { takeBack(): void } {
  // All windows are equally long, so the first one ends first.
  const windows = new Map<string, { count: number; readonly endsAt: number }>();
  return (address) => {
    const at = now();
    const from = networkOf(address);
    let window = windows.get(from);
    if (!window || window.endsAt <= at) {
      windows.delete(from);
      for (const [oldest, { endsAt }] of windows) {
        if (windows.size < authLimits.registrationAddresses && endsAt > at) break;
        windows.delete(oldest);
      }
      window = { count: 0, endsAt: at + authLimits.registrationWindowMs };
      windows.set(from, window);
    }
    if (window.count >= most) throw saying('too_many', refusal, {}, { retryAfterMs: window.endsAt - at });
    window.count++;
    const counted = window;
    return { takeBack: () => void counted.count-- };
  };
}
