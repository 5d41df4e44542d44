import type { Duplex } from 'node:stream';
import { deferred } from '../../../core/deferred.ts';
import { HubError } from '../../../core/errors.ts';
import type { Logger } from '../../../core/logger.ts';
import { largeWork } from '../../../core/turn-budget.ts';
import { upstreamLimits } from '../../limits.ts';
import type { Channel, ChannelEvents, Printed } from '../channel.ts';
import { LargeMessage } from '../large-message.ts';
import { eachLargeMessage, eachMessage, type MessageSink } from '../messages.ts';
import { frameKinds, type Frames, openFrames } from './frames.ts';
import { errorOf, type ToldByHost, type ToldByWorker, type WantedProgram } from './told.ts';

/** The programs that the workers of a hub share, as one worker sees them (decisions/0092). */
export interface ProgramClient {
  /** The channel to a program, which is started where it does not run yet. */
  open(program: WantedProgram, options: OpenOptions, events: ChannelEvents): Channel;
  /** Ends the program of a server for all workers; each starts it again, and it runs once. */
  end(server: string): void;
}

export interface OpenOptions {
  /** It is started by a launcher, which may install it first. */
  readonly isLaunched: boolean;
  readonly log: Logger;
}

/** `gone`: the process that has the programs has ended. */
export function createProgramClient(stream: Duplex, gone: () => void): ProgramClient {
  const open = new Map<number, SharedChannel>();
  let last = 0;
  const frames = openFrames(stream, {
    frame(kind, channel, bytes) {
      open.get(channel)?.received(kind, bytes);
      if (!largeWork.isSpent) return;
      frames.pause();
      largeWork.later(() => frames.resume());
    },
    gone() {
      for (const channel of open.values()) channel.lost();
      gone();
    },
  });
  return {
    open(program, options, events) {
      const number = (last += 1);
      const channel = new SharedChannel({
        ...options,
        number,
        frames,
        program,
        events,
        over: () => open.delete(number),
      });
      open.set(number, channel);
      return channel;
    },
    end: (server) => tell(frames, 0, { kind: 'end', server }),
  };
}

function tell(frames: Frames, channel: number, told: ToldByWorker): void {
  frames.tell(channel, told);
}

interface ChannelParts extends OpenOptions {
  readonly number: number;
  readonly frames: Frames;
  readonly program: WantedProgram;
  readonly events: ChannelEvents;
  readonly over: () => void;
}

/** One worker's channel to a program that another process has started. */
class SharedChannel implements Channel {
  readonly launched?: Promise<boolean>;
  readonly #parts: ChannelParts;
  readonly #sink: MessageSink;
  readonly #ended = deferred<void>();
  readonly #launched = deferred<boolean>();
  #state: 'open' | 'closing' | 'dead' = 'open';
  #printed: Printed = { stray: '', output: '', line: '', reason: undefined };
  #large: LargeMessage | undefined;
  #isContested = false;

  constructor(parts: ChannelParts) {
    this.#parts = parts;
    const { events, program, frames, number } = parts;
    if (parts.isLaunched) this.launched = this.#launched.promise;
    this.#sink = {
      message: (message, text) => void events.message(message, text),
      large: (answer) => void events.large(answer),
    };
    tell(frames, number, { kind: 'open', program });
  }

  /** Whether a question of the program may be for a call that another worker gave up. */
  get isContested(): boolean {
    return this.#isContested;
  }

  send(text: string): void {
    const { name } = this.#parts.program;
    if (this.#state !== 'open') throw new HubError('upstream_unavailable', `Server "${name}" is not running.`);
    const { frames, number } = this.#parts;
    if (frames.backlog + text.length > upstreamLimits.upstreamBacklogBytes)
      throw new HubError('upstream_unavailable', `Too much is waiting for server "${name}". Try again later.`);
    frames.sendMessage(number, text);
  }

  abandon(): void {}

  ready(): void {
    tell(this.#parts.frames, this.#parts.number, { kind: 'ready' });
  }

  forgetSession(): void {}

  printed(): Printed {
    return this.#printed;
  }

  close(): Promise<void> {
    if (this.#state === 'open') {
      this.#state = 'closing';
      tell(this.#parts.frames, this.#parts.number, { kind: 'close' });
    }
    return this.#ended.promise;
  }

  received(kind: number, bytes: Buffer): void {
    switch (kind) {
      case frameKinds.message:
        if (this.#state === 'open') eachMessage(bytes.toString(), this.#sink);
        break;
      case frameKinds.piece:
      case frameKinds.lastPiece:
        this.#piece(bytes, kind === frameKinds.lastPiece);
        break;
      case frameKinds.control:
        this.#told(JSON.parse(bytes.toString()) as ToldByHost);
        break;
    }
  }

  /** The process that has the program is gone, and the program with it. */
  lost(): void {
    this.#end(new HubError('upstream_unavailable', `Server "${this.#parts.program.name}" is not running.`));
  }

  #piece(bytes: Buffer, isLast: boolean): void {
    this.#large ??= new LargeMessage();
    // Its frame came with others, and would keep them all.
    this.#large.add(Buffer.from(bytes));
    if (!isLast) return;
    const whole = this.#large;
    this.#large = undefined;
    if (this.#state === 'open') eachLargeMessage(whole, this.#sink);
  }

  #told(told: ToldByHost): void {
    const { events, log } = this.#parts;
    switch (told.kind) {
      case 'launched':
        return this.#launched.resolve(told.isKnown);
      case 'progress':
        return this.#state === 'open' ? events.progress?.(told.progress) : undefined;
      case 'log':
        return log[told.level](told.message, told.fields);
      case 'failed':
        return this.#state === 'open' ? events.failed(told.id, errorOf(told.error), false) : undefined;
      case 'printed':
        this.#printed = told.printed;
        return;
      case 'contested':
        this.#isContested = told.isContested;
        return;
      case 'closed':
        if (told.printed) this.#printed = told.printed;
        return this.#end(errorOf(told.error), told.logs);
      case 'ended':
        return this.#end(undefined);
    }
  }

  #end(error: HubError | undefined, isLogged?: true): void {
    const wasOpen = this.#state === 'open';
    this.#state = 'dead';
    if (!isLogged) this.#parts.over();
    this.#ended.resolve();
    this.#launched.resolve(false);
    if (wasOpen && error) this.#parts.events.closed(error);
  }
}
