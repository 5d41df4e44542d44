import type { ItemKind } from '../core/catalogue.ts';
import { errorText, HubError, reworded } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { isObject, type RpcMessage } from '../core/rpc.ts';
import type { ServerSettings } from '../core/settings.ts';
import type { Channel, ChannelEvents } from './channel.ts';
import { SignInRequired } from './credential.ts';
import { type Exchange, type Patience, type Pending, PendingTable, promised } from './pending.ts';
import { type Ask, oneLine } from './protocol.ts';
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
  #renewing: Promise<void> | undefined;
  #open = true;

  /** Throws what `options.open` throws. */
  constructor(options: LinkOptions) {
    this.#options = options;
    const { server, log, home } = options;
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

  /** The handshake is over, in this protocol version. */
  ready(protocolVersion: string): void {
    this.#channel.ready(protocolVersion);
  }

  /** Sends a request; `params` is JSON text. Never throws: a failure comes through the exchange, possibly before this returns. */
  send(id: number, method: string, params: string | undefined, exchange: Exchange, patience: Patience): void {
    const pending = this.#admit(id, requestText(id, method, params), exchange, patience);
    if (!pending) return;
    // A request sent while the session is being renewed would be refused for want of one.
    if (this.#renewing) void this.#sendAfter(this.#renewing, id, pending);
    else this.#transmit(id, pending);
  }

  /** Asks something of the hub's own. */
  ask: Ask = (method, params, timeoutMs) =>
    promised((exchange) => {
      const id = this.#options.takeId();
      const patience = { timeoutMs, resetOnProgress: false, maxTotalMs: undefined };
      const pending = this.#admit(id, requestText(id, method, params), exchange, patience);
      if (!pending) return;
      // What renews the session must not wait for its renewal.
      if (this.#renewing) pending.resent = true;
      this.#transmit(id, pending);
    });

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
    this.#pending.failAll(error);
    this.#asks.close();
    await this.#channel.close();
  }

  /** Takes a request in; undefined when it had to be refused, which its exchange has heard. */
  #admit(id: number, text: string, exchange: Exchange, patience: Patience): Pending | undefined {
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
    return this.#pending.add(id, exchange, text, patience);
  }

  /** Sends what still waits for its answer: it may have been cancelled, or have failed with the channel, before it was its turn. */
  #transmit(id: number, pending: Pending): void {
    if (this.#pending.get(id) !== pending) return;
    try {
      this.#channel.send(pending.text, id);
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
    this.#asks.close();
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
    const pending = this.#pending.take(message.id);
    if (pending) {
      this.#asks.ended(message.id as number);
      pending.exchange.answered(message, text);
      return;
    }
    this.#asks.answeredLate(message.id);
    this.#options.log.debug('answer to nothing that waits', { id: JSON.stringify(message.id) });
  }

  #notified(method: string, message: RpcMessage, text: string, relatedTo: number | undefined): void {
    const kind = listChanges.get(method);
    if (kind) return this.#options.listChanged(kind);
    // On whatever stream they come, they speak of no request.
    if (forSubscribers.has(method)) return this.#options.unasked(method, message, text);
    if (method === 'notifications/cancelled') return this.#asks.cancelled(message.params);
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
    if (only) return only.exchange.notified(method, message, text);
    this.#options.unasked(method, message, text);
    const { data, level } = message.params;
    const words = typeof data === 'string' ? data : JSON.stringify(data);
    const loud = level === 'error' || level === 'critical' || level === 'alert' || level === 'emergency';
    this.#options.log[loud ? 'error' : level === 'warning' ? 'warn' : 'debug'](words ?? '');
  }

  #requestFailed(id: number, error: HubError, sessionLost: boolean): void {
    const pending = this.#pending.get(id);
    if (!pending || !this.#open) return;
    if (sessionLost && !pending.resent) {
      // The server forgot our session: introduce ourselves again and repeat the request, which it refused unread.
      pending.resent = true;
      void this.#sendAfter((this.#renewing ??= this.#renew()), id, pending);
      return;
    }
    this.#pending.take(id)?.exchange.failed(error);
    // A server whose answer got lost may not know it.
    this.#asks.abandoned(id, pending);
    // Nothing sent through this channel will be answered before somebody has signed in.
    if (error.cause instanceof SignInRequired) this.#options.lost(error);
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
    this.notify('notifications/cancelled', JSON.stringify({ requestId: id, reason }));
    this.#asks.abandoned(id, pending);
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

function requestText(id: number, method: string, params: string | undefined): string {
  const tail = params === undefined ? '' : `,"params":${oneLine(params)}`;
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}${tail}}`;
}

/** Keeps a HubError, and makes one of anything else. */
export function asHubError(error: unknown, what: string): HubError {
  if (error instanceof HubError) return error;
  return new HubError('upstream_failed', `${what}: ${errorText(error)}`, { cause: error });
}
