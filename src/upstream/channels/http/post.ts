import type { BusyMap } from '../../../core/busy-map.ts';
import { asLost, HubError } from '../../../core/errors.ts';
import type { LargeAnswer } from '../../../core/protocol/large-answer.ts';
import { isObject, rpcErrors, type RpcMessage } from '../../../core/protocol/rpc.ts';
import { header, notAnAnswer, type ResponseHeaders, statusError } from '../http-errors.ts';
import { upstreamLimits } from '../../limits.ts';
import { type BodyKind, HttpExchange } from './exchange.ts';
import type { HttpSession } from './session.ts';
import { LargeMessage } from '../large-message.ts';
import { eachLargeMessage, eachMessage } from '../messages.ts';
import { oversizeError, type TooLong } from '../message-buffer.ts';

/**
 * A message to be sent. `headers`, names and values in turn, are its own: those of the stateless revision, and those of
 * its trace.
 */
export interface HttpMessage {
  readonly text: string;
  readonly requestId: number | undefined;
  readonly headers: readonly string[] | undefined;
}

/** Requests that wait for their answer, by id. */
export type Waiting = BusyMap<number, HttpPost>;

/**
 * One message sent by POST, until its answer has come: as JSON, or over an event stream that also carries what belongs
 * to it (MCP, Transports, Sending Messages). A stream that is cut is asked for again from its last event.
 */
export class HttpPost extends HttpExchange {
  readonly #session: HttpSession;
  readonly #waiting: Waiting;
  readonly #requestId: number | undefined;
  readonly #stateless: boolean;
  readonly #sentWith: string | undefined;
  #chars: number;
  #body = '';
  #failure: HubError | undefined;
  /** The answer came, and was too long. */
  #oversize: HubError | undefined;
  #sessionLost = false;
  #answered = false;
  #streaming = false;
  #resumeFrom: string | undefined;
  #resumes = 0;
  #triesLeft: number = upstreamLimits.resumeTries;
  #waitMs: number = upstreamLimits.resumeWaitMs;
  #timer: NodeJS.Timeout | undefined;

  constructor(session: HttpSession, waiting: Waiting, { text, requestId, headers }: HttpMessage) {
    super(session.remote, session.maxMessageBytes);
    this.#session = session;
    this.#waiting = waiting;
    this.#requestId = requestId;
    this.#stateless = headers?.some((name, i) => i % 2 === 0 && name.startsWith('mcp-')) ?? false;
    this.#sentWith = session.id;
    this.#chars = text.length;
    session.backlog += text.length;
    if (requestId !== undefined) waiting.set(requestId, this);
    this.start({ method: 'POST', headers: session.postHeaders(headers), body: text });
  }

  /** The caller does not wait for it any more. */
  abandon(): void {
    this.#settle();
    clearTimeout(this.#timer);
    this.abort();
  }

  protected started(status: number, headers: ResponseHeaders): BodyKind {
    this.#sent();
    if (status >= 300) return { textBytes: upstreamLimits.errorBodyBytes };
    if (!this.#stateless) this.#session.learnId(headers, this.#sentWith);
    const type = header(headers, 'content-type')?.toLowerCase() ?? '';
    if (type.startsWith('text/event-stream')) {
      this.#streaming = true;
      return 'events';
    }
    return status === 202 || status === 204 ? 'nothing' : { textBytes: this.#session.maxMessageBytes };
  }

  /** Takes a message of this response; called by `eachMessage`. */
  message(message: RpcMessage, text: string): void {
    if (this.#session.closed) return;
    if (this.#requestId !== undefined && message.id === this.#requestId && message.method === undefined) {
      this.#answered = true;
      this.#settle();
    }
    this.#session.events.message(message, text, this.#requestId);
  }

  /** Takes a large answer of this response; called by `eachLargeMessage`. */
  large(answer: LargeAnswer): void {
    if (this.#session.closed) return;
    if (answer.id === this.#requestId) {
      this.#answered = true;
      this.#settle();
    }
    this.#session.events.large(answer);
  }

  event(_type: string, data: string): void {
    this.#triesLeft = upstreamLimits.resumeTries;
    // The first event of a stream may be empty: it only gives an id to go on from (SEP-1699).
    if (data === '') return;
    if (!eachMessage(data, this)) this.#session.log.debug(`An event is not JSON: ${data.slice(0, 200)}`);
    this.#linger();
  }

  largeEvent(_type: string, data: LargeMessage): void {
    this.#triesLeft = upstreamLimits.resumeTries;
    if (!eachLargeMessage(data, this)) this.#session.log.debug(`An event is not JSON: ${data.head.slice(0, 200)}`);
    this.#linger();
  }

  #linger(): void {
    // The server should end the stream with its answer; one that does not must not keep the connection.
    if (this.#answered) this.#timer ??= setTimeout(() => this.abort(), upstreamLimits.lingerMs).unref();
  }

  retry(ms: number): void {
    this.#waitMs = Math.min(ms, upstreamLimits.backOffMaxMs);
  }

  tooLong(event: TooLong): void {
    const { name, maxMessageBytes } = this.#session;
    const error = oversizeError(name, event, maxMessageBytes);
    if (this.#requestId === undefined || /^\s*\{[^{[]*"method"\s*:/.test(event.head)) {
      this.#session.log.warn(`A message was left out: ${error.message}`);
    } else {
      this.#failure = this.#oversize = error;
    }
  }

  protected text(body: string | TooLong | LargeMessage): void {
    if (body instanceof LargeMessage) {
      if (!eachLargeMessage(body, this)) this.#body = body.head;
    } else if (this.status >= 300) this.#refused(typeof body === 'string' ? body : body.head);
    else if (typeof body !== 'string')
      this.#failure = oversizeError(this.#session.name, body, this.#session.maxMessageBytes);
    else if (!eachMessage(body, this)) this.#body = body.slice(0, 2_000);
  }

  protected ended(error: HubError | undefined): void {
    clearTimeout(this.#timer);
    this.#sent();
    if (this.#answered || this.#session.closed) return;
    const failure = this.#failure ?? error;
    if (this.#requestId === undefined) {
      if (failure) this.#session.log.debug(`A notification was not taken: ${failure.message}`);
    } else if (!this.#failure && this.#streaming && this.#canResume()) {
      this.#timer = setTimeout(() => this.#resume(), this.#waitMs);
    } else {
      this.#settle();
      const why = failure ?? this.#noAnswer();
      // The server has begun to answer what it cannot be asked for again. A stream that ends in order may lack it too.
      const isLost = failure ? this.#resumes > 0 && failure !== this.#oversize : this.#streaming;
      const told = isLost ? asLost(why) : why;
      this.#session.events.failed(this.#requestId, told, this.#sessionLost);
    }
  }

  /** An error status. A JSON-RPC error addressed to this very request is its answer, whatever the status. */
  #refused(body: string): void {
    const code = errorCodeFor(this.#requestId, body);
    if (this.#resumes === 0 && isSessionLost(this.status, this.#sentWith, body, code)) this.#sessionLost = true;
    else if (code !== undefined && this.status !== 401 && this.status !== 403 && eachMessage(body, this)) return;
    this.#failure = statusError(this.remote.where, this.status, this.responseHeaders, body);
  }

  #canResume(): boolean {
    // Such a stream ends with its connection, whatever ids its events have (2026-07-28, Receiving Messages).
    if (this.#stateless) return false;
    this.#resumeFrom = this.lastEventId ?? this.#resumeFrom;
    return this.#resumeFrom !== undefined && this.#triesLeft-- > 0;
  }

  #resume(): void {
    this.#timer = undefined;
    this.#resumes++;
    this.start({ method: 'GET', headers: this.#session.streamHeaders(this.#resumeFrom), body: null });
  }

  #noAnswer(): HubError {
    if (this.#streaming) {
      return new HubError('upstream_failed', `${this.remote.where} ended the stream of its answer before the answer.`);
    }
    return notAnAnswer(this.remote.where, this.status, this.responseHeaders, this.#body);
  }

  /** No longer waiting in the backlog. */
  #sent(): void {
    this.#session.backlog -= this.#chars;
    this.#chars = 0;
  }

  #settle(): void {
    this.#sent();
    if (this.#requestId !== undefined) this.#waiting.delete(this.#requestId);
  }
}

/** The code of the JSON-RPC error that a body holds for this request. */
function errorCodeFor(requestId: number | undefined, body: string): unknown {
  if (requestId === undefined || !body.includes('"error"')) return undefined;
  try {
    const parsed: unknown = JSON.parse(body);
    return isObject(parsed) && parsed['id'] === requestId && isObject(parsed['error'])
      ? parsed['error']['code']
      : undefined;
  } catch {
    return undefined;
  }
}

/** What servers say with 400 when they were restarted, although 404 is what the specification asks for. */
const sessionWords =
  /no (such|valid) session|(session|initiali[sz]ed).{0,60}(not found|unknown|expired|invalid|terminated|closed|does not exist)|(unknown|invalid|expired|missing).{0,20}session|not initiali[sz]ed/i;

function isSessionLost(status: number, sentWith: string | undefined, body: string, rpcCode: unknown): boolean {
  if (sentWith === undefined) return false;
  if (status === 404) return rpcCode !== rpcErrors.methodNotFound;
  return status === 400 && sessionWords.test(body);
}
