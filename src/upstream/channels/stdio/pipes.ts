import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Readable } from 'node:stream';
import { errorText, HubError } from '../../../core/errors.ts';
import type { Logger } from '../../../core/logger.ts';
import { largeWork } from '../../../core/turn-budget.ts';
import { upstreamLimits } from '../../limits.ts';
import type { Channel, ChannelEvents, Printed } from '../channel.ts';
import { LargeMessage } from '../large-message.ts';
import { answeredId, MessageBuffer, oversizeError, type TooLong } from '../message-buffer.ts';
import { eachLargeMessage, eachMessage, type MessageSink } from '../messages.ts';
import { ThrottledReader } from '../throttled-reader.ts';
import { lastWords } from './errors.ts';
import { lineLevel } from './line-level.ts';
import { createLogRateLimiter, LineBudget } from './log-rate-limiter.ts';

export interface PipeOptions {
  /** The server's. */
  readonly name: string;
  readonly maxMessageBytes: number;
  /** The log of `server:<name>`. */
  readonly log: Logger;
  /** Set for a child that is a launcher. */
  readonly launching?: Heard | undefined;
}

/** Hears a launcher (`npx`) and the program that it starts. */
export interface Heard {
  /** A line on stderr. */
  line(text: string): void;
  /** It sent a message: only the package's own program does. */
  spoke(): void;
}

/** The pipes of a program that is a server: what it is told, and what it says. */
export interface Pipes {
  /** As the channel's. `pause` ends with `hurry` too. */
  readonly ofChannel: Pick<Channel, 'send' | 'printed' | 'pause' | 'resume'>;
  /** Until `shut` is called. */
  readonly isOpen: boolean;
  /** From now on nothing is sent, and no message that comes is told. */
  shut(): void;
  /** Sends what waits, and ends the program's input. */
  endInput(): void;
  /** The program has ended: what is left in its pipes is read without pauses. */
  hurry(): void;
  /** Takes what is left of both streams as complete. */
  end(): void;
  printed(): Printed;
}

/**
 * Speaks newline-delimited JSON-RPC through the pipes of a program (MCP, Transports, stdio). Messages and oversize
 * answers become events, everything else that it prints goes to the log.
 */
export function openPipes(
  child: ChildProcessWithoutNullStreams,
  { name, log, maxMessageBytes, launching }: PipeOptions,
  events: ChannelEvents,
): Pipes {
  const words = lastWords();
  const writer = batchWriter(child.stdin, name);
  let isOpen = true;
  let unasked = 0;
  let stderrLines = 0;
  const sink: MessageSink = {
    message(message, text) {
      launching?.spoke();
      const isAwaited = !isOpen || events.message(message, text);
      if (message.method !== undefined || !isAwaited) unasked++;
    },
    large(answer) {
      if (isOpen && !events.large(answer)) unasked++;
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
      else if (isOpen) events.failed(id, error, false);
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
    get isOpen() {
      return isOpen;
    },
    shut() {
      isOpen = false;
    },
    endInput: () => writer.end(),
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
      send(text) {
        if (!isOpen) throw new HubError('upstream_unavailable', `Server "${name}" is not running.`);
        writer.write(text);
      },
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
function batchWriter(stdin: ChildProcessWithoutNullStreams['stdin'], name: string) {
  let batch = '';

  function flush(): void {
    if (batch === '') return;
    const text = batch;
    batch = '';
    stdin.write(text);
  }

  return {
    /** Throws HubError when the program has not taken what came before. */
    write(line: string): void {
      if (batch.length + stdin.writableLength + line.length > upstreamLimits.upstreamBacklogBytes) {
        throw new HubError(
          'upstream_unavailable',
          `Server "${name}" does not read its input: too much is waiting for it. Try again later.`,
        );
      }
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

/** Told each line in order, without its line break. Empty lines are left out. */
export interface LineSink {
  line(text: string): void;
  /** A line longer than `upstreamLimits.largeMessageBytes`. Without this it is given as text too. */
  large?(message: LargeMessage): void;
  /** A line longer than allowed, reported when its end has come. */
  tooLong(line: TooLong): void;
}

export interface Lines {
  push(chunk: Buffer): void;
  /** What was pushed last is in the middle of a large line. */
  readonly isLarge: boolean;
  /** The stream has ended: what is left is a line too. */
  end(): void;
}

const lineFeed = 0x0a;
const mark = Buffer.from('\uFEFF');

/**
 * Cuts a byte stream into lines at `\n` or `\r\n`. A UTF-8 sequence may be cut anywhere; a byte order mark at the start
 * is dropped.
 */
export function lineSplitter(maxBytes: number, sink: LineSink): Lines {
  const pieces = new MessageBuffer(maxBytes, sink.large && { enlarge });
  let first = true;

  function enlarge(begin: Buffer): LargeMessage {
    // A chunk that lies in the middle of a line is this line's alone.
    const message = new LargeMessage(true);
    message.add(first && begin.subarray(0, mark.length).equals(mark) ? begin.subarray(mark.length) : begin);
    return message;
  }

  function emit(line: string | TooLong | LargeMessage): void {
    if (line instanceof LargeMessage) {
      first = false;
      sink.large?.(line);
      return;
    }
    if (typeof line !== 'string') {
      sink.tooLong(line);
      return;
    }
    let text = line;
    if (first) {
      first = false;
      if (text.startsWith('\uFEFF')) text = text.slice(1);
    }
    if (text.endsWith('\r')) text = text.slice(0, -1);
    if (text !== '') sink.line(text);
  }

  function push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      if (pieces.bytes === 0 && end - start <= maxBytes) {
        emit(chunk.toString('utf8', start, end));
      } else {
        pieces.add(chunk, start, end);
        emit(pieces.take());
      }
      start = end + 1;
    }
    if (start < chunk.length) pieces.add(chunk, start);
  }

  return {
    push,
    get isLarge() {
      return pieces.isLarge;
    },
    end() {
      if (pieces.bytes > 0) emit(pieces.take());
    },
  };
}
