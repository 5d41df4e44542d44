import { BusyMap } from '../core/busy-map.ts';
import type { LargeText } from '../core/json/large-text.ts';
import { coreLimits } from '../core/limits.ts';
import type { HttpRequest, HttpResponse } from '../wire/http.ts';
import { type ChangedList, changedText } from './announcer.ts';
import { mcpLimits } from './limits.ts';
import { PacedWriter } from './paced-writer.ts';
import { dropUnread, frame, primingEvent, streamHeaders, writeFrame } from './reply.ts';

/**
 * A stream to one client that stays open: the GET stream of a session, a legacy SSE connection, a
 * `subscriptions/listen`.
 */
export interface Stream {
  /**
   * Sends one message. A reader that has left `mcpLimits.streamBacklogBytes` unread is dropped: it can come back and
   * list again.
   */
  send(text: string | LargeText, id?: string): void;
  /** Says that a list changed. */
  news(list: ChangedList): void;
  /** Sends an id alone, to come back to; a stream that makes its own ids needs none given. */
  prime(id: string): void;
  /** Sends one event of another kind than a message. */
  event(name: string, data: string): void;
  /** Ends it. `closed` follows. */
  end(): void;
  readonly open: boolean;
}

/** All streams of the hub, and one timer for what keeps all long responses open. */
export interface Streams {
  /**
   * Starts an event stream on a response. `closed` is called once, however the stream ends. `farewell` is the message
   * that an orderly end begins with.
   */
  open(res: HttpResponse, headers: Record<string, string>, closed: () => void, farewell?: string): Stream;
  /** How many are open. */
  readonly count: number;
  /** True when no more may be opened (`mcpLimits.streams`). */
  readonly full: boolean;
  /** Ends those whose request would not be let in any more. */
  endWhere(isOver: (req: HttpRequest) => boolean | Promise<boolean>): void;
  /**
   * Calls `beat` every `coreLimits.streamKeepAliveMs` until the function returned is called, but not within the first
   * of these: what is answered sooner keeps the status and the form that its answer has.
   */
  onBeat(beat: () => void): () => void;
  /** Ends every stream: the hub stops. */
  close(): void;
}

export function createStreams(): Streams {
  const streams = new Set<HttpStream>();
  const beats = new BusyMap<number, () => void>();
  let lastBeat = 0;
  /** Those up to this one wait longer than `coreLimits.streamKeepAliveMs`. */
  let longWaiting = 0;
  const timer = setInterval(() => {
    for (const [id, beat] of beats) if (id <= longWaiting) beat();
    longWaiting = lastBeat;
    for (const stream of streams) stream.beat();
  }, coreLimits.streamKeepAliveMs).unref();

  function onBeat(beat: () => void): () => void {
    const id = ++lastBeat;
    beats.set(id, beat);
    return () => beats.delete(id);
  }

  return {
    onBeat,
    get count() {
      return streams.size;
    },
    get full() {
      return streams.size >= mcpLimits.streams;
    },
    open(res, headers, closed, farewell) {
      const stream = new HttpStream(res, farewell);
      res.writeHead(200, { ...headers, ...streamHeaders });
      res.flushHeaders();
      dropUnread(res);
      streams.add(stream);
      res.on('close', () => {
        stream.gone();
        streams.delete(stream);
        closed();
      });
      return stream;
    },
    endWhere(isOver) {
      for (const stream of streams) {
        const over = isOver(stream.req);
        if (over === true) stream.end();
        else if (over instanceof Promise) void over.then((late) => late && stream.end());
      }
    },
    close() {
      clearInterval(timer);
      for (const stream of streams) stream.end();
    },
  };
}

/**
 * A class, because there is one for each client that listens, and a closure for each of its methods would be what most
 * of it costs.
 */
class HttpStream implements Stream {
  readonly #res: HttpResponse;
  readonly #farewell: string | undefined;
  #open = true;
  /** Made with the first large message. */
  #paced: PacedWriter | undefined;

  constructor(res: HttpResponse, farewell: string | undefined) {
    this.#res = res;
    this.#farewell = farewell;
  }

  get open(): boolean {
    return this.#open;
  }

  get req(): HttpRequest {
    return this.#res.req;
  }

  send(text: string | LargeText, id?: string): void {
    if (typeof text === 'string') return this.#write(frame(text, id));
    if (!this.#open) return;
    this.#paced ??= new PacedWriter(this.#res);
    writeFrame(this.#paced, text, id);
  }

  news(list: ChangedList): void {
    this.#write(frame(changedText(list)));
  }

  prime(id: string): void {
    this.#write(primingEvent(id));
  }

  event(name: string, data: string): void {
    this.#write(`event: ${name}\ndata: ${data}\n\n`);
  }

  beat(): void {
    this.#write(': keep-alive\n\n');
  }

  end(): void {
    if (this.#open && this.#farewell !== undefined) this.#write(frame(this.#farewell));
    this.#open = false;
    if (this.#paced) this.#paced.end();
    else this.#res.end();
  }

  gone(): void {
    this.#open = false;
  }

  #write(chunk: string): void {
    if (!this.#open) return;
    // Looked at before, not after: one message may be larger than what may pile up.
    const waiting = this.#res.writableLength + (this.#paced?.waitingChars ?? 0);
    if (waiting > mcpLimits.streamBacklogBytes) this.#res.destroy();
    else if (this.#paced && !this.#paced.isIdle) this.#paced.write(chunk);
    else this.#res.write(chunk);
  }
}
