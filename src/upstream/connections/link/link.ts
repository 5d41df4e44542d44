import { cleaned, errorText, HubError } from '../../../core/errors.ts';
import { saying } from '../../../core/sentences.ts';
import { statelessRevision } from '../../../core/protocol/stateless.ts';
import { type Answer, asHubError, type Ask, type Exchange, promised, type RequestTimeouts } from '../exchange.ts';
import type { Channel, Printed } from '../../channels/channel.ts';
import { SignInRequired } from '../../channels/credential.ts';
import { HttpAnswer } from '../../channels/http-errors.ts';
import { upstreamLimits } from '../../limits.ts';
import { ChangeStreams, Incoming } from './incoming.ts';
import { AbandonedRequests, type Pending, PendingTable } from './pending.ts';
import type { AskableCall, LinkOptions } from './options.ts';
import { RequestWriter, type ToSend, type Written } from './request-writer.ts';
import { ServerRequests } from './server-requests.ts';

/** The transports whose requests may have headers of their own. */
const withHeaders: ReadonlySet<string> = new Set(['streamable-http', 'auto', 'openapi']);

/**
 * One channel to a server, from opening to end, with the requests that are on their way through it, each of which ends
 * once: answered, failed, timed out or cancelled. What the server says is sorted by `Incoming`; what a connection does
 * when a link ends is `Connection`'s business.
 */
export class Link {
  readonly #options: LinkOptions;
  readonly #pending = new PendingTable((id, pending) => this.#expire(id, pending));
  readonly #channel: Channel;
  readonly #serverRequests: ServerRequests;
  readonly #streams = new ChangeStreams();
  readonly #givenUp: AbandonedRequests;
  /** Nothing says to which request a server request belongs. */
  readonly #isPipe: boolean;
  readonly #incoming: Incoming;
  readonly #writer: RequestWriter;
  #renewing: Promise<void> | undefined;
  #lastFailure: string | undefined;
  #isMet = false;
  #open = true;

  /** Throws what `options.open` throws. */
  constructor(options: LinkOptions) {
    this.#options = options;
    const { server, log, home } = options;
    const hasHeaders = withHeaders.has(server.transport.type);
    this.#isPipe = server.transport.type === 'stdio' || server.transport.type === 'sse';
    this.#givenUp = new AbandonedRequests(this.#isPipe ? Infinity : upstreamLimits.abandonedMs);
    this.#writer = new RequestWriter(options.envelope, hasHeaders);
    this.#serverRequests = new ServerRequests({
      server: server.name,
      pending: this.#pending,
      givenUp: this.#givenUp,
      requestHistory: options.requestHistory,
      log,
      write: (text) => this.#write(text),
      home,
      ownStream: server.transport.type === 'streamable-http',
    });
    this.#incoming = new Incoming(options, {
      pending: this.#pending,
      givenUp: this.#givenUp,
      serverRequests: this.#serverRequests,
      streams: this.#streams,
      era: this.#writer,
      sendAfter: (done, id, pending) => void this.#sendAfter(done, id, pending),
    });
    this.#channel = options.open(options.server, {
      message: (message, text, relatedTo) => {
        try {
          return !this.#open || this.#incoming.received(message, text, relatedTo);
        } catch (error) {
          this.#notHandled(error);
          return true;
        }
      },
      large: (answer) => {
        try {
          return !this.#open || this.#incoming.large(answer);
        } catch (error) {
          this.#notHandled(error);
          return true;
        }
      },
      failed: (id, error, sessionLost) => this.#safely(() => this.#requestFailed(id, this.#clean(error), sessionLost)),
      progress: (progress) => this.#safely(() => this.#open && options.progress(progress)),
      closed: (error) => this.#safely(() => this.#closed(this.#clean(error))),
    });
  }

  /** As the channel's. */
  get launched(): Promise<boolean> | undefined {
    return this.#channel.launched;
  }

  /** As the channel's; undefined where it has none. */
  get printed(): Printed | undefined {
    return this.#channel.printed?.();
  }

  get inFlight(): number {
    return this.#pending.size;
  }

  /** As that of the requests on their way. */
  get lastEndAt(): number {
    return this.#pending.lastEndAt;
  }

  /** Whether an answer with this id would be taken for that of a request made before. */
  isTaken(id: number): boolean {
    return this.#pending.get(id) !== undefined || this.#givenUp.has(id) || this.#streams.has(id);
  }

  /** Whether requests were given up that the server may still be at work on. */
  get hasGivenUp(): boolean {
    return !this.#givenUp.isEmpty || this.#channel.isContested === true;
  }

  /** Whether the server, which has asked clients before, may be at work, and would not say for which call it asks. */
  get isCrowded(): boolean {
    const isAtWork = this.#pending.size > 0 || this.hasGivenUp;
    return isAtWork && this.#isPipe && !this.isStateless && this.#options.requestHistory.hasAsked;
  }

  /** As that of the requests on their way. */
  get heldSince(): number | undefined {
    return this.#pending.heldSince;
  }

  /**
   * Whether a question in this call could not be told from one for a call that another client gave up, for as long as
   * that counts (decisions/0035); or, of a client without a session, from one for a call that is on its way
   * (decisions/0094).
   */
  isContested({ called, asker }: AskableCall): boolean {
    const { requestHistory } = this.#options;
    if (!this.#isPipe || this.isStateless) return false;
    const isGivenUp = this.#channel.isContested === true || this.#givenUp.hasOthers(asker);
    if (isGivenUp && requestHistory.mayAsk(called)) return true;
    if (asker !== undefined || !this.isCrowded) return false;
    // One that waits for its client may do so for minutes; any other is over soon, as a rule.
    if (this.#serverRequests.holdsCalls) return requestHistory.mayAsk(called);
    return (this.#pending.hasCalls || this.hasGivenUp) && requestHistory.hasAskedIn(called);
  }

  /** True once the negotiation found a server without sessions. */
  get isStateless(): boolean {
    return this.#writer.isStateless;
  }

  /** False once the channel has closed, or `close` was called. */
  get isOpen(): boolean {
    return this.#open;
  }

  /** Whether requests carry headers that repeat parts of them. */
  get sendsHeaders(): boolean {
    return this.#writer.isStateless && this.#writer.hasHeaders;
  }

  /** The negotiation is done, with this protocol version. */
  ready(protocolVersion: string): void {
    this.#isMet = true;
    this.#writer.isStateless = protocolVersion === statelessRevision;
    this.#channel.ready(protocolVersion);
  }

  /** Forgets what the transport learned of a session, so that the protocol can be negotiated again. */
  forgetSession(): void {
    this.#channel.forgetSession();
  }

  /**
   * Sends a request; `params` is JSON text. Never throws: a failure comes through the exchange, possibly before this
   * returns.
   */
  send(id: number, request: ToSend, exchange: Exchange, timeouts: RequestTimeouts): void {
    const pending = this.#admit(id, this.#writer.write(id, request), exchange, timeouts);
    if (!pending) return;
    // A request sent while the session is being renewed would be refused for want of one.
    if (this.#renewing) void this.#sendAfter(this.#renewing, id, pending);
    else this.#transmit(id, pending);
  }

  /** Asks something of the hub's own. */
  ask: Ask = (method, params, timeoutMs) => this.start(method, params, timeoutMs).answer;

  /** The same, of which the answer may become uninteresting: `drop` takes it back without telling the server. */
  start(method: string, params: string | undefined, timeoutMs: number): { answer: Promise<Answer>; drop(): void } {
    const id = this.#options.takeId();
    const answer = promised((exchange) => {
      const timeouts = { timeoutMs, resetOnProgress: false, maxTotalMs: undefined };
      const pending = this.#admit(id, this.#writer.write(id, { method, params, facts: {} }), exchange, timeouts);
      if (!pending) return;
      // What renews the session must not wait for its renewal.
      if (this.#renewing) pending.resent = true;
      this.#transmit(id, pending);
    });
    const drop = (): void => {
      const pending = this.#pending.take(id);
      if (!pending) return;
      this.#channel.abandon(id);
      this.#givenUp.add(id, pending.exchange);
    };
    return { answer, drop };
  }

  /**
   * Opens a stream of changes. Its notifications go to the exchange, and its end, in whatever way; the function
   * returned leaves it, and nothing comes any more.
   */
  listen(params: string, exchange: Exchange): () => void {
    const id = this.#options.takeId();
    const { text, headers } = this.#writer.write(id, { method: 'subscriptions/listen', params, facts: {} });
    this.#streams.add(id, exchange);
    try {
      this.#channel.send(text, id, headers?.());
    } catch (error) {
      this.#streams.remove(id);
      exchange.failed(asHubError(error, 'The request could not be sent'));
    }
    return () => {
      if (!this.#streams.remove(id)) return;
      this.#tellCancelled(id, 'not needed any more');
      this.#givenUp.add(id, undefined);
    };
  }

  /** Sends a notification; `params` is JSON text. Lost when the channel is closed or full. */
  notify(method: string, params: string | undefined): void {
    const tail = params === undefined ? '' : `,"params":${params}`;
    this.#write(`{"jsonrpc":"2.0","method":${JSON.stringify(method)}${tail}}`);
  }

  /**
   * The asker no longer waits: the server is told, and whatever it still answers is dropped. The exchange hears nothing
   * more.
   */
  cancel(id: number, reason: string): void {
    const pending = this.#pending.take(id);
    if (pending) this.#giveUp(id, pending, reason);
  }

  /** Fails everything in flight with `error`, then closes the channel and waits for its end. */
  async close(error: HubError): Promise<void> {
    this.#open = false;
    this.#streams.clear();
    this.#pending.failAll(error);
    this.#forgetServerRequests();
    await this.#channel.close();
  }

  /** Takes a request in; undefined when it had to be refused, which its exchange has heard. */
  #admit(id: number, written: Written, exchange: Exchange, timeouts: RequestTimeouts): Pending | undefined {
    const name = `Server "${this.#options.server.name}"`;
    if (!this.#open) {
      exchange.failed(new HubError('upstream_unavailable', `${name} is not connected.`));
      return undefined;
    }
    if (this.#pending.size >= upstreamLimits.upstreamInFlight) {
      const error = new HubError('upstream_unavailable', `${name} has too many calls in flight.`, {
        retryAfterMs: 1_000,
      });
      exchange.failed(error);
      return undefined;
    }
    return this.#pending.add(id, exchange, written, timeouts);
  }

  /**
   * Sends what still waits for its answer: it may have been cancelled, or have failed with the channel, before it was
   * its turn.
   */
  #transmit(id: number, pending: Pending): void {
    if (this.#pending.get(id) !== pending) return;
    pending.wasSent = true;
    try {
      this.#channel.send(pending.text, id, pending.headers?.());
    } catch (error) {
      this.#pending.take(id)?.exchange.failed(asHubError(error, 'The request could not be sent'));
    }
  }

  /** What the server asked, and was working on, is over: it has ended, or has forgotten us. */
  #forgetServerRequests(): void {
    this.#givenUp.clear();
    this.#serverRequests.forget();
  }

  #write(text: string): void {
    if (!this.#open) return;
    try {
      this.#channel.send(text);
    } catch (error) {
      this.#options.log.debug('message not sent', { error: errorText(error) });
    }
  }

  #closed(error: HubError): void {
    if (!this.#open) return;
    this.#open = false;
    this.#options.lost(error);
    this.#pending.failAll(error);
    this.#forgetServerRequests();
  }

  /**
   * Runs what an event brings. Whatever is wrong with one message of one server must not end the process, which serves
   * all the others.
   */
  #safely(act: () => unknown): void {
    try {
      act();
    } catch (error) {
      this.#notHandled(error);
    }
  }

  #notHandled(error: unknown): void {
    this.#options.log.error('event could not be handled', { error: errorText(error) });
  }

  #clean(error: HubError): HubError {
    return cleaned(error, this.#options.clean);
  }

  #requestFailed(id: number, error: HubError, sessionLost: boolean): void {
    const pending = this.#pending.get(id);
    if (!this.#open) return;
    if (this.#writer.isStateless && error.cause instanceof HttpAnswer && otherEra.has(error.cause.status))
      this.#options.doubted();
    if (!pending) return this.#streams.take(id)?.failed(error);
    if (sessionLost && !pending.resent) {
      // The server forgot our session: do the handshake again and repeat the request, which the server refused unread.
      pending.resent = true;
      pending.wasSent = false;
      void this.#sendAfter((this.#renewing ??= this.#renew()), id, pending);
      return;
    }
    this.#tellFailure(error);
    this.#pending.take(id)?.exchange.failed(error);
    // Through a pipe only an answer fails that is too large; elsewhere a server may not know that its answer, or the
    // request, got lost.
    if (this.#options.server.transport.type === 'stdio') this.#serverRequests.ended(id);
    else this.#abandon(id, pending);
    // Nothing sent through this channel will be answered before a user has signed in.
    if (error.cause instanceof SignInRequired) this.#options.lost(error);
  }

  /**
   * The caller is told less than the log. The same reason repeated would hide other messages; why the handshake with a
   * server fails is logged by its connection.
   */
  #tellFailure({ message }: HubError): void {
    const level = this.#isMet && message !== this.#lastFailure ? 'warn' : 'debug';
    this.#options.log[level]('request failed', { error: message });
    this.#lastFailure = message;
  }

  async #sendAfter(renewing: Promise<void>, id: number, pending: Pending): Promise<void> {
    try {
      await renewing;
      this.#transmit(id, pending);
    } catch (error) {
      this.#pending.take(id)?.exchange.failed(asHubError(error, 'The session could not be renewed'));
    }
  }

  async #renew(): Promise<void> {
    try {
      this.#channel.forgetSession();
      this.#forgetServerRequests();
      await this.#options.renewSession();
    } finally {
      this.#renewing = undefined;
    }
  }

  #expire(id: number, pending: Pending): void {
    this.#giveUp(id, pending, 'timed out');
    const seconds = Math.round((performance.now() - pending.startedAt) / 100) / 10;
    const values = { server: this.#options.server.name, seconds: String(seconds) };
    pending.exchange.failed(saying('timeout', 'server_late', values));
  }

  #giveUp(id: number, pending: Pending, reason: string): void {
    this.#tellCancelled(id, reason);
    this.#abandon(id, pending);
  }

  /** Nothing waits for it any more, but the server may not have stopped. */
  #abandon(id: number, { exchange }: Pending): void {
    this.#givenUp.add(id, exchange);
    this.#serverRequests.ended(id);
  }

  /** Over HTTP a request of the stateless revision is cancelled by leaving its response (2026-07-28, Cancellation). */
  #tellCancelled(id: number, reason: string): void {
    if (!this.sendsHeaders) this.notify('notifications/cancelled', JSON.stringify({ requestId: id, reason }));
    this.#channel.abandon(id);
  }
}

/** What an HTTP server of the session era says to a request without a session, and one that is not there any more. */
const otherEra = new Set([400, 404, 405, 406]);
