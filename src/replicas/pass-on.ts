import type { Dispatcher } from 'undici';
import { replicaLimits } from './limits.ts';
import { passHeader, type PassedRequest, type Passes } from './pass.ts';
import type { Peer } from './peer.ts';
import type { Way } from './way.ts';

/** What an answer needs of the response to the client; `HttpResponse` (`wire/`) is one. */
export interface PassedResponse {
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  writeHead(status: number, headers: Record<string, string | number>): unknown;
  flushHeaders(): void;
  write(chunk: Buffer, taken?: () => void): boolean;
  end(chunk?: Buffer): unknown;
  on(event: 'close', listener: () => void): unknown;
  readonly writableLength: number;
  setTimeout(ms: number, late: () => void): unknown;
  destroy(): unknown;
}

export interface Passing {
  readonly request: PassedRequest;
  readonly res: PassedResponse;
  /** Undefined: none. */
  readonly body: string | Buffer | undefined;
  /** Where the request came from. */
  readonly address: string | undefined;
  /** Whose request it is: one of them takes no more than its part of the way to another hub. */
  readonly owner: string;
  /**
   * Called when nothing was answered: `sent` says whether the other hub may have had the request. Not called when the
   * client left.
   */
  readonly failed: (sent: boolean) => void;
}

/** Why a request is not passed on now. */
export type NotPassed = 'unreachable' | 'full';

/** Sends a request on to another hub, and its answer back as it comes. Returns why it cannot, if so. */
export function passOn(peer: Peer, passing: Passing, passes: Passes, open: Set<Passed>): NotPassed | undefined {
  const { request, res, body, address, owner } = passing;
  const way = peer.way(request.method === 'GET');
  if (!way) return 'unreachable';
  if (way.isFull(owner)) return 'full';
  // Nothing would tell that its client left: that was before.
  if (res.destroyed) return undefined;
  const pass = passes.make(request, { hub: peer.id, at: peer.at }, address);
  const passed = new Passed(peer, way, passing, open);
  way.pool.dispatch(
    {
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      headers: [...headersOf(request), passHeader, pass],
      body: body ?? null,
    },
    passed,
  );
  return undefined;
}

/** Of one hop alone (RFC 9110 §7.6.1), or made again. */
const ownOfHop: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'strict-transport-security',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'date',
  'x-content-type-options',
]);

function headersOf({ headers }: PassedRequest): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || ownOfHop.has(name) || name === passHeader ? [] : [name, String(value)],
  );
}

/** A request that is at another hub: undici's handler of its answer. */
export class Passed implements Dispatcher.DispatchHandler {
  readonly #peer: Peer;
  readonly #way: Way;
  readonly #passing: Passing;
  readonly #open: Set<Passed>;
  #controller: Dispatcher.DispatchController | undefined;
  /** Some of the request may have left this hub. */
  #isSent = false;
  #isOver = false;
  /** Runs while the client takes nothing. */
  #unread: NodeJS.Timeout | undefined;
  #isStream = false;
  /** What came of a short answer. */
  #whole: Buffer[] | undefined;

  constructor(peer: Peer, way: Way, passing: Passing, open: Set<Passed>) {
    this.#peer = peer;
    this.#way = way;
    this.#passing = passing;
    this.#open = open;
    way.add(passing.owner, 1);
    open.add(this);
    passing.res.on('close', () => this.#left());
  }

  /** Ends a stream, as a hub that stops does; what is a call goes on. */
  endStream(): void {
    if (!this.#isStream) return;
    this.#passing.res.end();
    this.#left();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) return controller.abort(clientLeft);
    this.#isSent = true;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, string | string[]>): void {
    if (status < 200 || this.#isOver) return;
    const { res, request } = this.#passing;
    const length = Number(headers['content-length'] ?? Infinity);
    const sent: Record<string, string | number> = {};
    for (const [name, value] of Object.entries(headers)) if (!ownOfHop.has(name)) sent[name] = String(value);
    if (length < Infinity) sent['content-length'] = length;
    res.writeHead(status, sent);
    if (length <= replicaLimits.wholeBytes) this.#whole = [];
    else res.flushHeaders();
    this.#isStream = request.method === 'GET';
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#whole) return void this.#whole.push(chunk);
    let isTaken = false;
    const taken = (): void => {
      isTaken = true;
      clearTimeout(this.#unread);
      this.#unread = undefined;
      if (controller.paused) controller.resume();
    };
    const { res } = this.#passing;
    if (res.write(chunk, taken) || isTaken) return;
    controller.pause();
    this.#unread ??= setTimeout(() => res.destroy(), replicaLimits.unreadMs).unref();
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#end();
    const { res } = this.#passing;
    res.end(this.#whole && Buffer.concat(this.#whole));
    if (res.writableLength > 0) res.setTimeout(replicaLimits.unreadMs, () => res.destroy());
  }

  onResponseError(): void {
    if (this.#isOver) return;
    this.#end();
    const { res, failed } = this.#passing;
    const looked = this.#peer.failed();
    // What could not be sent is tried again, once it is known whether that hub is still there.
    if (!this.#isSent)
      return void looked.then(() => {
        if (!res.destroyed) failed(false);
      });
    if (!res.headersSent) return failed(true);
    // A client of a stream comes back; of an answer that broke off in the middle nothing can be said.
    if (this.#isStream) res.end();
    else res.destroy();
  }

  #left(): void {
    if (this.#isOver) return;
    this.#end();
    this.#controller?.abort(clientLeft);
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#unread);
    this.#way.add(this.#passing.owner, -1);
    this.#open.delete(this);
  }
}

const clientLeft = new Error('The client left.');
