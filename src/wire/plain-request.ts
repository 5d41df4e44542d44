import type { Socket } from 'node:net';
import type { PlainHead } from './head.ts';

/** A request of the plain shape, read whole. */
export class PlainRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: PlainHead['headers'];
  readonly socket: Socket;
  readonly body: Buffer;

  constructor({ method, url, headers }: PlainHead, socket: Socket, body: Buffer) {
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.socket = socket;
    this.body = body;
  }
}
