import { isDeepStrictEqual } from 'node:util';
import { errorText, HubError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { Baseline } from '../core/pins/pin-states.ts';
import type { Settings } from '../core/settings/settings.ts';
import { unreadable } from './pin-rules.ts';
import type { PinStore } from './pin-store.ts';

/** Changes of one server's baseline are made one after another: each begins with what the one before it made. */
export function turnsOfServers() {
  const last = new Map<string, Promise<unknown>>();
  return {
    /** A change is under way. */
    has: (server: string): boolean => last.has(server),
    /** For all of these servers in one turn. */
    run<T>(servers: readonly string[], change: () => Promise<T>): Promise<T> {
      const done = Promise.all(servers.map((server) => last.get(server) ?? Promise.resolve())).then(change);
      const quiet = done.then(
        () => undefined,
        () => undefined,
      );
      for (const server of servers) {
        last.set(server, quiet);
        void quiet.then(() => last.get(server) === quiet && last.delete(server));
      }
      return done;
    },
  };
}

/** What `Pins` has of servers. */
export interface RenameParts {
  readonly store: PinStore;
  readonly settings: () => Settings;
  readonly log: Logger;
  readonly baselineOf: (server: string) => Baseline | undefined;
  /** In memory alone. */
  readonly use: (server: string, baseline: Baseline | undefined) => void;
  /** It is in the store; `ended`: `readingsEnded` when it was asked for. */
  readonly written: (server: string, baseline: Baseline | undefined, ended: number) => void;
  readonly readingsEnded: () => number;
}

interface Rename<T> {
  readonly from: string;
  readonly to: string;
  /** Changes the settings. */
  readonly change: () => Promise<T>;
  /** How long a database that is away is waited for before that, as `performance.now()`. */
  readonly until: number;
}

/**
 * Renames a server in the settings by `change`; its baseline is there under both names meanwhile. Throws what `change`
 * throws, and HubError `not_ready`, or `conflict` where another version has kept it, before it is called.
 */
export async function renameServer<T>({ from, to, change, until }: Rename<T>, parts: RenameParts): Promise<T> {
  const { store, settings, log, baselineOf, use, written, readingsEnded } = parts;
  const known = baselineOf(from);
  // A server that has the new name keeps its own baseline: the settings refuse the change.
  const isCopied = known !== undefined && !settings().servers.has(to);
  if (isCopied) await copy(from, to, { known, until }, parts);
  let done: T;
  try {
    done = await change();
  } catch (error) {
    // Otherwise the settings may have been written all the same: then both stay, and nothing counts as first seen.
    if (isCopied && isRefusal(error)) {
      use(to, undefined);
      await store
        .change(to, () => undefined)
        .catch((why: unknown) => log.warn('pins not forgotten', { server: to, error: errorText(why) }));
    }
    throw error;
  }
  if (!known) return done;
  const ended = readingsEnded();
  try {
    // What was decided under the old name since it was copied goes along.
    use(to, await store.rename(from, to, baselineOf(from) ?? known));
  } catch (error) {
    log.error('pins of the old name not forgotten', { from, to, error: errorText(error) });
  }
  written(from, undefined, ended);
  return done;
}

async function copy(
  from: string,
  to: string,
  { known, until }: { known: Baseline; until: number },
  { store, use, written, readingsEnded }: RenameParts,
): Promise<void> {
  const ended = readingsEnded();
  let baseline = known;
  await store.change(
    from,
    (own, isReadable) => {
      if (!isReadable) throw unreadable(from);
      baseline = own ?? known;
      // In a table none means that the server was deleted at another hub.
      return own ?? (store.isShared ? undefined : known);
    },
    until,
  );
  use(from, baseline);
  written(to, await store.change(to, () => baseline, until), ended);
}

/** The settings have not been changed, for certain. */
function isRefusal(error: unknown): boolean {
  return error instanceof HubError && error.code !== 'not_ready' && error.code !== 'misconfigured';
}

/** Baselines without what is left of a rename in which the process ended: that is removed from the store too. */
export async function withoutHalves(
  kept: ReadonlyMap<string, Baseline>,
  { store, settings, log }: Pick<RenameParts, 'store' | 'settings' | 'log'>,
): Promise<ReadonlyMap<string, Baseline>> {
  // At a table another hub may be at a rename now.
  if (store.isShared) return kept;
  const baselines = new Map(kept);
  for (const server of halves(baselines, settings())) {
    baselines.delete(server);
    await store
      .change(server, () => undefined)
      .catch((error: unknown) => log.warn('pins not forgotten', { server, error: errorText(error) }));
  }
  return baselines;
}

/** Names that no server has, and whose baseline a server has too: the process ended while it was renamed. */
function halves(baselines: ReadonlyMap<string, Baseline>, { servers }: Settings): string[] {
  const own = [...baselines].filter(([server]) => servers.has(server)).map(([, baseline]) => baseline);
  const isHalf = (baseline: Baseline): boolean =>
    baseline.approved.size + baseline.rejected.size > 0 && own.some((other) => isDeepStrictEqual(other, baseline));
  return [...baselines].flatMap(([server, baseline]) => (!servers.has(server) && isHalf(baseline) ? [server] : []));
}
