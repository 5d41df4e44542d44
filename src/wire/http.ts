import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { PlainHead } from './head.ts';

/** A request as node:http gives it, or one that the fast path has read completely. */
export type HttpRequest = IncomingMessage | PlainRequest;

/** What an answer needs of a response, of node:http or of the fast path. `ServerResponse` of node:http is one. */
export interface HttpResponse {
  readonly req: HttpRequest;
  readonly headersSent: boolean;
  /** The client is gone. */
  readonly destroyed: boolean;
  /** Bytes that wait for the client to read. */
  readonly writableLength: number;
  /** Goes out with the head. */
  setHeader(name: string, value: string): unknown;
  /** Without `content-length` the body is sent in chunks. */
  writeHead(status: number, headers: Record<string, string | number>): unknown;
  flushHeaders(): void;
  /** `taken` is called once the connection has taken it, with an error when that is gone. */
  write(chunk: string | Buffer, taken?: (error?: Error | null) => void): boolean;
  end(chunk?: string | Buffer): unknown;
  /**
   * Sends 200 with this JSON text as the whole answer, and these headers beside its own. Of the fast path alone, where
   * nearly all answers are such.
   */
  json?(headers: Record<string, string>, text: string): void;
  /** `close` comes once: after the end of the answer, or when the client left before. */
  on(event: 'close', listener: () => void): unknown;
  /** Calls `late` when nothing moved on the connection for so long. */
  setTimeout(ms: number, late: () => void): unknown;
  destroy(): unknown;
}

/** A request of the plain shape, read whole. */
export class PlainRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: PlainHead['headers'];
  readonly socket: Socket;
  readonly #bytes: Buffer;
  readonly #from: number;
  readonly #to: number;

  /** The body is in `bytes`, from `from` on. */
  constructor({ method, url, headers, length }: PlainHead, socket: Socket, bytes: Buffer, from: number) {
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.socket = socket;
    this.#bytes = bytes;
    this.#from = from;
    this.#to = from + length;
  }

  get body(): Buffer {
    return this.#bytes.subarray(this.#from, this.#to);
  }

  /** The body as text; undefined where it is not UTF-8. */
  text(): string | undefined {
    const text = this.#bytes.toString('utf8', this.#from, this.#to);
    // What stands for bytes that are none may have been sent as well.
    return text.includes('\uFFFD') && !isUtf8(this.body) ? undefined : text;
  }
}

/**
 * Why a request body of this `Content-Encoding` is not read (415, RFC 9110 §15.5.16); undefined for one that is sent as
 * it is.
 */
export function packedBody(encoding: string | undefined): string | undefined {
  if (encoding === undefined || /^(?:identity)?$/i.test(encoding.trim())) return undefined;
  return `The body is encoded as "${encoding.slice(0, 80)}". Send it without Content-Encoding.`;
}
