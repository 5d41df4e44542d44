import type { Duplex } from 'node:stream';
import { HubError } from '../../../core/errors.ts';
import type { Logger } from '../../../core/logger.ts';
import { upstreamLimits } from '../../limits.ts';
import type { Channel, ChannelEvents } from '../channel.ts';
import { frameKinds, type Frames, openFrames } from './frames.ts';
import { type Attachment, SharedProgram } from './shared-program.ts';
import { toldError, type ToldByWorker, type WantedProgram } from './told.ts';

/** The programs of all workers of a hub, in the process that started the workers (decisions/0092). */
export interface ProgramHost {
  /** A worker speaks through this stream, until it ends. `worker`: its number, which one that replaces it has too. */
  serve(worker: number, stream: Duplex): void;
  /** The servers that something is kept of. */
  readonly servers: number;
  /** Ends all programs. */
  close(): Promise<void>;
}

export interface ProgramHostOptions {
  /** Starts a program. `log` is that of `server:<name>`. Throws HubError when its settings cannot work. */
  readonly open: (program: WantedProgram, log: Logger, events: ChannelEvents) => Channel;
}

/** What is known of the program of one server. */
interface Place {
  program: SharedProgram | undefined;
  /** What it was started with. */
  key: string;
  /** The end of those before it. Never rejects. */
  ended: Promise<void>;
  /** What each worker wanted last. */
  readonly wanted: Map<number, string>;
}

export function createProgramHost(options: ProgramHostOptions): ProgramHost {
  const programs = new Programs(options);
  return {
    serve: (worker, stream) => serveWorker(programs, worker, stream),
    get servers() {
      return programs.size;
    },
    close: () => programs.close(),
  };
}

/** The programs by their servers: one at a time, the next when the one before has ended. */
class Programs {
  readonly #open: ProgramHostOptions['open'];
  readonly #places = new Map<string, Place>();

  constructor({ open }: ProgramHostOptions) {
    this.#open = open;
  }

  /** The program that a worker wants, started where it does not run; why it cannot have it now, if so. */
  wantedBy(worker: number, wanted: WantedProgram): SharedProgram | string {
    const place = this.#placeOf(wanted.name);
    const key = JSON.stringify(wanted);
    const before = place.wanted.get(worker);
    // A worker that has only begun may have read settings that are replaced by now.
    const isChange = before === undefined ? !isWantedByAny(place) : before !== key;
    place.wanted.set(worker, key);
    const { program } = place;
    if (program && !program.isOver) {
      if (place.key === key) return program;
      // Another worker knows newer settings: this one will in a moment.
      if (!isChange) return `The settings of server "${wanted.name}" are changing.`;
    }
    this.#end(place, `Server "${wanted.name}" was stopped: its settings have changed.`);
    return this.#start(place, wanted, key);
  }

  /** A program that no worker has any more is stopped. Resolves when it has ended. */
  leave(program: SharedProgram): Promise<void> {
    const place = this.#places.get(program.name);
    if (!place || program.isUsed) return Promise.resolve();
    if (place.program === program) this.#end(place, `Server "${program.name}" was stopped.`);
    return place.ended;
  }

  /** The servers that something is kept of. */
  get size(): number {
    return this.#places.size;
  }

  /** The worker is gone: the one that replaces it comes with settings of its own. */
  forget(worker: number): void {
    for (const place of this.#places.values()) place.wanted.delete(worker);
  }

  endOf(server: string): void {
    const place = this.#places.get(server);
    if (place) this.#end(place, `Server "${server}" was started again.`);
  }

  async close(): Promise<void> {
    for (const [server, place] of this.#places) this.#end(place, `Server "${server}" was stopped.`);
    await Promise.all([...this.#places.values()].map(({ ended }) => ended));
  }

  #placeOf(server: string): Place {
    const place = this.#places.get(server) ?? {
      program: undefined,
      key: '',
      ended: Promise.resolve(),
      wanted: new Map(),
    };
    this.#places.set(server, place);
    return place;
  }

  /** Ends it for all, and has the next one wait until its process has ended. */
  #end(place: Place, why: string): void {
    const { program } = place;
    place.program = undefined;
    if (!program) return;
    program.end(new HubError('upstream_unavailable', why));
    const stopping = program.stop().catch(() => undefined);
    const ended = Promise.all([place.ended, stopping]).then(() => {
      // What it was started with may hold secrets.
      if (!place.program && place.ended === ended) this.#places.delete(program.name);
    });
    place.ended = ended;
  }

  #start(place: Place, wanted: WantedProgram, key: string): SharedProgram {
    const program = new SharedProgram(wanted.name);
    place.program = program;
    place.key = key;
    void place.ended.then(() => {
      if (program.isOver) return;
      try {
        program.start((events) => this.#open(wanted, logOf(program), events));
      } catch (error) {
        const failed =
          error instanceof HubError ? error : new HubError('upstream_unavailable', 'The program could not be started.');
        program.end(failed);
      }
    });
    return program;
  }
}

/** Whether a worker has asked for the program that is there. */
function isWantedByAny({ key, wanted }: Place): boolean {
  return [...wanted.values()].includes(key);
}

/** The log of a program is that of a worker. */
function logOf(program: SharedProgram): Logger {
  const at =
    (level: keyof Logger): Logger['info'] =>
    (message, fields) =>
      program.log({ kind: 'log', level, message, ...(fields && { fields }) });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function serveWorker(programs: Programs, worker: number, stream: Duplex): void {
  const open = new Map<number, Opened>();
  const backlog = new Backlog(() => frames);
  const frames = openFrames(stream, {
    frame(kind, channel, bytes) {
      if (kind === frameKinds.control) told(channel, JSON.parse(bytes.toString()) as ToldByWorker);
      else open.get(channel)?.received(kind, bytes);
    },
    drained: () => backlog.drained(),
    gone() {
      backlog.drained();
      programs.forget(worker);
      for (const one of open.values()) {
        one.detach();
        // The worker that replaces this one goes on with it.
        setTimeout(() => void programs.leave(one.program), upstreamLimits.programKeptMs).unref();
      }
    },
  });

  function told(channel: number, what: ToldByWorker): void {
    const opened = open.get(channel);
    switch (what.kind) {
      case 'open': {
        const program = programs.wantedBy(worker, what.program);
        if (typeof program === 'string') {
          const error = toldError(new HubError('upstream_unavailable', program));
          return frames.tell(channel, { kind: 'closed', error });
        }
        const closed = (): void => {
          open.delete(channel);
          void programs.leave(program);
        };
        const opened = new Opened({ frames, channel, program, backlog, closed });
        if (!opened.isClosed) open.set(channel, opened);
        return;
      }
      case 'ready':
        return opened?.ready();
      case 'end':
        return programs.endOf(what.server);
      case 'close': {
        const ended = (): void => frames.tell(channel, { kind: 'ended' });
        if (!opened) return ended();
        open.delete(channel);
        opened.detach();
        void programs.leave(opened.program).then(ended);
      }
    }
  }
}

/**
 * What a worker has not taken yet. Past a bound the programs that say more to it are read no further until it has taken
 * all; a worker that takes nothing at all for long is ended, and replaced, since others wait for these programs.
 */
class Backlog {
  readonly #frames: () => Frames;
  readonly #held = new Map<Attachment, SharedProgram>();
  #watch: NodeJS.Timeout | undefined;

  constructor(frames: () => Frames) {
    this.#frames = frames;
  }

  /** A program has said something to this attachment. */
  said(one: Attachment, program: SharedProgram): void {
    const { backlog } = this.#frames();
    if (backlog <= upstreamLimits.workerBacklogBytes || this.#held.has(one)) return;
    this.#held.set(one, program);
    program.hold(one);
    if (this.#watch) return;
    let last = Infinity;
    this.#watch = setInterval(() => {
      const frames = this.#frames();
      if (frames.backlog >= last) frames.end();
      last = frames.backlog;
    }, upstreamLimits.workerStalledMs).unref();
  }

  drained(): void {
    clearInterval(this.#watch);
    this.#watch = undefined;
    const held = [...this.#held];
    this.#held.clear();
    for (const [one, program] of held) program.release(one);
  }
}

interface OpenedParts {
  readonly frames: Frames;
  readonly channel: number;
  readonly program: SharedProgram;
  readonly backlog: Backlog;
  /** It was told that the program is over. */
  readonly closed: () => void;
}

/** One channel of one worker. */
class Opened {
  readonly program: SharedProgram;
  readonly #attachment: Attachment;
  readonly #printing: NodeJS.Timeout;
  #pieces: Buffer[] = [];
  #isClosed = false;

  constructor({ frames, channel, program, backlog, closed }: OpenedParts) {
    this.program = program;
    const { piece, lastPiece } = frameKinds;
    // What it prints while it starts says why a start goes wrong.
    this.#printing = setInterval(() => program.tellPrinted(), upstreamLimits.printedEveryMs).unref();
    const attachment: Attachment = {
      tell: (told) => {
        frames.tell(channel, told);
        if (told.kind !== 'closed') return backlog.said(attachment, program);
        clearInterval(this.#printing);
        this.#isClosed = true;
        closed();
      },
      message(text) {
        frames.sendMessage(channel, text);
        backlog.said(attachment, program);
      },
      large({ whole: { pieces } }) {
        const size = upstreamLimits.framePieceBytes;
        for (const [i, bytes] of pieces.entries())
          for (let at = 0; at < bytes.length; at += size) {
            const isLast = i === pieces.length - 1 && at + size >= bytes.length;
            frames.send(isLast ? lastPiece : piece, channel, bytes.subarray(at, at + size));
          }
        backlog.said(attachment, program);
      },
    };
    this.#attachment = attachment;
    program.attach(attachment);
  }

  /** The program is over, and the worker knows. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  received(kind: number, bytes: Buffer): void {
    if (kind === frameKinds.message) return this.program.sent(this.#attachment, bytes.toString());
    this.#pieces.push(Buffer.from(bytes));
    if (kind !== frameKinds.lastPiece) return;
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.program.sent(this.#attachment, whole.toString());
  }

  ready(): void {
    clearInterval(this.#printing);
  }

  detach(): void {
    clearInterval(this.#printing);
    this.program.detach(this.#attachment);
  }
}
