import { realpathSync } from 'node:fs';
import { deferred } from '../../../core/deferred.ts';
import { errorText, HubError } from '../../../core/errors.ts';
import type { Reason } from '../../../core/reasons.ts';
import type { Channel, ChannelEvents } from '../channel.ts';
import { upstreamLimits } from '../../limits.ts';
import { type Launching, openProgram, type StdioOptions } from './program.ts';
import { type InstallQueue, type Launch, launchOf, type Turn } from './install-queue.ts';
import { installMark } from './installers.ts';
import { type Launcher, signsOf } from './launcher.ts';
import { brokenCacheSigns } from './npx-cache.ts';

/**
 * Starts a server through a launcher (`npx`, `uvx`, …). It waits for its turn, says whether it is still installing or
 * the package's own program is starting, is not ended in the middle of an installation, and a cache that lacks files of
 * the package is repaired.
 */
export function openLaunched(
  launcher: Launcher,
  options: StdioOptions & { readonly installs: InstallQueue },
  events: ChannelEvents,
): Channel {
  const { installs, log, name } = options;
  const launch = launchOf(launcher, { ...options.inheritedEnv, ...options.env });
  const waiting = new AbortController();
  const queued: Parameters<Channel['send']>[] = [];
  const start = new LaunchStart(launch, options, events);
  let channel: Channel | undefined;
  let isClosed = false;
  let isPaused = false;

  async function begin(): Promise<void> {
    let turn: Turn;
    try {
      // Events do not come from inside the factory.
      await Promise.resolve();
      if (isClosed) return;
      events.progress?.({ phase: installs.isReady(launch) ? 'starting' : 'installing', isWaiting: true });
      turn = await installs.enter(launch, waiting.signal, log);
    } catch (error) {
      if (!isClosed)
        events.closed(new HubError('upstream_unavailable', `Cannot start server "${name}": ${errorText(error)}`));
      return;
    }
    if (isClosed) return turn.done();
    start.begin(turn);
    const mark = signsOf(launcher.name).program === undefined ? undefined : installMark(launcher, launch.key);
    channel = openProgram({ ...options, installMark: mark, launching: start }, start.events);
    if (isPaused) channel.pause?.();
    for (const message of queued.splice(0)) channel.send(...message);
  }

  void begin();
  return {
    launched: start.launched,
    send(...message) {
      if (channel) channel.send(...message);
      else if (isClosed) throw new HubError('upstream_unavailable', `Server "${name}" is not running.`);
      else queued.push(message);
    },
    pause() {
      isPaused = true;
      channel?.pause?.();
    },
    resume() {
      isPaused = false;
      channel?.resume?.();
    },
    printed: () => channel?.printed?.() ?? { stray: '', output: '', line: '', reason: undefined },
    abandon() {},
    ready() {
      start.works();
    },
    forgetSession() {},
    async close() {
      isClosed = true;
      waiting.abort(new Error('closed'));
      start.close();
      await channel?.close();
      if (!start.isLeft) start.exited();
    },
  };
}

/** From the turn of a launcher to the first answer of the program. */
class LaunchStart implements Launching {
  readonly events: ChannelEvents;
  readonly #launch: Launch;
  readonly #options: StdioOptions & { readonly installs: InstallQueue };
  readonly #told: ChannelEvents;
  readonly #launched = deferred<boolean>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #phase: 'waiting' | 'installing' | 'starting' | 'over' = 'waiting';
  #turn: Turn | undefined;
  #broken: ReturnType<typeof brokenCacheSigns> | undefined;
  #group: number | undefined;
  #end: () => Promise<void> = async () => undefined;
  #unfollow: () => void = () => undefined;
  #keep: () => void = () => undefined;
  #busy: NodeJS.Timeout | undefined;
  #isLeft = false;
  #isMet = false;

  constructor(launch: Launch, options: StdioOptions & { readonly installs: InstallQueue }, told: ChannelEvents) {
    this.#launch = launch;
    this.#options = options;
    this.#told = told;
    this.events = { ...told, closed: (error) => this.#closed(error) };
  }

  /** Resolves when it is time for the handshake: with true when the program is known to run. */
  get launched(): Promise<boolean> {
    return this.#launched.promise;
  }

  get isInstalling(): boolean {
    return this.#phase === 'installing';
  }

  /** The installer goes on without a channel. */
  get isLeft(): boolean {
    return this.#isLeft;
  }

  begin(turn: Turn): void {
    this.#turn = turn;
    const { folder, launcher } = this.#launch;
    const { spawned } = this.#options;
    // What was installed just now is not broken by an interrupted installation.
    if (turn.wasThere && folder !== undefined && (spawned === undefined || isOwn(folder)))
      this.#broken = brokenCacheSigns(folder);
    if (signsOf(launcher.name).program === undefined) this.#runs(false);
    else this.#installs();
  }

  spawned(group: number, end: () => Promise<void>, letGo: () => void): void {
    const { installs } = this.#options;
    const { launcher } = this.#launch;
    this.#end = end;
    this.#keep = installs.onClose(letGo);
    this.#group = group;
    if (signsOf(launcher.name).program === undefined) {
      // Nothing but its words tells that it installs, and they come at once.
      this.#after(upstreamLimits.installSignMs, () => !this.isInstalling && this.#turn?.done());
      return;
    }
    this.#tellReaper();
    this.#unfollow = installs.watch.follow(group, launcher.name, (state) => {
      if (state === 'running') this.#runs(true);
      else if (state === 'unknown') this.#launched.resolve(false);
      else if (state !== 'gone') this.#installs();
      clearTimeout(this.#busy);
      // The handshake begins also with a program that is not recognised.
      if (state === 'busy') this.#busy = this.#after(upstreamLimits.installBusyMs, () => this.#launched.resolve(false));
    });
    this.#after(upstreamLimits.installSilentMs, () => this.#launched.resolve(false));
  }

  line(text: string): void {
    const { begins, ends } = signsOf(this.#launch.launcher.name);
    if (!this.#isMet) this.#broken?.add(text);
    if (begins?.test(text)) this.#installs();
    else if (ends?.test(text)) this.#runs(false);
    else if (this.#phase === 'starting') this.#told.progress?.({ phase: 'handshake', isRunning: true });
  }

  spoke(): void {
    if (!this.#isMet) this.#runs(true);
  }

  exited(): void {
    this.#over();
  }

  works(): void {
    this.#isMet = true;
    this.#options.installs.works(this.#launch);
    this.#runs(true);
    this.#turn?.done();
    this.#unfollow();
    this.#clearTimers();
  }

  leave(): void {
    this.#isLeft = true;
    this.#turn?.leave();
    this.#clearTimers();
    const { launcher, folder } = this.#launch;
    this.#after(upstreamLimits.installLeftMs, () => {
      // It will not end by itself. What it leaves is not to be run.
      if (folder !== undefined && this.#options.spawned === undefined) this.#options.installs.mend(this.#launch);
      this.#options.log.warn(`${launcher.name} was still installing and was ended`);
      void this.#end();
    });
  }

  /** Nothing is told any more. */
  close(): void {
    if (!this.#isLeft) this.#isMet = true;
    if (this.#phase === 'waiting') this.#over();
  }

  #installs(): void {
    if (this.#phase === 'installing' || this.#phase === 'over' || this.#isMet) return;
    this.#phase = 'installing';
    this.#tellReaper();
    // A launcher whose package is in the cache looks whether there is a newer one, which is quick.
    const isQuick = this.#turn?.isReady === true;
    this.#told.progress?.({ phase: isQuick ? 'starting' : 'installing' });
    if (isQuick) this.#after(upstreamLimits.launchPlaceMs, () => this.#told.progress?.({ phase: 'installing' }));
    this.#after(upstreamLimits.installMs, () => this.#giveUp());
  }

  #runs(isCertain: boolean): void {
    this.#launched.resolve(isCertain);
    if (this.#phase === 'starting' || this.#phase === 'over') return;
    const wasInstalling = this.#phase === 'installing';
    this.#phase = 'starting';
    this.#tellReaper();
    this.#clearTimers();
    if (wasInstalling || isCertain) this.#turn?.done();
    if (this.#isLeft) void this.#end();
    else this.#told.progress?.({ phase: 'starting', isRunning: true });
  }

  /** Should the hub end now, its reaper has to know whether the group may be ended. */
  #tellReaper(): void {
    if (this.#group === undefined) return;
    const signs = signsOf(this.#launch.launcher.name);
    const isLeftAlone = this.isInstalling && signs.program !== undefined;
    this.#options.reaper.add(this.#group, isLeftAlone ? signs : undefined);
  }

  #giveUp(): void {
    if (!this.isInstalling) return;
    const { name } = this.#options;
    const { launcher } = this.#launch;
    const text = `Server "${name}" was not installed within ${upstreamLimits.installMs / 60_000} min. ${launcher.name} goes on by itself, and the next attempt waits for it.`;
    const minutes = String(upstreamLimits.installMs / 60_000);
    const reason = { code: 'installs_long' as const, values: { minutes, launcher: launcher.name } };
    this.#told.closed(new HubError('timeout', text, { reason }));
  }

  #closed(error: HubError): void {
    const { folder } = this.#launch;
    const { spawned } = this.#options;
    const isSafe = spawned === undefined || (folder !== undefined && isOwn(folder));
    const wasBroken =
      !this.#isMet && isSafe && this.#broken?.found === true && this.#options.installs.mend(this.#launch);
    const told = this.#asInstallation(error);
    this.#over();
    if (!wasBroken) return this.#told.closed(told);
    const text = `${error.message}\nThe npx cache of its package is incomplete. The next attempt installs it again.`;
    this.#told.closed(new HubError(error.code, text, { cause: error.cause, output: error.output }));
  }

  /**
   * npm says nothing where a script of a package fails. That the package is not in its cache as a whole tells this from
   * a program that ends before it was seen.
   */
  #asInstallation(error: HubError): HubError {
    const { reason, output } = error;
    const { folder } = this.#launch;
    if (!this.isInstalling || reason?.code !== 'exited_silently' || folder === undefined) return error;
    if (this.#options.installs.isReady(this.#launch)) return error;
    const told: Reason = { code: 'install_failed_silently', values: reason.values };
    return new HubError(error.code, error.message, { cause: error.cause, reason: told, output });
  }

  #over(): void {
    this.#phase = 'over';
    // Its number may soon belong to another process.
    this.#group = undefined;
    this.#launched.resolve(false);
    this.#unfollow();
    this.#keep();
    this.#clearTimers();
    this.#turn?.done();
  }

  #after(ms: number, act: () => void): NodeJS.Timeout {
    const timer = setTimeout(act, ms).unref();
    this.#timers.add(timer);
    return timer;
  }

  #clearTimers(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}

/** No link leads from it to a folder elsewhere, as a program in a sandbox could make one in its home. */
function isOwn(folder: string): boolean {
  try {
    return realpathSync(folder) === folder;
  } catch {
    return false;
  }
}
