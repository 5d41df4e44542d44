import { HubError } from '../../../core/errors.ts';
import { header, notAnAnswer, statusError } from '../http-errors.ts';
import type { ResponseHeaders } from '../http-errors.ts';
import { upstreamLimits } from '../../limits.ts';
import { HttpExchange } from './exchange.ts';
import type { BodyKind } from './exchange.ts';
import type { LargeMessage } from '../large-message.ts';
import type { TooLong } from '../message-buffer.ts';
import type { Remote } from './remote.ts';

/** Told what the stream of a legacy server brings. */
export interface StreamSink {
  endpoint(path: string): void;
  /** True: it is an answer that was waited for. */
  data(text: string): boolean;
  largeData(message: LargeMessage): boolean;
  tooLong(event: TooLong): void;
  ended(error: HubError): void;
}

/** The one stream of a legacy server. An endpoint outside the server's origin ends it. */
export class LegacyStream extends HttpExchange {
  readonly #sink: StreamSink;
  #failure: HubError | undefined;

  constructor(target: Remote, maxEventBytes: number, sink: StreamSink) {
    super(target, maxEventBytes);
    this.#sink = sink;
  }

  open(headers: readonly string[]): void {
    this.start({ method: 'GET', headers: ['accept', 'text/event-stream', ...headers], body: null });
  }

  protected started(status: number, headers: ResponseHeaders): BodyKind {
    const isStream = header(headers, 'content-type')?.toLowerCase().startsWith('text/event-stream') ?? false;
    return status < 300 && isStream ? 'events' : { textBytes: upstreamLimits.errorBodyBytes };
  }

  protected text(body: string | TooLong | LargeMessage): void {
    const fail = this.status < 300 ? notAnAnswer : statusError;
    this.#failure = fail(
      this.remote.where,
      this.status,
      this.responseHeaders,
      typeof body === 'string' ? body : body.head,
    );
  }

  largeEvent(type: string, data: LargeMessage): void {
    if (type !== 'endpoint' && this.#sink.largeData(data)) this.answered();
  }

  event(type: string, data: string): void {
    if (type !== 'endpoint') {
      if (this.#sink.data(data)) this.answered();
      return;
    }
    const { origin } = this.remote.url;
    const base = origin + this.remote.path;
    const url = URL.canParse(data, base) ? new URL(data, base) : undefined;
    if (url?.origin === origin) {
      this.#sink.endpoint(url.pathname + url.search);
      return;
    }
    // The operator's credentials are sent only to the origin that the operator gave.
    const asked = url ? `at ${url.origin}, another origin than its own` : 'at something that is no address';
    this.#sink.ended(new HubError('upstream_failed', `${this.remote.where} wants messages ${asked}; that is refused.`));
  }

  retry(): void {}

  tooLong(event: TooLong): void {
    this.#sink.tooLong(event);
  }

  protected ended(error: HubError | undefined): void {
    const ended = new HubError('upstream_unavailable', `${this.remote.where} ended the event stream.`);
    this.#sink.ended(this.#failure ?? error ?? ended);
  }
}

/** One message on its way to a legacy server: its response says no more than whether it was taken. */
export class LegacyPost extends HttpExchange {
  readonly #done: (error: HubError | undefined, status: number) => void;
  #failure: HubError | undefined;

  constructor(to: Remote, done: (error: HubError | undefined, status: number) => void) {
    super(to, 0);
    this.#done = done;
  }

  send(headers: string[], body: string): void {
    this.start({ method: 'POST', headers, body });
  }

  protected started(status: number): BodyKind {
    return status < 300 ? 'nothing' : { textBytes: upstreamLimits.errorBodyBytes };
  }

  protected text(body: string | TooLong | LargeMessage): void {
    const said = typeof body === 'string' ? body : body.head;
    this.#failure = statusError(this.remote.where, this.status, this.responseHeaders, said);
  }

  protected ended(error: HubError | undefined): void {
    this.#done(this.#failure ?? error, this.status);
  }

  event(): void {}
  largeEvent(): void {}
  retry(): void {}
  tooLong(): void {}
}
