import type { AuditEvent } from '../../core/audit.ts';
import { networkOf } from '../../core/network.ts';
import { auditLimits } from './limits.ts';

interface Window {
  event: AuditEvent;
  count: number;
  readonly endsAt: number;
  /** Of all that had no place of their own. */
  readonly isRest: boolean;
}

/** What one known caller, or all anonymous ones together, repeat. */
interface Caller {
  windows: Map<string, Window>;
  hourEndsAt: number;
  /** Records made in this hour. */
  made: number;
}

/**
 * Counts what is repeated, and gives `made` one event with a count for each window. Any caller can cause it as often as
 * it likes: how many events there are in an hour is bounded, for a known caller, and for all anonymous ones together.
 */
export function countRepeats(made: (event: AuditEvent, count: number) => void, now = () => performance.now()) {
  const callers = new Map<string, Caller>();
  let timer: NodeJS.Timeout | undefined;

  function callerOf(event: AuditEvent, at: number): Caller {
    const { kind, name } = event.actor;
    const key = kind === 'anonymous' ? '' : JSON.stringify([kind, name.slice(0, auditLimits.auditTextChars)]);
    let caller = callers.get(key);
    if (!caller) {
      const [oldest] = callers.keys();
      if (callers.size >= auditLimits.auditCallers && oldest !== undefined) {
        write(callers.get(oldest), () => true);
        callers.delete(oldest);
      }
      caller = { windows: new Map(), hourEndsAt: at + hourMs, made: 0 };
      callers.set(key, caller);
    } else if (at >= caller.hourEndsAt) {
      caller.hourEndsAt = at + hourMs;
      caller.made = 0;
    }
    return caller;
  }

  function count(event: AuditEvent): void {
    const at = now();
    const caller = callerOf(event, at);
    const isStranger = event.actor.kind === 'anonymous';
    const what = [event.action, event.result, event.via];
    const own = isStranger ? networkOf(event.address ?? '') : (event.target ?? '').slice(0, auditLimits.auditTextChars);
    const most = isStranger ? auditLimits.auditStrangersPerHour : auditLimits.auditRepeatedPerHour;
    const key = JSON.stringify([...what, own]);
    const rest = JSON.stringify(what);
    const window = caller.windows.get(key);
    const isFull = !window && caller.made + caller.windows.size >= most;
    const open = isFull ? caller.windows.get(rest) : window;
    if (open) {
      open.count += 1;
      if (open.event.target !== event.target) open.event = { ...open.event, target: undefined };
      return;
    }
    const first = isFull ? { ...event, address: isStranger ? undefined : event.address, target: undefined } : event;
    const endsAt = isFull ? caller.hourEndsAt : at + auditLimits.auditWindowMs;
    caller.windows.set(isFull ? rest : key, { event: first, count: 1, endsAt, isRest: isFull });
    timer ??= setInterval(() => flush(false), auditLimits.auditWindowMs / 4).unref();
  }

  function write(caller: Caller | undefined, isDue: (window: Window) => boolean): void {
    for (const [key, window] of caller?.windows ?? []) {
      if (!isDue(window)) continue;
      caller?.windows.delete(key);
      if (caller && !window.isRest) caller.made += 1;
      made(window.event, window.count);
    }
  }

  /** Makes the events whose time has come, or all of them now. */
  function flush(all: boolean): void {
    const at = now();
    let waiting = 0;
    for (const [key, caller] of callers) {
      write(caller, ({ endsAt }) => all || endsAt <= at);
      waiting += caller.windows.size;
      if (caller.windows.size === 0 && at >= caller.hourEndsAt) callers.delete(key);
    }
    if (waiting > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return { count, flush };
}

const hourMs = 60 * 60_000;
