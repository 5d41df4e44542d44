import type { Socket } from 'node:net';
import { late } from './connections.ts';
import { readHead, type PlainHead, RepeatedHead } from './head.ts';
import { type HttpResponse, PlainRequest } from './http.ts';
import { wireLimits } from './limits.ts';
import { PlainResponse, type ResponseEnds } from './plain-response.ts';

export interface PlainOptions {
  /** Whether the fast path answers this request itself. */
  takes: (url: string) => boolean;
  handle: (req: PlainRequest, res: HttpResponse) => void;
  /** Whether more has to be read of a request that is not plain before its connection is handed over. */
  readonly isUnsure: (socket: Socket, unread: Buffer) => boolean;
  /** Gives the connection to node:http, with what was read of it and not answered. Nothing of it comes back. */
  readonly handOver: (socket: Socket, unread: Buffer) => void;
  /**
   * Takes memory for `bytes` more of what came and cannot be worked on yet, which is `size` with them. False where
   * there is none.
   */
  hold: (bytes: number, size: number) => boolean;
  release: (bytes: number) => void;
  /** The connection is here no more: closed, or handed over. */
  readonly gone: (connection: PlainConnection) => void;
  /** The headers that tell a client how long its connection stays, each with its line break. */
  readonly keepAlive: string;
  /** How long a connection may be idle between two requests, and a request take to arrive; milliseconds. */
  readonly idleMs: number;
  readonly requestMs: number;
}

const headEnd = '\r\n\r\n';

/** A connection for as long as all that comes over it are plain requests, one after the other. */
export class PlainConnection implements ResponseEnds {
  readonly #socket: Socket;
  readonly #options: PlainOptions;
  /** What was read and is not answered yet. */
  #unread: Buffer | undefined;
  #pieces = 0;
  /** The head that was read last; undefined where it was none of the plain shape. */
  #head: PlainHead | undefined;
  /** To know it again. */
  #known: RepeatedHead | undefined;
  #response: PlainResponse | undefined;
  /** The one before, until the client has read it. */
  #unheard: PlainResponse | undefined;
  #ending = false;
  /** An answer says that the connection is closed behind it: the next one, and the one that was written last. */
  #isLast = false;
  #saysClose = false;
  /** Since when it waits, in milliseconds since the epoch; Infinity while a request is worked on. */
  #waitingSince = Date.now();
  /** Something was answered on it. */
  #answered = false;
  /** Bytes of memory taken by `hold`. */
  #held = 0;

  constructor(socket: Socket, options: PlainOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('data', this.#received);
    socket.on('end', this.#left);
    socket.on('error', this.#failed);
    socket.on('close', this.#closed);
  }

  get waitingSince(): number {
    return this.#waitingSince;
  }

  /** Closes it when it waited for too long. */
  expire(now: number): void {
    const { idleMs, requestMs } = this.#options;
    if (now < this.#waitingSince + (this.#answered && !this.#unread ? idleMs : requestMs)) return;
    // Half a request: its sender is told why (RFC 9110 §15.5.9).
    if (this.#unread) this.#socket.end(late);
    this.#socket.destroySoon();
  }

  /** Closes it behind the next answer; one that waits stays open for a request that is on its way. */
  lastAnswer(): void {
    this.#isLast = true;
  }

  /** Closes it as soon as nothing is worked on, and no part of a request is here. */
  end(): void {
    this.#ending = true;
    if (!this.#response && !this.#unread) this.#socket.destroySoon();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  connection = (): string => {
    this.#saysClose = this.#ending || this.#isLast;
    return this.#saysClose ? 'Connection: close\r\n' : this.#options.keepAlive;
  };

  done = (): void => {
    this.#unheard = this.#response;
    this.#response = undefined;
    if (this.#socket.destroyed) return;
    if (this.#ending || this.#saysClose) return this.#socket.destroySoon();
    this.#waitingSince = Date.now();
    this.#answered = true;
    // Written behind what waits, it comes back when that is gone; `drain` comes only where more waits than the
    // high-water mark of the stream.
    if (this.#socket.writableLength > 0) this.#socket.write('', this.#continue);
    else this.#continue();
  };

  readonly #received = (chunk: Buffer): void => {
    this.#unread = this.#unread ? Buffer.concat([this.#unread, chunk]) : chunk;
    if (this.#response || this.#unheard) {
      // Sent ahead: it waits for its turn, and its sender with it.
      if (this.#unread.length > wireLimits.aheadBytes || !this.#hold(this.#unread.length)) this.#socket.pause();
      return;
    }
    this.#pieces++;
    this.#next();
  };

  /** Begins with the next request, if it is there. */
  #next(): void {
    const unread = this.#unread;
    if (!unread || this.#response || this.#unheard) return;
    const bodyAt = this.#read(unread);
    const head = this.#head;
    if (!head || !this.#options.takes(head.url) || this.#pieces > wireLimits.bodyPieces) {
      this.#waits();
      if (bodyAt === -1 && this.#options.isUnsure(this.#socket, unread) && this.#hold(unread.length)) return;
      return this.#handOver(unread);
    }
    const bodyEnd = bodyAt + head.length;
    if (unread.length < bodyEnd) {
      this.#waits();
      // The code that reads on from there refuses it with a message.
      if (!this.#hold(unread.length)) return this.#handOver(unread);
      // More than is read ahead of its turn may have come of it, and this is its turn.
      if (this.#socket.isPaused()) this.#socket.resume();
      return;
    }
    this.#unread = unread.length === bodyEnd ? undefined : unread.subarray(bodyEnd);
    this.#hold(this.#unread?.length ?? 0);
    this.#begin(head, unread, bodyAt);
  }

  /** What came is no whole request: its time counts from its first piece on. */
  #waits(): void {
    if (this.#pieces === 1) this.#waitingSince = Date.now();
  }

  /** Takes memory for so many bytes in all, in place of what was taken before. */
  #hold(bytes: number): boolean {
    const more = bytes - this.#held;
    if (more > 0 && !this.#options.hold(more, bytes)) return false;
    if (more < 0) this.#options.release(-more);
    this.#held = bytes;
    return true;
  }

  /** Reads the head. Gives where the body begins; -1 where not all of the head is there. */
  #read(unread: Buffer): number {
    const again = this.#known?.bodyIn(unread) ?? -1;
    if (again !== -1) {
      this.#head = this.#known?.head;
      return again;
    }
    const end = unread.indexOf(headEnd);
    this.#head = undefined;
    if (end === -1) return -1;
    if (end <= wireLimits.plainHeadBytes) {
      const text = unread.toString('latin1', 0, end);
      this.#head = readHead(text);
      this.#known = this.#head && RepeatedHead.of(this.#head, text, unread);
    }
    return end + headEnd.length;
  }

  #begin(head: PlainHead, unread: Buffer, bodyAt: number): void {
    this.#pieces = 0;
    this.#waitingSince = Infinity;
    const request = new PlainRequest(head, this.#socket, unread, bodyAt);
    const response = new PlainResponse(request, this);
    this.#response = response;
    if (this.#socket.isPaused()) this.#socket.resume();
    this.#options.handle(request, response);
  }

  /** Goes on once the client has read what it was sent. */
  readonly #continue = (): void => {
    if (this.#socket.destroyed) return;
    this.#unheard?.stopWaiting();
    this.#unheard = undefined;
    this.#next();
  };

  /** A client that ends its side wants nothing any more, as node:http has it. */
  readonly #left = (): void => {
    const socket = this.#socket;
    // With nothing left to send, closing has the same effect as ending this side first.
    if (!this.#response && socket.writableLength === 0) return void socket.destroy();
    socket.end();
    this.#response?.close();
  };

  readonly #failed = (): void => void this.#socket.destroy();

  readonly #closed = (): void => {
    this.#hold(0);
    this.#options.gone(this);
    this.#response?.close();
  };

  #handOver(unread: Buffer): void {
    const socket = this.#socket;
    socket.off('data', this.#received);
    socket.off('end', this.#left);
    socket.off('error', this.#failed);
    socket.off('close', this.#closed);
    if (socket.isPaused()) socket.resume();
    this.#hold(0);
    this.#options.gone(this);
    this.#options.handOver(socket, unread);
  }
}
