import { LargeText } from '../core/json/large-text.ts';
import type { HttpResponse } from '../wire/http.ts';
import type { EventLog, EventLogs } from './event-log.ts';
import { mcpLimits } from './limits.ts';
import { PacedWriter } from './paced-writer.ts';

/**
 * Where the answer to one request goes: an HTTP response, or the stream of a legacy SSE connection. `answer` ends it;
 * later calls do nothing, and nothing throws when the client has left.
 */
export interface Reply {
  /**
   * Sends a message that precedes the answer (progress, logging). Dropped where the client accepts no stream, or does
   * not read it.
   */
  notify(text: string): void;
  /**
   * Sends a request to the client that made this one. False where it accepts no stream; missing where it cannot be
   * asked at all.
   */
  ask?(text: string): boolean;
  /** Sends the response, given as JSON text. `status` counts where the response has an HTTP status of its own. */
  answer(text: string, status?: number): void;
  /** Sends `head`, `body` and `tail` as the response: for long lists that are kept as bytes. */
  answerBytes(head: string, body: LargeText, tail: string): void;
  /** Sends `head`, a result that is too large for a text, and `tail` as the response. */
  answerLarge(head: string, result: LargeText, tail: string): void;
  /**
   * Called with the reason when the hub itself refuses or fails a request, in place of an error response: for callers
   * that do not speak JSON-RPC. Where it is missing the response is sent.
   */
  refused?(error: unknown): void;
  /** Set by the code that makes the answer: called once when the client leaves before the answer. */
  gone: (() => void) | undefined;
}

export const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** What a stream needs so that a client can come back to it. */
export interface Resumable {
  readonly logs: EventLogs;
  readonly sid: string;
  /** Names whose client it is. */
  readonly owner: () => string;
  /** The client knows what to do with an event that is nothing but an id (2025-11-25 and later). */
  readonly primes: boolean;
}

/**
 * The answer to a POST: plain JSON, or an event stream from the moment something has to precede it. A stream that gave
 * out an id outlives its connection for `mcpLimits.resumeGraceMs`: a client that can come back does not cancel by
 * leaving (2025-11-25, Sending Messages; decisions/0021).
 */
export class PostReply implements Reply {
  gone: (() => void) | undefined;
  /** Called once when the exchange is over, however it ended. */
  finished: (() => void) | undefined;
  #res: HttpResponse;
  readonly #mayStream: boolean;
  readonly #headers: Record<string, string>;
  readonly #resumable: Resumable | undefined;
  #log: EventLog | undefined;
  #streaming = false;
  #attached = true;
  #done = false;
  /** Ends the waiting for the client. */
  #grace: (() => void) | undefined;

  /** `mayStream`: the client accepts `text/event-stream`. `headers` go out with the answer. */
  constructor(res: HttpResponse, mayStream: boolean, headers: Record<string, string>, resumable?: Resumable) {
    this.#res = res;
    this.#mayStream = mayStream;
    this.#headers = headers;
    this.#resumable = resumable;
    res.on('close', () => this.#left(res));
    // Then `close` does not come any more. Told once `gone` and `finished` are set.
    if (res.destroyed) process.nextTick(() => this.#left(res));
  }

  notify(text: string): void {
    if (!this.#startStream()) return;
    if (this.#attached && this.#res.writableLength > mcpLimits.notifyBacklogBytes) return;
    this.#event(text);
  }

  ask(text: string): boolean {
    if (!this.#startStream()) return false;
    // A client that does not read cannot answer.
    if (this.#attached && this.#res.writableLength > mcpLimits.notifyBacklogBytes) return false;
    this.#event(text);
    return true;
  }

  /** Shows proxies and clients that the answer is still being worked on. */
  beat(): void {
    if (this.#startStream() && this.#attached) this.#res.write(': still working\n\n');
  }

  answer(text: string, status = 200): void {
    if (this.#done) return;
    this.#done = true;
    if (!this.#attached) {
      this.#log?.add(text);
      return this.#over();
    }
    if (this.#streaming) {
      this.#event(text);
      this.#res.end();
    } else if (status === 200 && this.#res.json) {
      this.#res.json(this.#headers, text);
    } else {
      this.#res.writeHead(status, {
        ...this.#headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      });
      this.#res.end(text);
    }
    if (this.#res.writableLength > 0) dropUnread(this.#res);
  }

  answerBytes(head: string, body: LargeText, tail: string): void {
    if (this.#done) return;
    if (this.#streaming) return this.answer(head + body.toString() + tail);
    this.#done = true;
    this.#res.writeHead(200, {
      ...this.#headers,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(head) + body.bytes + Buffer.byteLength(tail),
    });
    this.#res.write(head);
    for (const piece of body.pieces) this.#res.write(piece);
    this.#res.end(tail);
    if (this.#res.writableLength > 0) dropUnread(this.#res);
  }

  answerLarge(head: string, result: LargeText, tail: string): void {
    if (this.#done) return;
    this.#done = true;
    const whole = new LargeText([Buffer.from(head), ...result.pieces, Buffer.from(tail)]);
    const id = this.#log?.add(whole);
    if (!this.#attached) return this.#over();
    const res = this.#res;
    // The log keeps what a client may come back to.
    const writer = new PacedWriter(res, this.#log === undefined);
    if (this.#streaming) {
      writeFrame(writer, whole, id);
    } else {
      res.writeHead(200, {
        ...this.#headers,
        'content-type': 'application/json',
        'content-length': whole.bytes,
      });
      writer.writeLarge('', whole, '');
    }
    writer.end();
    dropUnread(res);
  }

  #startStream(): boolean {
    if (this.#done || !this.#mayStream) return false;
    if (this.#streaming) return true;
    this.#streaming = true;
    this.#res.writeHead(200, { ...this.#headers, ...streamHeaders });
    if (!this.#resumable) return true;
    const { logs, sid, primes } = this.#resumable;
    const log = logs.begin(sid, 'p');
    log.resume = (res, headers, after) => this.#resume(log, res, headers, after);
    this.#log = log;
    // Kept from here on, so that the client can come back to it.
    if (primes) this.#res.write(primingEvent(log.add('')));
    return true;
  }

  #event(text: string): void {
    const id = this.#log?.add(text);
    if (this.#attached) this.#res.write(frame(text, id));
  }

  #resume(log: EventLog, res: HttpResponse, headers: Record<string, string>, after: number): void {
    this.#grace?.();
    const before = this.#res;
    this.#res = res;
    this.#attached = true;
    before.destroy();
    res.on('close', () => this.#left(res));
    res.writeHead(200, { ...headers, ...streamHeaders });
    let writer: PacedWriter | undefined;
    for (const { place, text } of log.after(after)) {
      const id = `${log.name}.${place}`;
      // A large one is the answer, and nothing follows it.
      if (typeof text !== 'string') writeFrame((writer ??= new PacedWriter(res)), text, id);
      else if (text !== '') res.write(frame(text, id));
    }
    if (writer) writer.end();
    else if (this.#done) res.end();
    else res.flushHeaders();
    dropUnread(res);
  }

  #left(res: HttpResponse): void {
    if (res !== this.#res || !this.#attached) return;
    this.#attached = false;
    if (this.#done || !this.#log || this.#log.events.length === 0) return this.#over();
    this.#grace = this.#resumable?.logs.wait(this.#resumable.owner(), () => this.#over());
  }

  /** The client is gone for good, or the answer is complete. */
  #over(): void {
    const { finished, gone } = this;
    this.finished = undefined;
    this.gone = undefined;
    this.#grace?.();
    finished?.();
    if (this.#done) return;
    this.#done = true;
    if (this.#log) this.#resumable?.logs.drop(this.#log);
    gone?.();
  }
}

/**
 * Ends a response of which the client reads nothing for a while: otherwise a client could keep its answer in memory
 * without a time limit.
 */
export function dropUnread(res: HttpResponse): void {
  res.setTimeout(mcpLimits.unreadMs, () => res.destroy());
}

/** One SSE event that carries one message. JSON text cannot hold a raw line break except as white space. */
export function frame(text: string, id?: string): string {
  const data = /[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, ' ') : text;
  return id === undefined ? `event: message\ndata: ${data}\n\n` : `event: message\nid: ${id}\ndata: ${data}\n\n`;
}

/** The same for a message that may be a large one, on a response of which it is not the first. */
export function writeFrame(writer: PacedWriter, text: string | LargeText, id?: string): void {
  if (typeof text === 'string') return writer.write(frame(text, id));
  const head = id === undefined ? 'event: message\ndata: ' : `event: message\nid: ${id}\ndata: `;
  writer.writeLarge(head, text, '\n\n');
}

/**
 * What a stream begins with, so that a client can come back to it from the first moment on (2025-11-25, Sending
 * Messages, 6).
 */
export function primingEvent(id: string): string {
  return `id: ${id}\nretry: ${mcpLimits.streamRetryMs}\ndata: \n\n`;
}
