import type { ServerResponse } from 'node:http';
import { limits } from '../core/limits.ts';

/**
 * Where the answer to one request goes: an HTTP response, or the stream of a legacy SSE connection. `answer` ends it; later calls do nothing, and nothing
 * throws when the client has left.
 */
export interface Reply {
  /** Sends a message that precedes the answer (progress, logging). Dropped where the client accepts no stream, or does not read it. */
  notify(text: string): void;
  /** Sends the response, given as JSON text. `status` counts where the response has an HTTP status of its own. */
  answer(text: string, status?: number): void;
  /** Sends `head + body + tail` as the response: for long lists that are kept as bytes. */
  answerBytes(head: string, body: Buffer, tail: string): void;
  /**
   * Hears why the hub itself refuses or fails a request, in place of an error response: for askers that do not speak JSON-RPC. Where it is missing the
   * response is sent.
   */
  refused?(error: unknown): void;
  /** Set by whoever works on the answer: called once when the client leaves before it. */
  gone: (() => void) | undefined;
}

export const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** The answer to a POST: plain JSON, or an event stream from the moment something has to precede it. */
export class PostReply implements Reply {
  gone: (() => void) | undefined;
  /** Called once when the exchange is over, however it ended. */
  finished: (() => void) | undefined;
  readonly #res: ServerResponse;
  readonly #mayStream: boolean;
  readonly #headers: Record<string, string>;
  #streaming = false;
  #done = false;

  /** `mayStream`: the client accepts `text/event-stream`. `headers` go out with the answer. */
  constructor(res: ServerResponse, mayStream: boolean, headers: Record<string, string>) {
    this.#res = res;
    this.#mayStream = mayStream;
    this.#headers = headers;
    res.on('close', () => this.#left());
  }

  notify(text: string): void {
    if (!this.#startStream() || this.#res.writableLength > limits.notifyBacklogBytes) return;
    this.#res.write(frame(text));
  }

  /** Shows proxies and clients that the answer is still being worked on. */
  beat(): void {
    if (this.#startStream()) this.#res.write(': still working\n\n');
  }

  answer(text: string, status = 200): void {
    if (this.#done) return;
    this.#done = true;
    if (this.#streaming) {
      this.#res.end(frame(text));
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

  answerBytes(head: string, body: Buffer, tail: string): void {
    if (this.#done) return;
    if (this.#streaming) return this.answer(head + body.toString() + tail);
    this.#done = true;
    this.#res.writeHead(200, {
      ...this.#headers,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(head) + body.length + Buffer.byteLength(tail),
    });
    this.#res.write(head);
    this.#res.write(body);
    this.#res.end(tail);
    if (this.#res.writableLength > 0) dropUnread(this.#res);
  }

  #startStream(): boolean {
    if (this.#done || !this.#mayStream) return false;
    if (!this.#streaming) {
      this.#streaming = true;
      this.#res.writeHead(200, { ...this.#headers, ...streamHeaders });
    }
    return true;
  }

  #left(): void {
    this.finished?.();
    const { gone } = this;
    this.gone = undefined;
    if (this.#done) return;
    this.#done = true;
    gone?.();
  }
}

/** Ends a response of which the client reads nothing for a while: what it waits for would stay in memory for as long as it likes. */
export function dropUnread(res: ServerResponse): void {
  res.setTimeout(limits.unreadMs, () => res.destroy());
}

/** One SSE event that carries one message. JSON text cannot hold a raw line break except as white space. */
export function frame(text: string): string {
  return `event: message\ndata: ${/[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, ' ') : text}\n\n`;
}
