import type { LogFields, Logger, LogLevel } from '../core/logger.ts';
import { authLimits } from './limits.ts';

/** What was not told before an event that is told. */
export interface Suppressed {
  /** Of the same kind, since the last one that was told. */
  readonly before: number;
  /** Of kinds that were not told at all, since any was. */
  readonly others: number;
}

/**
 * Decides what is told of events that any client can cause as often as it likes: of each kind the first `each` in a
 * window, and of all kinds `most` in a window. The rest is counted. Gives what was counted when an event is to be told,
 * undefined when it is not.
 */
export function createEventSampler({
  each = 1,
  most = authLimits.strangersTold,
  now = () => performance.now(),
}: { each?: number; most?: number; now?: () => number } = {}): (kind: string) => Suppressed | undefined {
  /** In the order of telling. */
  const kinds = new Map<string, { readonly at: number; told: number; before: number }>();
  let window = { at: -Infinity, told: 0 };
  let others = 0;

  return (kind) => {
    if (now() - window.at >= authLimits.loginWindowMs) window = { at: now(), told: 0 };
    const known = kinds.get(kind);
    const isNew = !known || now() - known.at >= authLimits.loginWindowMs;
    if (!isNew && known.told >= each) {
      known.before++;
      return undefined;
    }
    if (window.told >= most) {
      others++;
      return undefined;
    }
    window.told++;
    if (!isNew) {
      known.told++;
      return { before: 0, others: take() };
    }
    kinds.delete(kind);
    const [oldest] = kinds.keys();
    if (kinds.size >= authLimits.loginRecords && oldest !== undefined) kinds.delete(oldest);
    kinds.set(kind, { at: now(), told: 1, before: 0 });
    return { before: known?.before ?? 0, others: take() };
  };

  function take(): number {
    const counted = others;
    others = 0;
    return counted;
  }
}

/** What was not told, for a log entry. */
export function suppressedFields({ before, others }: Suppressed): { before?: number; others?: number } {
  return { ...(before > 0 && { before }), ...(others > 0 && { others }) };
}

/** Logs that a credential was not accepted, and from which address; never the credential. */
export function logRefusedCredentials(
  log: Pick<Logger, 'warn'>,
  now?: () => number,
): (address: string | undefined) => void {
  const sampler = createEventSampler({ ...(now && { now }) });
  return (address = 'unknown') => {
    const told = sampler(address);
    if (told) log.warn('credential refused', { address, ...suppressedFields(told) });
  };
}

/**
 * A log for what accounts do that they may do as often as they like. Each entry names its account, as `by` or `user`.
 * Of one account `authLimits.accountTold` are told in a window, `authLimits.accountToldOfKind` of them with the same
 * message and `address`; the rest is counted.
 */
export function sampledByAccount(log: Logger, now?: () => number): Logger {
  const accounts = new Map<string, ReturnType<typeof createEventSampler>>();
  const bounds = { each: authLimits.accountToldOfKind, most: authLimits.accountTold, ...(now && { now }) };

  function samplerOf(account: string): ReturnType<typeof createEventSampler> {
    const sampler = accounts.get(account) ?? createEventSampler(bounds);
    // Those that did something last stay.
    accounts.delete(account);
    const [oldest] = accounts.keys();
    if (accounts.size >= authLimits.loginKnownAccounts && oldest !== undefined) accounts.delete(oldest);
    accounts.set(account, sampler);
    return sampler;
  }

  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      const account = String(fields['by'] ?? fields['user']);
      const told = samplerOf(account)(`${message} ${String(fields['address'])}`);
      if (told) log[level](message, { ...fields, ...suppressedFields(told) });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
