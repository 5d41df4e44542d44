import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { wireLimits } from './limits.ts';
import { lingerAfter } from './lingering.ts';
import { nosniff } from './safe-response.ts';

export interface ConnectionBounds {
  /** Connections that may be open at once. */
  readonly most: number;
  /** Those of one client address. */
  readonly mostPerAddress: number;
  /**
   * Which clients an address stands for; undefined where it stands for many, as that of a proxy does: such have no
   * bound of their own.
   */
  readonly clientOf: (address: string) => string | undefined;
  /** A connection was refused, for there was no other to close in its place. */
  readonly refused?: ((address: string, bound: 'all' | 'address') => void) | undefined;
}

/** A connection while the fast path reads it (`plain-connection.ts`). */
export interface Reader {
  /**
   * Since when it waits for a request, or for the rest of one, in milliseconds since the epoch; Infinity while a
   * request is worked on.
   */
  readonly waitingSince: number;
}

/**
 * All connections of clients. There are so many and no more: past that those are closed that have been waiting for a
 * request, or for the rest of one, the longest; where all are worked on the new one is refused (decisions/0032).
 */
export class Connections {
  readonly #bounds: ConnectionBounds;
  readonly #requestMs: number;
  readonly #all = new Map<Socket, Connection>();
  readonly #perClient = new Map<string, number>();
  readonly #busyUntil = new Map<string, number>();
  #refused = 0;

  /** `requestMs`: how long a request may take to arrive. */
  constructor(bounds: ConnectionBounds, requestMs: number) {
    this.#bounds = bounds;
    this.#requestMs = requestMs;
  }

  get open(): number {
    return this.#all.size;
  }

  /** How many were refused since the start. */
  get refused(): number {
    return this.#refused;
  }

  /** Takes a new connection in, which may close others. Undefined when it was refused and closed. */
  admit(socket: Socket): Connection | undefined {
    const address = socket.remoteAddress ?? '';
    const client = this.#bounds.clientOf(address);
    const { most, mostPerAddress } = this.#bounds;
    const full =
      client !== undefined && (this.#perClient.get(client) ?? 0) >= mostPerAddress && !this.#makeRoom(client)
        ? 'address'
        : this.#all.size >= most && !this.#makeRoom(undefined)
          ? 'all'
          : undefined;
    if (full !== undefined) {
      this.#refused++;
      this.#bounds.refused?.(address, full);
      socket.on('error', () => socket.destroy());
      endWith(socket, busy);
      return undefined;
    }
    const connection = new Connection(client);
    this.#all.set(socket, connection);
    if (client !== undefined) this.#perClient.set(client, (this.#perClient.get(client) ?? 0) + 1);
    socket.once('close', () => this.#forget(socket));
    return connection;
  }

  /** What is known of a connection that was admitted and is open. */
  of(socket: Socket): Connection | undefined {
    return this.#all.get(socket);
  }

  /** Closes those of node:http whose time is over; the fast path closes its own. */
  expire(now: number): void {
    for (const [socket, connection] of this.#all) {
      if (connection.reader || now < connection.waitingSince + this.#requestMs) continue;
      this.#forget(socket);
      if (connection.answers) socket.destroy();
      // Half a request: its sender is told why (RFC 9110 §15.5.9).
      else endWith(socket, late);
    }
  }

  /** Closes some that wait, of one client or of all. False when there are none. */
  #makeRoom(client: string | undefined): boolean {
    const now = Date.now();
    const key = client ?? '';
    if (now < (this.#busyUntil.get(key) ?? 0)) return false;
    this.#busyUntil.delete(key);
    const waiting = [...this.#all]
      .filter(([, one]) => (client === undefined || one.client === client) && one.waitingSince < Infinity)
      .sort(([, a], [, b]) => a.waitingSince - b.waitingSince);
    const most = client === undefined ? this.#bounds.most : this.#bounds.mostPerAddress;
    for (const [socket] of waiting.slice(0, Math.max(1, Math.floor(most * wireLimits.closedTogether)))) {
      this.#forget(socket);
      socket.destroySoon();
    }
    if (waiting.length > 0) return true;
    if (this.#busyUntil.size >= this.#bounds.most) this.#busyUntil.clear();
    this.#busyUntil.set(key, now + wireLimits.allBusyMs);
    return false;
  }

  #forget(socket: Socket): void {
    const connection = this.#all.get(socket);
    if (!connection) return;
    this.#all.delete(socket);
    const { client } = connection;
    if (client === undefined) return;
    const left = (this.#perClient.get(client) ?? 1) - 1;
    if (left === 0) this.#perClient.delete(client);
    else this.#perClient.set(client, left);
  }
}

/** What is known of one connection. */
export class Connection {
  readonly client: string | undefined;
  /** Who reads it; undefined once it is node:http. */
  reader: Reader | undefined;
  /** The last request that node:http has read, until it is answered. */
  #request: IncomingMessage | undefined;
  /** Of the requests that are not answered whole. */
  #responses: ServerResponse[] = [];
  #since = 0;
  /** All requests are answered. */
  #idle = false;

  constructor(client: string | undefined) {
    this.client = client;
  }

  get waitingSince(): number {
    if (this.reader) return this.reader.waitingSince;
    return this.#request?.complete === true ? Infinity : this.#since;
  }

  /** Whether a part of an answer was sent. */
  get answers(): boolean {
    return this.#responses.some(({ headersSent }) => headersSent);
  }

  /** node:http has it from now on. The time it has waited is kept and does not start again. */
  handedOver(): void {
    this.#since = this.waitingSince;
    this.reader = undefined;
  }

  /** node:http has read the head of a request. */
  asked(request: IncomingMessage, response: ServerResponse): void {
    // The request with which a connection was handed over began before.
    if (this.#idle) this.#since = Date.now();
    this.#idle = false;
    this.#request = request;
    this.#responses.push(response);
    lingerAfter(request, response);
    response.once('close', () => {
      this.#responses = this.#responses.filter((one) => one !== response);
      if (this.#responses.length > 0) return;
      this.#request = undefined;
      this.#idle = true;
      this.#since = Date.now();
    });
  }
}

function endWith(socket: Socket, answer: string): void {
  socket.end(answer);
  socket.destroySoon();
}

/** An answer without a body that ends the connection. */
export function refusal(status: number, more = ''): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${nosniff.name}: ${nosniff.value}\r\n${more}Content-Length: 0\r\nConnection: close\r\n\r\n`;
}

const busy = refusal(503, 'Retry-After: 1\r\n');
export const late = refusal(408);
