import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import crossSpawn from 'cross-spawn';
import { errorText, HubError } from '../../../core/errors.ts';
import type { Logger } from '../../../core/logger.ts';
import { largeWork } from '../../../core/turn-budget.ts';
import { withTimeout } from '../../../core/with-timeout.ts';
import { upstreamLimits } from '../../limits.ts';
import { ThrottledReader } from '../throttled-reader.ts';
import { type Channel, type ChannelEvents, deadChannel, type Printed } from '../channel.ts';
import { childEnv } from './child-env.ts';
import { lineLevel } from './line-level.ts';
import { type Lines, lineSplitter } from './lines.ts';
import { eachLargeMessage, eachMessage, type MessageSink } from '../messages.ts';
import { createLogRateLimiter, LineBudget } from './log-rate-limiter.ts';
import { answeredId, oversizeError } from '../message-buffer.ts';
import { endGroup } from './process-group.ts';
import type { Reaper } from './reaper.ts';
import { exitError, hungUpError, lastWords, startError } from './errors.ts';
import { windowsStart } from './windows-start.ts';

export interface StdioOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** What the operator wrote for this server, `${VAR}` already expanded. */
  readonly env: Readonly<Record<string, string>>;
  /** What it gets of the hub's own environment: `inheritableEnv`. */
  readonly inheritedEnv: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  /** What is started in place of command and arguments, and starts them: a sandbox. */
  readonly spawned?: Spawned | undefined;
  readonly maxMessageBytes: number;
  /** The log of `server:<name>`. */
  readonly log: Logger;
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
export interface Launching {
  /** It must not be signalled now. */
  readonly isInstalling: boolean;
  /** `end` ends the whole group; `letGo` takes the child off the event loop. */
  spawned(group: number, end: () => Promise<void>, letGo: () => void): void;
  /** A line on stderr. */
  line(text: string): void;
  /** It sent a message: only the package's own program does. */
  spoke(): void;
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
  /** `open` until it died (`dead`, reported) or was told to end (`closing`, nothing is reported any more). */
  let state: 'open' | 'closing' | 'dead' = 'open';
  let ending: Promise<void> | undefined;
  let closing: Promise<void> | undefined;
  reaper.add(pid);
  const writer = batchWriter(child.stdin);
  const output = readOutput(child, options, {
    ...events,
    message(message, text) {
      launching?.spoke();
      return state !== 'open' || events.message(message, text);
    },
    large: (answer) => state !== 'open' || events.large(answer),
    failed(id, error) {
      if (state === 'open') events.failed(id, error, false);
    },
  });

  function die(error: HubError): void {
    if (state !== 'open') return;
    state = 'dead';
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
      output.hurry();
      const finish = (): void => {
        clearTimeout(timeouts);
        output.end();
        die(exitError(name, code, signal, output.printed()));
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
    if (state !== 'open' || child.exitCode !== null || child.signalCode !== null || launching?.isInstalling) return;
    const timeouts = setTimeout(() => {
      die(hungUpError(name, what, output.printed()));
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
    writer.end();
    if (launching?.isInstalling) return launching.leave();
    await withTimeout(gone, upstreamLimits.stdinGraceMs);
    await end();
    await withTimeout(gone, upstreamLimits.lastOutputMs * 2);
    for (const stream of child.stdio) stream?.destroy();
  }

  return {
    send(text) {
      if (state !== 'open') throw new HubError('upstream_unavailable', `Server "${name}" is not running.`);
      if (writer.backlog + text.length > upstreamLimits.upstreamBacklogBytes) {
        throw new HubError(
          'upstream_unavailable',
          `Server "${name}" does not read its input: too much is waiting for it. Try again later.`,
        );
      }
      writer.write(text);
    },
    ...sessionless,
    ...output.ofChannel,
    close() {
      if (state === 'open') state = 'closing';
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

interface Output {
  /** The child has ended: what is left in its pipes is read without pauses. */
  hurry(): void;
  /** Takes what is left of both streams as complete. */
  end(): void;
  printed(): Printed;
  /** As the channel's. `pause` ends with `hurry` too. */
  readonly ofChannel: Pick<Channel, 'printed' | 'pause' | 'resume'>;
}

/**
 * Reads both output streams of a child: messages and oversize answers become events, everything else goes to the log.
 */
function readOutput(
  child: ChildProcessWithoutNullStreams,
  { name, log, maxMessageBytes, launching }: StdioOptions,
  events: ChannelEvents,
): Output {
  const words = lastWords();
  let unasked = 0;
  let stderrLines = 0;
  const sink: MessageSink = {
    message(message, text) {
      const isAwaited = events.message(message, text);
      if (message.method !== undefined || !isAwaited) unasked++;
    },
    large(answer) {
      if (!events.large(answer)) unasked++;
    },
  };
  const budgets = budgetsOf(log);
  const stderrLimiter = createLogRateLimiter((line) => log[lineLevel(line)](line), budgets.stderr);
  const stdoutLimiter = createLogRateLimiter((line) => log.debug(`stdout is not JSON: ${line}`), budgets.stdout);
  const stdout = lineSplitter(maxMessageBytes, {
    line(text) {
      if (mayBeJson(text) && eachMessage(text, sink)) return;
      unasked++;
      words.noMessage(text);
      stdoutLimiter.add(text);
    },
    large(message) {
      if (eachLargeMessage(message, sink)) return;
      unasked++;
      stdoutLimiter.add(`${message.head}…`);
    },
    tooLong(line) {
      const error = oversizeError(name, line, maxMessageBytes);
      const id = answeredId(line);
      if (id === undefined) log.warn(`A message was left out: ${error.message}`);
      else events.failed(id, error, false);
    },
  });
  const heard = (line: string): void => {
    stderrLines++;
    if (launching) launching.line(line);
    else if (stderrLines === 1) events.progress?.({ phase: 'handshake' });
    words.add(line);
    stderrLimiter.add(line);
  };
  const stderr = lineSplitter(upstreamLimits.stderrLineBytes, {
    line: heard,
    tooLong: ({ head, bytes }) => heard(`${head}… (a line of ${bytes} bytes)`),
  });
  const messages = readThrottled(child.stdout, stdout, () => unasked);
  const readers = [messages, readThrottled(child.stderr, stderr, () => stderrLines)];
  child.stderr.on('error', (error) => log.debug(`stderr cannot be read: ${errorText(error)}`));
  return {
    hurry() {
      for (const reader of readers) reader.end();
    },
    end() {
      for (const reader of readers) reader.end();
      stdout.end();
      stderr.end();
      stdoutLimiter.end();
      stderrLimiter.end();
    },
    printed: () => words.printed,
    ofChannel: {
      printed: () => words.printed,
      pause: () => messages.pause(),
      resume: () => messages.resume(),
    },
  };
}

/** What the programs that are started one after the other for one server may write to its log. */
const budgets = new WeakMap<Logger, Readonly<Record<'stdout' | 'stderr', LineBudget>>>();

function budgetsOf(log: Logger) {
  const own = budgets.get(log) ?? { stdout: new LineBudget(), stderr: new LineBudget() };
  budgets.set(log, own);
  return own;
}

/** Most lines that are no messages are recognised by the first character, without the cost of a failed parse. */
function mayBeJson(line: string): boolean {
  const first = line.charCodeAt(0);
  return first === 0x7b || first === 0x5b || first === 0x20 || first === 0x09;
}

/**
 * Writes lines. Those of one turn of the event loop leave together at its end: one system call for many calls in
 * flight, and the program is woken once for them.
 */
function batchWriter(stdin: ChildProcessWithoutNullStreams['stdin']) {
  let batch = '';

  function flush(): void {
    if (batch === '') return;
    const text = batch;
    batch = '';
    stdin.write(text);
  }

  return {
    /** Characters that the child has not taken yet. */
    get backlog(): number {
      return batch.length + stdin.writableLength;
    },
    write(line: string): void {
      if (batch === '') setImmediate(flush);
      batch += `${line}\n`;
    },
    end(): void {
      flush();
      stdin.end();
    },
  };
}

/** `unasked` counts what was read of it that answers nothing. */
function readThrottled(stream: Readable, lines: Lines, unasked: () => number) {
  /** Why it is not read at the moment. */
  const reasons = new Set<'flood' | 'large' | 'asked'>();
  let isEnding = false;
  const pause = (reason: 'flood' | 'large' | 'asked'): void => {
    reasons.add(reason);
    stream.pause();
  };
  const resume = (reason: 'flood' | 'large' | 'asked'): void => {
    if (reasons.delete(reason) && reasons.size === 0) stream.resume();
  };
  const reader = new ThrottledReader({
    read: (chunk) => lines.push(chunk),
    unasked,
    pause: () => pause('flood'),
    resume: () => resume('flood'),
  });
  stream.on('data', (chunk: Buffer) => {
    reader.push(chunk);
    if (!lines.isLarge || !largeWork.isSpent || reasons.size > 0) return;
    pause('large');
    largeWork.later(() => resume('large'));
  });
  return {
    end() {
      isEnding = true;
      resume('asked');
      reader.end();
    },
    pause() {
      if (!isEnding) pause('asked');
    },
    resume: () => resume('asked'),
  };
}
