import { setTimeout as wait } from 'node:timers/promises';
import { deferred } from '../../../core/deferred.ts';
import type { Logger } from '../../../core/logger.ts';
import { upstreamLimits } from '../../limits.ts';
import { createGroupWatch, type GroupWatch } from './group-watch.ts';
import { findInstallers } from './installers.ts';
import { installKey, type Launcher, type LauncherName } from './launcher.ts';
import { exists, isInstalled, npxFolder, npxPackages, removeFromCache } from './npx-cache.ts';
import { endGroup } from './process-group.ts';
import { openProcessTable } from './process-table.ts';

/** One start through a launcher: what would be installed, and where. */
export interface Launch {
  readonly launcher: Launcher;
  /** Two launches of one key would write to the same place. */
  readonly key: string;
  /** Where `npx` installs; undefined for other launchers, and where that is not known. */
  readonly folder: string | undefined;
}

/** A launch whose turn it is. */
export interface Turn {
  /** The package is in the cache, as far as can be told without asking the registry. */
  readonly isReady: boolean;
  /** Whether the package was in the cache, at least in part, before. */
  readonly wasThere: boolean;
  /** The package's own program runs, or the launcher has ended: the next one may begin. Idempotent. */
  done(): void;
  /**
   * The launcher goes on though its result is not wanted any more: until `done`, nothing of the same key is started.
   */
  leave(): void;
}

/**
 * Lets few launchers install at a time, one for each package, and keeps those that need not install out of their way.
 * All connections of a hub share one, so that two installations do not use the shared cache of a launcher at the same
 * time.
 */
export interface InstallQueue {
  /** Waits for the turn of a launch. Rejects when `signal` is aborted. `log` is the server's. */
  enter(launch: Launch, signal: AbortSignal, log: Logger): Promise<Turn>;
  /** Whether the package is in the cache, as far as can be told without asking the registry. */
  isReady(launch: Launch): boolean;
  /**
   * The cache lacks files of this package: it is removed from it before the next launch, unless that was tried since it
   * last worked. False when it was.
   */
  mend(launch: Launch): boolean;
  /** The package works: if its cache breaks again, it is repaired again. */
  works(launch: Launch): void;
  readonly watch: GroupWatch;
  /** Lets the installer that an earlier run left behind end by itself, and ends what it starts then. */
  adopt(group: number, launcher: LauncherName): void;
  /** Called with what has to be let go of when the hub ends; the function returned takes it back. */
  onClose(letGo: () => void): () => void;
  close(): void;
}

export function launchOf(launcher: Launcher, env: Readonly<Record<string, string>>): Launch {
  const packages = launcher.name === 'npx' ? npxPackages(launcher.args) : undefined;
  const folder = packages && npxFolder(packages, env);
  return { launcher, folder, key: installKey(launcher, folder) };
}

export function createInstallQueue(cores: number): InstallQueue {
  const table = openProcessTable();
  const watch = createGroupWatch(table);
  const repairs = createRepairs();
  const claims = createClaims(repairs.isReady);
  const installs = new Map<LauncherName, Semaphore>();
  const launches = createSemaphore(Math.max(upstreamLimits.launchesAtOnce, cores * upstreamLimits.launchesPerCore));
  const onClose = new Set<() => void>();

  function placesOf(name: LauncherName): Semaphore {
    const found = installs.get(name) ?? createSemaphore(upstreamLimits.installsAtOnce);
    installs.set(name, found);
    return found;
  }

  /**
   * Waits for installers of the same package that other hubs of this machine, or earlier runs, have started; not for
   * ever.
   */
  async function othersAreDone({ key }: Launch, signal: AbortSignal): Promise<void> {
    const end = performance.now() + upstreamLimits.installMs;
    while (performance.now() < end && (await findInstallers(table)).some((one) => one.key === key))
      await wait(upstreamLimits.installElsewhereMs, undefined, { signal, ref: false });
  }

  async function placeIn(places: Semaphore, signal: AbortSignal): Promise<() => void> {
    const { promise, resolve } = deferred<() => void>();
    void places.take().then((release) => (signal.aborted ? release() : resolve(release)));
    return orAborted(promise, signal);
  }

  return {
    async enter(launch, signal, log) {
      const claim = await claims.take(launch, signal);
      try {
        if (claim.installs) await othersAreDone(launch, signal);
        await repairs.removeBroken(launch, log);
        const wasThere = launch.folder !== undefined && exists(launch.folder);
        const release = await placeIn(claim.installs ? placesOf(launch.launcher.name) : launches, signal);
        // One that takes very long is not in the way of the others for ever.
        const timer = setTimeout(
          release,
          claim.installs ? upstreamLimits.installMs : upstreamLimits.launchPlaceMs,
        ).unref();
        return {
          isReady: !claim.installs,
          wasThere,
          done() {
            clearTimeout(timer);
            release();
            claim.end();
          },
          leave() {
            claim.installs = true;
          },
        };
      } catch (error) {
        claim.end();
        throw error;
      }
    },
    isReady: repairs.isReady,
    mend: repairs.mend,
    works: repairs.works,
    watch,
    adopt(group, launcher) {
      const end = (): void => {
        stop();
        clearTimeout(timer);
        void endGroup(group, upstreamLimits.killAfterMs);
      };
      const stop = watch.follow(group, launcher, (state) => {
        if (state === 'running' || state === 'gone') end();
      });
      const timer = setTimeout(end, upstreamLimits.installLeftMs).unref();
    },
    onClose(act) {
      onClose.add(act);
      return () => void onClose.delete(act);
    },
    close() {
      for (const act of onClose) act();
      onClose.clear();
    },
  };
}

/** One launch among those of its key. */
interface Claim {
  /** Writes to the cache, as far as is known. */
  installs: boolean;
  end(): void;
}

/** Keeps launches of one key apart of which one installs. */
function createClaims(isReady: (launch: Launch) => boolean) {
  const claims = new Map<string, Set<Claim & { readonly ended: Promise<void> }>>();
  return {
    async take(launch: Launch, signal: AbortSignal): Promise<Claim> {
      for (;;) {
        signal.throwIfAborted();
        const installs = !isReady(launch);
        const others = [...(claims.get(launch.key) ?? [])].filter((other) => installs || other.installs);
        if (others.length === 0) break;
        await orAborted(Promise.all(others.map(({ ended }) => ended)), signal);
      }
      const { promise: ended, resolve } = deferred<void>();
      const ofKey = claims.get(launch.key) ?? new Set();
      const claim = {
        installs: !isReady(launch),
        ended,
        end() {
          ofKey.delete(claim);
          if (ofKey.size === 0 && claims.get(launch.key) === ofKey) claims.delete(launch.key);
          resolve();
        },
      };
      claims.set(launch.key, ofKey.add(claim));
      return claim;
    },
  };
}

/** Packages whose folder in the npx cache lacks files. */
function createRepairs() {
  /** Those to remove from the cache, and those for which that was done since they last worked. */
  const broken = new Set<string>();
  const mended = new Set<string>();
  return {
    isReady: ({ folder, key }: Launch): boolean => folder !== undefined && !broken.has(key) && isInstalled(folder),
    mend: ({ key, folder }: Launch): boolean => {
      if (folder === undefined || mended.has(key)) return false;
      broken.add(key);
      return true;
    },
    works: ({ key }: Launch): void => void mended.delete(key),
    async removeBroken({ key, folder }: Launch, log: Logger): Promise<void> {
      if (!broken.has(key) || folder === undefined) return;
      const outcome = await removeFromCache(folder);
      if (outcome === 'in use') return log.info('the npx cache of its package is incomplete and in use', { folder });
      broken.delete(key);
      mended.add(key);
      if (outcome === 'refused') return log.warn('the npx cache of its package is incomplete; remove it', { folder });
      log.warn('the npx cache of its package was incomplete and was removed; it is installed again', { folder });
    },
  };
}

async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = deferred<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Lets only a limited number of callers do something at the same time, in the order in which they asked. */
interface Semaphore {
  /** Resolves when a place is free, with the function that gives the place back. Idempotent. */
  take(): Promise<() => void>;
}

function createSemaphore(count: number): Semaphore {
  const waiting: (() => void)[] = [];
  let free = count;
  return {
    async take() {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        const next = waiting.shift();
        if (next) next();
        else free++;
      };
    },
  };
}
