import { STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http';
import type { HttpResponse, PlainRequest } from './http.ts';
import { nosniff } from './safe-response.ts';

/** What a response needs of its connection. */
export interface ResponseEnds {
  /** The headers that tell the client whether the connection stays, each with its line break. */
  readonly connection: () => string;
  /** The answer has been written. */
  readonly done: () => void;
}

/**
 * The response to a plain request: one write for an answer that is there whole, chunks for one that comes in pieces.
 */
export class PlainResponse implements HttpResponse {
  readonly req: PlainRequest;
  headersSent = false;
  readonly #ends: ResponseEnds;
  /** The head, as far as it is known, until the first byte of the body goes out with it. */
  #head = '';
  #chunked = false;
  #corked = false;
  #ended = false;
  #closed = false;
  #listeners: (() => void)[] | undefined;
  #late: (() => void) | undefined;

  constructor(req: PlainRequest, ends: ResponseEnds) {
    this.req = req;
    this.#ends = ends;
  }

  get destroyed(): boolean {
    // A client that has ended its side has left before its socket is closed.
    return this.#closed || this.req.socket.destroyed;
  }

  get writableLength(): number {
    return this.req.socket.writableLength;
  }

  setHeader(name: string, value: string): this {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    this.#head += `${name}: ${value}\r\n`;
    return this;
  }

  writeHead(status: number, headers: Record<string, string | number>): this {
    if (this.headersSent) throw new Error('The head of this response was written already');
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${everyAnswer}${this.#head}`;
    let length: string | number | undefined;
    for (const name in headers) {
      const value = headers[name] ?? '';
      if (name === 'content-length') length = value;
      else if (typeof value === 'string' && !harmless.test(value)) validateHeaderValue(name, value);
      if (!harmless.test(name)) validateHeaderName(name);
      head += `${name}: ${value}\r\n`;
    }
    this.headersSent = true;
    this.#chunked = length === undefined;
    const framing = this.#chunked ? 'Transfer-Encoding: chunked\r\n' : '';
    this.#head = `${head}Date: ${dateNow()}\r\n${this.#ends.connection()}${framing}\r\n`;
    return this;
  }

  json(headers: Record<string, string>, text: string): void {
    if (this.#ended) return;
    if (this.headersSent) throw new Error('The head of this response was written already');
    let head = this.#head;
    for (const name in headers) {
      const value = headers[name] ?? '';
      validateHeaderName(name);
      validateHeaderValue(name, value);
      head += `${name}: ${value}\r\n`;
    }
    this.headersSent = true;
    this.#ended = true;
    this.#head = `${jsonHead}${Buffer.byteLength(text)}\r\n${head}${endOfHead(this.#ends.connection())}`;
    this.#out(text);
    process.nextTick(over, this, this.#ends);
  }

  flushHeaders(): void {
    this.#out('');
  }

  write(chunk: string | Buffer, taken?: (error?: Error | null) => void): boolean {
    if (this.#ended) return false;
    const size = Buffer.byteLength(chunk);
    if (size === 0) return true;
    if (taken) return this.#piece(chunk, size, taken);
    if (!this.#chunked) return this.#part(chunk);
    return typeof chunk === 'string'
      ? this.#out(`${size.toString(16)}\r\n${chunk}\r\n`)
      : this.#out(Buffer.concat([Buffer.from(`${size.toString(16)}\r\n`), chunk, lineBreak]));
  }

  end(chunk: string | Buffer = ''): void {
    if (this.#ended) return;
    if (this.#chunked) {
      this.write(chunk);
      this.#ended = true;
      this.#out('0\r\n\r\n');
    } else {
      this.#ended = true;
      this.#out(chunk);
    }
    if (this.#corked) this.req.socket.uncork();
    process.nextTick(over, this, this.#ends);
  }

  on(_event: 'close', listener: () => void): this {
    // Who comes too late is told as well.
    if (this.#closed) process.nextTick(listener);
    else (this.#listeners ??= []).push(listener);
    return this;
  }

  setTimeout(ms: number, late: () => void): this {
    this.stopWaiting();
    this.#late = late;
    this.req.socket.setTimeout(ms, late);
    return this;
  }

  /** Takes back `setTimeout`. */
  stopWaiting(): void {
    if (!this.#late) return;
    this.req.socket.off('timeout', this.#late).setTimeout(0);
    this.#late = undefined;
  }

  destroy(): void {
    this.req.socket.destroy();
  }

  /** It is over, in whatever way. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#ended = true;
    for (const listener of this.#listeners ?? []) listener();
    this.#listeners = undefined;
  }

  /** A piece of a body that takes many turns: it leaves as it is, and at once. */
  #piece(chunk: string | Buffer, size: number, taken: (error?: Error | null) => void): boolean {
    const { socket } = this.req;
    if (socket.destroyed) return false;
    socket.cork();
    this.#out(this.#chunked ? `${size.toString(16)}\r\n` : '');
    const drained = this.#chunked ? (socket.write(chunk), socket.write(lineBreak, taken)) : socket.write(chunk, taken);
    socket.uncork();
    if (this.#corked) socket.uncork();
    this.#corked = false;
    return drained;
  }

  /** A part of a body whose length is known: what is written in one turn is sent in one piece. */
  #part(chunk: string | Buffer): boolean {
    if (!this.#corked) {
      this.#corked = true;
      this.req.socket.cork();
    }
    return this.#out(chunk);
  }

  /** Sends, behind the head if that has not gone yet. False when the client should be waited for. */
  #out(chunk: string | Buffer): boolean {
    const { socket } = this.req;
    const head = this.#head;
    this.#head = '';
    if (socket.destroyed) return false;
    if (typeof chunk === 'string') return head + chunk === '' || socket.write(head + chunk);
    if (head === '') return socket.write(chunk);
    socket.cork();
    socket.write(head);
    const drained = socket.write(chunk);
    socket.uncork();
    return drained;
  }
}

function over(response: PlainResponse, ends: ResponseEnds): void {
  response.close();
  ends.done();
}

const everyAnswer = `${nosniff.name}: ${nosniff.value}\r\n`;
/** Neither a line break nor anything else that a name or a value could smuggle in. */
const harmless = /^[\w\-./;=+, ]*$/;
const lineBreak = Buffer.from('\r\n');

// Joined, and so in one piece: what is added up is put together with each answer again.
const jsonHead = ['HTTP/1.1 200 OK', `${everyAnswer}content-type: application/json`, 'content-length: '].join('\r\n');

let lastEnd = { date: '', connection: '', text: '' };

/** The same for all answers of a second whose connections stay. */
function endOfHead(connection: string): string {
  const now = dateNow();
  if (lastEnd.date !== now || lastEnd.connection !== connection)
    lastEnd = { date: now, connection, text: [`Date: ${now}`, connection, ''].join('\r\n') };
  return lastEnd.text;
}

let dateSecond = 0;
let date = '';

/** `Date` as it is in this second (RFC 9110 §6.6.1). */
function dateNow(): string {
  const now = Date.now();
  const second = Math.floor(now / 1_000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = new Date(now).toUTCString();
  }
  return date;
}
