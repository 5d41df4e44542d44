import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import crossSpawn from 'cross-spawn';
import { errorText, type HubError } from '../../../core/errors.ts';
import { withTimeout } from '../../../core/with-timeout.ts';
import { upstreamLimits } from '../../limits.ts';
import { type Channel, type ChannelEvents, deadChannel } from '../channel.ts';
import { childEnv } from './child-env.ts';
import { endGroup } from './process-group.ts';
import type { Reaper } from './reaper.ts';
import { exitError, hungUpError, startError } from './errors.ts';
import { type Heard, openPipes, type PipeOptions } from './pipes.ts';
import { windowsStart } from './windows-start.ts';

export interface StdioOptions extends PipeOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** What the operator wrote for this server, `${VAR}` already expanded. */
  readonly env: Readonly<Record<string, string>>;
  /** What it gets of the hub's own environment: `inheritableEnv`. */
  readonly inheritedEnv: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  /** What is started in place of command and arguments, and starts them: a sandbox. */
  readonly spawned?: Spawned | undefined;
  /** `ownerMark` of this hub. */
  readonly owner: string;
  readonly reaper: Reaper;
  /** `installMark` of a launcher. */
  readonly installMark?: string | undefined;
  /** Set for a child that is a launcher. */
  readonly launching?: Launching | undefined;
}

export interface Spawned {
  readonly command: string;
  readonly args: readonly string[];
  /** Called with its environment when it has ended, however it did. */
  readonly ended?: (env: NodeJS.ProcessEnv) => void;
  /** Called just before it is started: gives what is started in its place. */
  readonly prepare?: () => Spawned;
  /** Called in place of `ended` when it could not be started. */
  readonly notStarted?: () => void;
}

/** What a child that is a launcher (`npx`) is asked, and told, by the channel to it. */
export interface Launching extends Heard {
  /** It must not be signalled now. */
  readonly isInstalling: boolean;
  /** `end` ends the whole group; `letGo` takes the child off the event loop. */
  spawned(group: number, end: () => Promise<void>, letGo: () => void): void;
  exited(): void;
  /** The channel is closed: the installer goes on, and what it starts is ended. */
  leave(): void;
}

/**
 * Starts a server as a child process and speaks newline-delimited JSON-RPC with it (MCP, Transports, stdio). It leads a
 * process group of its own, so that what it starts (`npx` and `uvx` fork) ends with it. stderr goes to the log; stdout
 * lines that are no messages are logged and do no harm.
 */
export function openProgram(options: StdioOptions, events: ChannelEvents): Channel {
  let child: ChildProcessWithoutNullStreams;
  let spawned: Spawned | undefined;
  const path = options.env['PATH'] ?? options.inheritedEnv['PATH'] ?? '';
  const failedToStart = (error: unknown) => startError({ ...options, path }, error);
  try {
    const env = childEnv(options.inheritedEnv, options.env, options.owner, options.installMark);
    options.reaper.prepare();
    spawned = options.spawned?.prepare?.() ?? options.spawned;
    const { command, args } = spawned ?? options;
    child = startChild(command, args, options.cwd, env);
    child.once('exit', () => spawned?.ended?.(env));
  } catch (error) {
    spawned?.notStarted?.();
    return deadChannel(options.name, failedToStart(error), events);
  }
  const { pid } = child;
  if (pid === undefined) {
    spawned?.notStarted?.();
    const reason = new Promise<HubError>((resolve) => {
      child.once('error', (error) => resolve(failedToStart(error)));
    });
    return deadChannel(options.name, reason, events);
  }
  return childChannel(child, pid, options, events);
}

/** Windows starts scripts (`.cmd`) through `cmd.exe` only, for which cross-spawn escapes the arguments. */
function startChild(
  command: string,
  args: readonly string[],
  cwd: string | undefined,
  env: Record<string, string>,
): ChildProcessWithoutNullStreams {
  const options = { ...(cwd !== undefined && { cwd }), env, windowsHide: true };
  if (process.platform !== 'win32') return spawn(command, args, { ...options, detached: true, stdio: 'pipe' });
  const start = windowsStart(command, args, { env, cwd });
  return start.isScript
    ? (crossSpawn(start.command, [...start.args], { ...options, stdio: 'pipe' }) as ChildProcessWithoutNullStreams)
    : spawn(start.command, start.args, { ...options, stdio: 'pipe' });
}

function childChannel(
  child: ChildProcessWithoutNullStreams,
  pid: number,
  options: StdioOptions,
  events: ChannelEvents,
): Channel {
  const { name, log, reaper, launching } = options;
  let ending: Promise<void> | undefined;
  let closing: Promise<void> | undefined;
  reaper.add(pid);
  const pipes = openPipes(child, options, events);

  function die(error: HubError): void {
    if (!pipes.isOpen) return;
    pipes.shut();
    events.closed(error);
  }

  /** Ends the whole group. Only the first call has an effect. */
  function end(): Promise<void> {
    ending ??= endGroup(pid, upstreamLimits.killAfterMs).finally(() => reaper.remove(pid));
    return ending;
  }

  launching?.spawned(pid, end, () => letGo(child));

  const gone = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      void end();
      pipes.hurry();
      const finish = (): void => {
        clearTimeout(timeouts);
        pipes.end();
        die(exitError(name, code, signal, pipes.printed()));
        launching?.exited();
        for (const stream of child.stdio) stream?.destroy();
        resolve();
      };
      // Its last answers may still be in the pipe; `close` comes when they were read, unless a grandchild holds the
      // pipe. After a pause of the hub itself what is in the pipe by now is read between the two.
      const timeouts = setTimeout(() => setImmediate(finish), upstreamLimits.lastOutputMs);
      child.once('close', finish);
    });
  });

  /** A child that closed its pipes but still runs: if it does not end by itself now, it is ended. */
  function hungUp(what: string): void {
    if (!pipes.isOpen || child.exitCode !== null || child.signalCode !== null || launching?.isInstalling) return;
    const timeouts = setTimeout(() => {
      die(hungUpError(name, what, pipes.printed()));
      void end();
    }, upstreamLimits.hangUpMs);
    void gone.then(() => clearTimeout(timeouts));
  }
  child.stdin.on('error', () => hungUp('stdin'));
  child.stdout.on('end', () => hungUp('stdout'));
  child.stdout.on('error', () => hungUp('stdout'));
  // After a successful start this is only a signal that could not be sent.
  child.on('error', (error) => log.debug(`child process: ${errorText(error)}`));

  async function stop(): Promise<void> {
    pipes.endInput();
    if (launching?.isInstalling) return launching.leave();
    await withTimeout(gone, upstreamLimits.stdinGraceMs);
    await end();
    await withTimeout(gone, upstreamLimits.lastOutputMs * 2);
    for (const stream of child.stdio) stream?.destroy();
  }

  return {
    ...sessionless,
    ...pipes.ofChannel,
    close() {
      pipes.shut();
      closing ??= stop();
      return closing;
    },
  };
}

/** A pipe has no exchange that could be ended, and no session. */
const sessionless = { abandon() {}, ready() {}, forgetSession() {} };

/** Keeps no process alive for the sake of this child. */
function letGo(child: ChildProcessWithoutNullStreams): void {
  child.unref();
  for (const stream of child.stdio)
    if (stream && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
}
