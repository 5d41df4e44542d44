import { limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';

/** What was not told before an event that is told. */
export interface Untold {
  /** Of the same kind, since the last one that was told. */
  readonly before: number;
  /** Of kinds that were not told at all, since any was. */
  readonly others: number;
}

/**
 * Decides what is told of events that anybody can cause as often as they like: of each kind the first in a window, and
 * of all kinds `most` in a window. The rest is counted. Gives what was counted when an event is to be told, undefined
 * when it is not.
 */
export function createSparing({ most = limits.strangersTold, now = () => performance.now() } = {}): (
  kind: string,
) => Untold | undefined {
  /** In the order of telling. */
  const kinds = new Map<string, { readonly at: number; before: number }>();
  let window = { at: -Infinity, told: 0 };
  let others = 0;

  return (kind) => {
    if (now() - window.at >= limits.loginWindowMs) window = { at: now(), told: 0 };
    const known = kinds.get(kind);
    if (known && now() - known.at < limits.loginWindowMs) {
      known.before++;
      return undefined;
    }
    if (window.told >= most) {
      others++;
      return undefined;
    }
    window.told++;
    kinds.delete(kind);
    const [oldest] = kinds.keys();
    if (kinds.size >= limits.loginRecords && oldest !== undefined) kinds.delete(oldest);
    kinds.set(kind, { at: now(), before: 0 });
    const untold = { before: known?.before ?? 0, others };
    others = 0;
    return untold;
  };
}

/** What was not told, for a log entry. */
export function untoldFields({ before, others }: Untold): { before?: number; others?: number } {
  return { ...(before > 0 && { before }), ...(others > 0 && { others }) };
}

/** Logs that a credential which somebody sent was not accepted, and from where; never the credential. */
export function logRefusedCredentials(
  log: Pick<Logger, 'warn'>,
  now?: () => number,
): (address: string | undefined) => void {
  const sparing = createSparing({ ...(now && { now }) });
  return (address = 'unknown') => {
    const told = sparing(address);
    if (told) log.warn('credential refused', { address, ...untoldFields(told) });
  };
}
