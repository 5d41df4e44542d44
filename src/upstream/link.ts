import type { ItemKind } from '../core/catalogue.ts';
import { errorText, HubError, reworded } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { isObject, type RpcMessage, rpcErrors } from '../core/protocol/rpc.ts';
import type { ServerSettings } from '../core/settings/types.ts';
import { metaKeys, type RequestFacts, statelessRevision } from '../core/protocol/stateless.ts';
import type { Channel, ChannelEvents } from './channel.ts';
import { SignInRequired } from './credential.ts';
import type { Envelope } from './eras/envelope.ts';
import { HttpAnswer } from './http-errors.ts';
import { type Answer, type Exchange, type Patience, type Pending, PendingTable, promised } from './pending.ts';
import { type Ask, oneLine, upstreamRevisions } from './protocol.ts';
import { type Home, ServerAsks } from './server-asks.ts';

/** A notification of a server that belongs to none of the requests it is working on: who may hear it is for the receiver to know. */
export type Unasked = (method: string, message: RpcMessage, text: string) => void;

export interface LinkOptions {
  readonly server: ServerSettings;
  /** Opens the channel of the server's transport. Throws HubError when its settings cannot work. */
  readonly open: (server: ServerSettings, events: ChannelEvents) => Channel;
  readonly log: Logger;
  /** Gives out request ids: never the same one twice, also over several links to one server. */
  readonly takeId: () => number;
  /** The channel died by itself. Everything in flight has failed with this error. */
  readonly lost: (error: HubError) => void;
  readonly listChanged: (kind: ItemKind) => void;
  /** The server said something that belongs to no request. Must be quick. */
  readonly unasked: Unasked;
  /** What requests of the stateless revision carry. */
  readonly envelope: Envelope;
  /** Something the server said does not go with the revision it was met in. */
  readonly doubted: () => void;
  /** Reads the server's tools anew: their headers are not what they were. */
  readonly refreshTools: () => Promise<void>;
  /** Introduces us to a server that forgot us; requests wait for it and are then repeated. */
  readonly renewSession: () => Promise<void>;
  /** Takes out of a server's last words what clients must not see. */
  readonly clean: (text: string) => string;
  /** Set where all requests are one client's: takes what the server asks while none of them is on its way. */
  readonly home?: Home | undefined;
}

/**
 * One channel to a server, from opening to end, with the requests that are on their way through it. It knows ids, deadlines and whose message is
 * whose; what a connection does when it ends is `Connection`'s business.
 */
export class Link {
  readonly #options: LinkOptions;
  readonly #pending = new PendingTable((id, pending) => this.#expire(id, pending));
  readonly #channel: Channel;
  readonly #asks: ServerAsks;
  /** Streams of changes that are open (2026-07-28, Subscriptions): requests that are meant to stay unanswered. */
  readonly #streams = new Map<number, Exchange>();
  readonly #hasHeaders: boolean;
  #stateless = false;
  #renewing: Promise<void> | undefined;
  #lastFailure: string | undefined;
  #open = true;

  /** Throws what `options.open` throws. */
  constructor(options: LinkOptions) {
    this.#options = options;
    const { server, log, home } = options;
    this.#hasHeaders = server.transport.type === 'streamable-http' || server.transport.type === 'auto';
    this.#asks = new ServerAsks({
      server: server.name,
      pending: this.#pending,
      log,
      write: (text) => this.#write(text),
      home,
      ownStream: server.transport.type === 'streamable-http',
    });
    this.#channel = options.open(options.server, {
      message: (message, text, relatedTo) => this.#safely(() => this.#received(message, text, relatedTo)),
      failed: (id, error, sessionLost) => this.#safely(() => this.#requestFailed(id, this.#clean(error), sessionLost)),
      closed: (error) => this.#safely(() => this.#closed(this.#clean(error))),
    });
  }

  get inFlight(): number {
    return this.#pending.size;
  }

  /** True once the server was met as one without sessions. */
  get isStateless(): boolean {
    return this.#stateless;
  }

  /** Whether requests carry headers that repeat parts of them. */
  get sendsHeaders(): boolean {
    return this.#stateless && this.#hasHeaders;
  }

  /** The server was met, in this protocol version. */
  ready(protocolVersion: string): void {
    this.#stateless = protocolVersion === statelessRevision;
    this.#channel.ready(protocolVersion);
  }

  /** Forgets what the transport learned of a session, so that the server can be met anew. */
  forgetSession(): void {
    this.#channel.forgetSession();
  }

  /** Sends a request; `params` is JSON text. Never throws: a failure comes through the exchange, possibly before this returns. */
  send(id: number, request: ToSend, exchange: Exchange, patience: Patience): void {
    const pending = this.#admit(id, this.#written(id, request), exchange, patience);
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
      const patience = { timeoutMs, resetOnProgress: false, maxTotalMs: undefined };
      const pending = this.#admit(id, this.#written(id, { method, params, facts: {} }), exchange, patience);
      if (!pending) return;
      // What renews the session must not wait for its renewal.
      if (this.#renewing) pending.resent = true;
      this.#transmit(id, pending);
    });
    const drop = (): void => {
      if (this.#pending.take(id)) this.#channel.abandon(id);
    };
    return { answer, drop };
  }

  /** Opens a stream of changes. Its notifications go to the exchange, and its end, in whatever way; the function returned leaves it, and nothing comes any more. */
  listen(params: string, exchange: Exchange): () => void {
    const id = this.#options.takeId();
    const { text, headers } = this.#written(id, { method: 'subscriptions/listen', params, facts: {} });
    this.#streams.set(id, exchange);
    try {
      this.#channel.send(text, id, headers?.());
    } catch (error) {
      this.#streams.delete(id);
      exchange.failed(asHubError(error, 'The request could not be sent'));
    }
    return () => {
      if (this.#streams.delete(id)) this.#tellCancelled(id, 'not needed any more');
    };
  }

  /** Sends a notification; `params` is JSON text. Lost when the channel is closed or full. */
  notify(method: string, params: string | undefined): void {
    const tail = params === undefined ? '' : `,"params":${params}`;
    this.#write(`{"jsonrpc":"2.0","method":${JSON.stringify(method)}${tail}}`);
  }

  /** The asker no longer waits: the server is told, and whatever it still answers is dropped. The exchange hears nothing more. */
  cancel(id: number, reason: string): void {
    const pending = this.#pending.take(id);
    if (pending) this.#giveUp(id, pending, reason);
  }

  /** Fails everything in flight with `error`, then closes the channel and waits for its end. */
  async close(error: HubError): Promise<void> {
    this.#open = false;
    this.#streams.clear();
    this.#pending.failAll(error);
    this.#asks.forget();
    await this.#channel.close();
  }

  /** Takes a request in; undefined when it had to be refused, which its exchange has heard. */
  #admit(id: number, written: Written, exchange: Exchange, patience: Patience): Pending | undefined {
    const name = `Server "${this.#options.server.name}"`;
    if (!this.#open) {
      exchange.failed(new HubError('upstream_unavailable', `${name} is not connected.`));
      return undefined;
    }
    if (this.#pending.size >= limits.upstreamInFlight) {
      const error = new HubError('upstream_unavailable', `${name} has too many calls in flight.`, {
        retryAfterMs: 1_000,
      });
      exchange.failed(error);
      return undefined;
    }
    return this.#pending.add(id, exchange, written, patience);
  }

  /** A request as it goes out. Only what asks for the era itself goes out in the newer way before it is known. */
  #written(id: number, { method, params, facts }: ToSend): Written {
    if (!this.#stateless && method !== 'server/discover')
      return { text: requestText(id, method, params), headers: undefined };
    const { envelope } = this.#options;
    const text = requestText(id, method, envelope.params(params, facts));
    if (!this.#hasHeaders) return { text, headers: undefined };
    const version = this.#stateless ? [] : ['mcp-protocol-version', statelessRevision];
    return { text, headers: () => [...version, ...envelope.headers(method, params, facts)] };
  }

  /** Sends what still waits for its answer: it may have been cancelled, or have failed with the channel, before it was its turn. */
  #transmit(id: number, pending: Pending): void {
    if (this.#pending.get(id) !== pending) return;
    try {
      this.#channel.send(pending.text, id, pending.headers?.());
    } catch (error) {
      this.#pending.take(id)?.exchange.failed(asHubError(error, 'The request could not be sent'));
    }
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
    this.#asks.forget();
  }

  /** Runs what an event brings. Whatever is wrong with one message of one server must not end the process, which serves all the others. */
  #safely(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#options.log.error('event could not be handled', { error: errorText(error) });
    }
  }

  #clean(error: HubError): HubError {
    return reworded(error, this.#options.clean(error.message));
  }

  #received(message: RpcMessage, text: string, relatedTo: number | undefined): void {
    if (!this.#open) return;
    const { id, method } = message;
    if (method === undefined) {
      this.#answered(message, text);
    } else if (typeof method !== 'string') {
      this.#options.log.debug('message that is not JSON-RPC');
    } else if (id === undefined) {
      this.#notified(method, message, text, relatedTo);
    } else {
      this.#asks.received(message, text, relatedTo);
    }
  }

  #answered(message: RpcMessage, text: string): void {
    if (message.error !== undefined && this.#isMisunderstood(message)) return;
    const pending = this.#pending.take(message.id);
    if (pending) {
      this.#asks.ended(message.id as number);
      pending.exchange.answered(message, text);
      return;
    }
    const stream = this.#takeStream(message.id);
    if (stream) return stream.answered(message, text);
    this.#asks.answeredLate(message.id);
    this.#options.log.debug('answer to nothing that waits', { id: JSON.stringify(message.id) });
  }

  /**
   * Looks at what the stateless revision alone says. True when the request goes out again, because the headers of its tool have changed (2026-07-28, Streamable HTTP,
   * Client behavior).
   */
  #isMisunderstood({ id, error }: RpcMessage): boolean {
    const code = isObject(error) ? error['code'] : undefined;
    if (code !== rpcErrors.headerMismatch && code !== rpcErrors.unsupportedProtocolVersion) return false;
    const pending = this.#pending.get(id);
    if (code === rpcErrors.unsupportedProtocolVersion) {
      if (this.#stateless || !speaksSessions(error)) this.#options.doubted();
    } else if (pending?.headers && !pending.resent) {
      pending.resent = true;
      void this.#sendAfter(this.#options.refreshTools(), id as number, pending);
      return true;
    }
    return false;
  }

  #takeStream(id: unknown): Exchange | undefined {
    const stream = this.#streams.get(Number(id));
    this.#streams.delete(Number(id));
    return stream;
  }

  #notified(method: string, message: RpcMessage, text: string, relatedTo: number | undefined): void {
    const kind = listChanges.get(method);
    if (kind) return this.#options.listChanged(kind);
    // On whatever stream they come, they speak of no request.
    if (forSubscribers.has(method)) return this.#options.unasked(method, message, text);
    if (method === 'notifications/cancelled') {
      // A server that ends a stream of changes may say so in this way too.
      const { requestId } = isObject(message.params) ? message.params : {};
      const stream = this.#takeStream(requestId);
      return stream ? stream.answered({}, '{}') : this.#asks.cancelled(message.params);
    }
    if (method === 'notifications/subscriptions/acknowledged')
      return this.#streams.get(relatedTo ?? subscriptionId(message))?.notified(method, message, text);
    const isProgress = method === 'notifications/progress' && isObject(message.params);
    const pending = this.#pending.get(isProgress ? message.params['progressToken'] : relatedTo);
    if (!pending) return this.#unattributed(method, message, text);
    if (isProgress) this.#pending.progressed(pending);
    pending.exchange.notified(method, message, text);
  }

  /**
   * What cannot be attributed to exactly one call reaches no caller (DESIGN, the wire). A log message over a pipe that says nothing of relations belongs to the
   * one call there is, if there is one; what nobody may hear goes to the server's log.
   */
  #unattributed(method: string, message: RpcMessage, text: string): void {
    if (method !== 'notifications/message') return this.#options.unasked(method, message, text);
    if (!isObject(message.params)) return;
    const only = this.#options.server.transport.type === 'streamable-http' ? undefined : this.#pending.only;
    if (only && this.#asks.isAlone(only)) return only.exchange.notified(method, message, text);
    this.#options.unasked(method, message, text);
    const { data, level } = message.params;
    const words = typeof data === 'string' ? data : JSON.stringify(data);
    const loud = level === 'error' || level === 'critical' || level === 'alert' || level === 'emergency';
    this.#options.log[loud ? 'error' : level === 'warning' ? 'warn' : 'debug'](words ?? '');
  }

  #requestFailed(id: number, error: HubError, sessionLost: boolean): void {
    const pending = this.#pending.get(id);
    if (!this.#open) return;
    if (this.#stateless && error.cause instanceof HttpAnswer && otherEra.has(error.cause.status))
      this.#options.doubted();
    if (!pending) return this.#takeStream(id)?.failed(error);
    if (sessionLost && !pending.resent) {
      // The server forgot our session: introduce ourselves again and repeat the request, which it refused unread.
      pending.resent = true;
      void this.#sendAfter((this.#renewing ??= this.#renew()), id, pending);
      return;
    }
    this.#tellFailure(error);
    this.#pending.take(id)?.exchange.failed(error);
    // Through a pipe only an answer fails that is too large; elsewhere a server may not know that its answer, or the request, got lost.
    if (this.#options.server.transport.type === 'stdio') this.#asks.ended(id);
    else this.#asks.abandoned(id, pending);
    // Nothing sent through this channel will be answered before somebody has signed in.
    if (error.cause instanceof SignInRequired) this.#options.lost(error);
  }

  /** The caller hears less. The same reason again and again would bury what else there is to say. */
  #tellFailure({ message }: HubError): void {
    this.#options.log[message === this.#lastFailure ? 'debug' : 'warn']('request failed', { error: message });
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
      this.#asks.forget();
      await this.#options.renewSession();
    } finally {
      this.#renewing = undefined;
    }
  }

  #expire(id: number, pending: Pending): void {
    this.#giveUp(id, pending, 'timed out');
    const seconds = Math.round((performance.now() - pending.startedAt) / 100) / 10;
    const text = `Server "${this.#options.server.name}" did not answer within ${seconds} s.`;
    pending.exchange.failed(new HubError('timeout', text));
  }

  #giveUp(id: number, pending: Pending, reason: string): void {
    this.#tellCancelled(id, reason);
    this.#asks.abandoned(id, pending);
  }

  /** Over HTTP a request of the stateless revision is cancelled by leaving its response (2026-07-28, Cancellation). */
  #tellCancelled(id: number, reason: string): void {
    if (!this.#stateless || !this.#hasHeaders)
      this.notify('notifications/cancelled', JSON.stringify({ requestId: id, reason }));
    this.#channel.abandon(id);
  }
}

const listChanges: ReadonlyMap<string, ItemKind> = new Map([
  ['notifications/tools/list_changed', 'tools'],
  ['notifications/prompts/list_changed', 'prompts'],
  ['notifications/resources/list_changed', 'resources'],
]);

const forSubscribers: ReadonlySet<string> = new Set([
  'notifications/resources/updated',
  'notifications/tasks/status',
  'notifications/tasks',
]);

/** What an HTTP server of the session era says to a request without a session, and one that is not there any more. */
const otherEra = new Set([400, 404, 405, 406]);

/** A request before it is written: `params` is JSON text. */
export interface ToSend {
  readonly method: string;
  readonly params: string | undefined;
  readonly facts: RequestFacts;
}

type Written = Pick<Pending, 'text' | 'headers'>;

/** The stream of changes that a notification says it came on. */
function subscriptionId({ params }: RpcMessage): number {
  const meta = isObject(params) && isObject(params['_meta']) ? params['_meta'] : {};
  return Number(meta[metaKeys.subscriptionId]);
}

/** Whether a refusal of the version names one that has sessions. */
function speaksSessions(error: unknown): boolean {
  const data = isObject(error) && isObject(error['data']) ? error['data'] : {};
  const supported = Array.isArray(data['supported']) ? data['supported'] : undefined;
  return supported === undefined || supported.some((version) => upstreamRevisions.includes(String(version)));
}

function requestText(id: number, method: string, params: string | undefined): string {
  const tail = params === undefined ? '' : `,"params":${oneLine(params)}`;
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}${tail}}`;
}

/** Keeps a HubError, and makes one of anything else. */
export function asHubError(error: unknown, what: string): HubError {
  if (error instanceof HubError) return error;
  return new HubError('upstream_failed', `${what}: ${errorText(error)}`, { cause: error });
}
