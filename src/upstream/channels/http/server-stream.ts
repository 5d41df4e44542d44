import type { HubError } from '../../../core/errors.ts';
import { header } from '../http-errors.ts';
import type { ResponseHeaders } from '../http-errors.ts';
import { upstreamLimits } from '../../limits.ts';
import { HttpExchange } from './exchange.ts';
import type { BodyKind } from './exchange.ts';
import type { HttpSession } from './session.ts';
import type { LargeMessage } from '../large-message.ts';
import { eachLargeMessage, eachMessage } from '../messages.ts';
import type { TooLong } from '../message-buffer.ts';

/**
 * The stream for what a server says unasked (MCP, Transports, Listening for Messages). A server that has none says 405;
 * one that was cut is opened again.
 */
export class ServerStream extends HttpExchange {
  readonly #session: HttpSession;
  #there = true;
  #waitMs: number = upstreamLimits.resumeWaitMs;
  #failures = 0;
  #resumeFrom: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(session: HttpSession) {
    super(session.remote, session.maxMessageBytes);
    this.#session = session;
    this.#open();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.abort();
  }

  protected started(status: number, headers: ResponseHeaders): BodyKind {
    const isStream = header(headers, 'content-type')?.toLowerCase().startsWith('text/event-stream') ?? false;
    if (status < 300 && isStream) return 'events';
    // Too many requests and faults of the server pass; everything else means that there is no such stream.
    this.#there = status === 429 || status >= 500;
    return 'nothing';
  }

  event(_type: string, data: string): void {
    this.#failures = 0;
    if (data === '' || this.#session.closed) return;
    if (!eachMessage(data, this.#session.events))
      this.#session.log.debug(`An event is not JSON: ${data.slice(0, 200)}`);
  }

  largeEvent(_type: string, data: LargeMessage): void {
    this.#failures = 0;
    if (this.#session.closed) return;
    if (!eachLargeMessage(data, this.#session.events))
      this.#session.log.debug(`An event is not JSON: ${data.head.slice(0, 200)}`);
  }

  retry(ms: number): void {
    this.#waitMs = Math.min(ms, upstreamLimits.backOffMaxMs);
  }

  tooLong(event: TooLong): void {
    this.#session.log.warn(
      `Server "${this.#session.name}" sent a message of ${event.bytes} bytes, which was left out.`,
    );
  }

  protected text(): void {}

  protected ended(error: HubError | undefined): void {
    if (!this.#there) return;
    this.#resumeFrom = this.lastEventId ?? this.#resumeFrom;
    const waitMs = Math.min(this.#waitMs * 2 ** this.#failures, upstreamLimits.backOffMaxMs);
    this.#failures = Math.min(this.#failures + 1, 16);
    this.#session.log.debug(`The stream of server messages ended; opening it again in ${waitMs} ms.`, {
      reason: error?.message,
    });
    this.#timer = setTimeout(() => this.#open(), waitMs).unref();
  }

  #open(): void {
    this.start({ method: 'GET', headers: this.#session.streamHeaders(this.#resumeFrom), body: null });
  }
}
