import type { Offer } from '../../core/catalogue.ts';
import { deferred } from '../../core/deferred.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { withTimeout } from '../../core/with-timeout.ts';

/** The servers that a change of the settings starts. */
export interface Restarts {
  /**
   * To be called when the settings change: what does not run then, the next `begun` has started. Nothing counts at the
   * start, when there are none before: calls do not wait for servers that have never said what they offer.
   */
  follow(before: Settings | undefined, next: Settings, running: { has(name: string): boolean }): void;
  /** See `Catalogue.restarted`. Forgets those that are started and listed, and those that are not to run. */
  still(
    offers: ReadonlyMap<string, Offer>,
    started: { has(name: string): boolean },
    settings: Settings | undefined,
  ): ReadonlySet<string>;
  /** All that were to be started are being started. */
  begun(): void;
  /** Resolves when that is so the next time, after `waitMs` at the latest; at once after `close`. */
  next(waitMs: number): Promise<void>;
  close(): void;
}

export function createRestarts(): Restarts {
  const names = new Set<string>();
  let started = deferred<void>();
  return {
    follow(before, next, running) {
      if (before === undefined || before === next) return;
      for (const name of next.servers.keys()) if (!running.has(name)) names.add(name);
    },
    still(offers, started, settings) {
      for (const name of names)
        if ((offers.has(name) && started.has(name)) || settings?.servers.get(name)?.enabled !== true)
          names.delete(name);
      return names;
    },
    begun() {
      started.resolve();
      started = deferred();
    },
    next: (waitMs) => withTimeout(started.promise, waitMs),
    close: () => started.resolve(),
  };
}
