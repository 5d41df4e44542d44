import type { Dispatcher } from 'undici';
import { asLost, HubError } from '../../../core/errors.ts';
import { largeWork } from '../../../core/turn-budget.ts';
import { upstreamLimits } from '../../limits.ts';
import { ThrottledReader } from '../throttled-reader.ts';
import type { Credential } from '../credential.ts';
import { connectionError, header } from '../http-errors.ts';
import type { ResponseHeaders } from '../http-errors.ts';
import { LargeMessage } from '../large-message.ts';
import { MessageBuffer } from '../message-buffer.ts';
import type { LargeMessageReader, TooLong } from '../message-buffer.ts';
import { redirectPath } from './remote.ts';
import type { Remote } from './remote.ts';
import { SseParser } from './sse-parser.ts';
import type { SseSink } from './sse-parser.ts';

/** How a response's body is to be read: as an event stream, as one text of at most so many bytes, or not at all. */
export type BodyKind = 'events' | { readonly textBytes: number } | 'nothing';

/** One HTTP request to be made. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers: string[];
  readonly body: string | null;
}

const abandoned = new HubError('cancelled', 'No caller waits for this any more.');
/** Lines that an event has at most, as servers write them: its type, its id, its data, and the empty one. */
const eventLines = 4;

/**
 * One request to a remote server and its response, without a promise, a stream or an abort signal: it is undici's
 * handler itself, because this is the hot path of every call. Subclasses say how the body is read and get it; `ended`
 * comes once per `start`, last, unless `abort` was called. Redirects within the origin are followed here (307 and 308;
 * for GET 301 and 302 too).
 */
export abstract class HttpExchange implements Dispatcher.DispatchHandler, SseSink {
  protected readonly remote: Remote;
  protected status = 0;
  protected responseHeaders: ResponseHeaders = {};
  readonly #maxEventBytes: number;
  #request: HttpRequest | undefined;
  /** Undefined until the request is written to a connection. */
  #controller: Dispatcher.DispatchController | undefined;
  #reading: SseParser | MessageBuffer | undefined;
  #throttled: ThrottledReader | undefined;
  /** Lines of answers that were waited for. */
  #answerLines = 0;
  #unread = 0;
  #redirects = 0;
  #redirected = false;
  #aborted = false;
  #dispatching = false;
  /** The value of `authorization` the request was last sent with, and whether that was a second try. */
  #credential: string | undefined;
  #isRenewed = false;

  constructor(remote: Remote, maxEventBytes: number) {
    this.remote = remote;
    this.#maxEventBytes = maxEventBytes;
  }

  /** The response has begun. Throws HubError to end the exchange with it. */
  protected abstract started(status: number, headers: ResponseHeaders): BodyKind;
  /** The body, when it was asked for as text. */
  protected abstract text(body: string | TooLong | LargeMessage): void;
  /** The response is complete, or there is none or only a part because of `error`. */
  protected abstract ended(error: HubError | undefined): void;
  abstract event(type: string, data: string): void;
  abstract largeEvent(type: string, data: LargeMessage): void;
  abstract retry(ms: number): void;
  abstract tooLong(event: TooLong): void;

  /** The id of the last event this exchange has read in whole. */
  protected get lastEventId(): string | undefined {
    return this.#reading instanceof MessageBuffer ? undefined : this.#reading?.lastEventId;
  }

  /** The event just read is an answer that was waited for: many of those are no flood. */
  protected answered(): void {
    const lines = this.#reading instanceof MessageBuffer ? 0 : (this.#reading?.lines ?? 0);
    // Never more than there were: short answers must not allow a flood later.
    this.#answerLines = Math.min(this.#answerLines + eventLines, lines);
  }

  /** Nothing is reported from here on. */
  abort(): void {
    this.#aborted = true;
    this.#controller?.abort(abandoned);
  }

  protected start(request: HttpRequest): void {
    this.#request = request;
    this.#reading = undefined;
    this.#throttled = undefined;
    this.#answerLines = 0;
    this.#controller = undefined;
    this.#unread = 0;
    this.status = 0;
    const pending = this.remote.credential?.pending();
    if (pending) void pending.then(() => this.#dispatch(request));
    else this.#dispatch(request);
  }

  #dispatch(request: HttpRequest): void {
    if (this.#aborted) return;
    this.#credential = this.remote.credential?.header();
    const { headers } = request;
    const all = this.#credential === undefined ? headers : [...headers, 'authorization', this.#credential];
    this.#dispatching = true;
    this.remote.pool.dispatch({ path: this.remote.path, ...request, headers: all }, this);
    this.#dispatching = false;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted) controller.abort(abandoned);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (status < 200 || this.#aborted) return;
    this.status = status;
    this.responseHeaders = headers;
    const { credential } = this.remote;
    if (credential) {
      if (wantsCredential(status, headers)) return this.#renew(credential, controller);
      credential.accepted();
      this.#isRenewed = false;
    }
    try {
      if (this.#isRedirect(status)) this.#redirect(status, headers);
      else this.#read(this.started(status, headers));
    } catch (error) {
      this.#finish(error instanceof HubError ? error : connectionError(this.remote.where, error), controller);
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#aborted) return;
    if (this.#reading?.isLarge && largeWork.isSpent) this.#rest(controller);
    if (this.#reading instanceof MessageBuffer) {
      this.#reading.add(chunk);
    } else if (this.#reading) {
      this.#readEvents(this.#reading, controller, chunk);
    } else {
      this.#unread += chunk.length;
      if (this.#unread > upstreamLimits.unreadBytes) {
        if (this.#redirected) this.#startAgain(controller);
        else this.#finish(undefined, controller);
      }
    }
  }

  /** A large answer has had its share of this turn. */
  #rest(controller: Dispatcher.DispatchController): void {
    if (controller.paused) return;
    controller.pause();
    largeWork.later(() => {
      if (!this.#aborted && this.#controller === controller) controller.resume();
    });
  }

  #unasked(events: SseParser): number {
    return events.lines - this.#answerLines;
  }

  /** An answer has a line or two; what has very many is looked after. */
  #readEvents(events: SseParser, controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#throttled === undefined) {
      events.push(chunk);
      if (this.#unasked(events) > upstreamLimits.floodPerSecond)
        this.#throttled = this.#throttledReader(events, controller);
    } else {
      this.#throttled.push(chunk);
    }
  }

  #throttledReader(events: SseParser, controller: Dispatcher.DispatchController): ThrottledReader {
    return new ThrottledReader({
      read: (bytes) => {
        if (!this.#aborted && this.#reading === events) events.push(bytes);
      },
      unasked: () => this.#unasked(events),
      pause: () => controller.pause(),
      resume: () => controller.resume(),
    });
  }

  onResponseEnd(): void {
    if (this.#aborted) return;
    this.#throttled?.end();
    if (this.#redirected) {
      this.#startAgain();
      return;
    }
    if (this.#reading instanceof MessageBuffer) this.text(this.#reading.take());
    this.#finish(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#aborted) return;
    this.#throttled?.end();
    const wasPosted = this.#controller !== undefined && this.#request?.method === 'POST';
    const failure = asLost(connectionError(this.remote.where, error), wasPosted);
    // A refusal inside `dispatch` must not be reported before `send` has returned.
    if (this.#dispatching) queueMicrotask(() => this.#finish(failure));
    else this.#finish(failure);
  }

  #read(kind: BodyKind): void {
    if (kind === 'events') this.#reading = new SseParser(this.#maxEventBytes, this);
    else if (kind !== 'nothing') this.#reading = new MessageBuffer(kind.textBytes, wholeBody);
  }

  #isRedirect(status: number): boolean {
    return status === 307 || status === 308 || ((status === 301 || status === 302) && this.#request?.method === 'GET');
  }

  #redirect(status: number, headers: ResponseHeaders): void {
    if (++this.#redirects > upstreamLimits.redirects) {
      throw new HubError('upstream_failed', `${this.remote.where} redirects too often.`, {
        reason: { code: 'redirected_in_a_circle', values: { where: this.remote.where } },
      });
    }
    this.remote.path = redirectPath(this.remote, status, header(headers, 'location'));
    this.#redirected = true;
  }

  #startAgain(controller?: Dispatcher.DispatchController): void {
    this.#redirected = false;
    if (controller) this.#drop(controller);
    if (this.#request) this.start(this.#request);
  }

  /**
   * The server refused the request unread. It is sent once more with a new credential, or fails with what it takes to
   * get one.
   */
  #renew(credential: Credential, controller: Dispatcher.DispatchController): void {
    const challenge = header(this.responseHeaders, 'www-authenticate');
    const refusal = { status: this.status, sent: this.#credential, challenge, again: this.#isRenewed };
    this.#drop(controller);
    this.#isRenewed = true;
    credential.refused(refusal).then(
      () => {
        if (!this.#aborted && this.#request) this.start(this.#request);
      },
      (error: unknown) => this.#finish(connectionError(this.remote.where, error)),
    );
  }

  #finish(error: HubError | undefined, controller?: Dispatcher.DispatchController): void {
    if (this.#aborted) return;
    if (controller) this.#drop(controller);
    this.ended(error);
  }

  /** Ends the HTTP request without hearing of it again; the exchange itself goes on. */
  #drop(controller: Dispatcher.DispatchController): void {
    this.#aborted = true;
    controller.abort(abandoned);
    this.#aborted = false;
  }
}

const wholeBody: LargeMessageReader = {
  enlarge(begin) {
    const message = new LargeMessage();
    message.add(begin);
    return message;
  },
};

/** 401, or 403 when the token is good but not for this (RFC 6750 §3.1). */
function wantsCredential(status: number, headers: ResponseHeaders): boolean {
  return (
    status === 401 || (status === 403 && (header(headers, 'www-authenticate') ?? '').includes('insufficient_scope'))
  );
}
