import type { ItemKind, Offer } from '../core/catalogue.ts';
import { errorText, HubError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { errorResponseText, isObject, resultText, type RpcMessage, rpcErrors } from '../core/rpc.ts';
import type { ServerSettings } from '../core/settings.ts';
import type { Channel, ChannelEvents } from './channel.ts';
import { createKeepAlive, type KeepAlive } from './keep-alive.ts';
import { type Exchange, type Pending, PendingTable, promised } from './pending.ts';
import { type Ask, initialize, listMethods, oneLine, readList } from './protocol.ts';
import { createRelister, type Relister } from './relister.ts';
import type { Slots } from './slots.ts';

/** What one connection is doing. `attempts` counts the failures since it last held. */
export type ConnectionStatus =
  | { readonly kind: 'connecting'; readonly attempts: number }
  | { readonly kind: 'connected'; readonly sinceMs: number; readonly tookMs: number }
  | {
      readonly kind: 'disconnected';
      readonly error: HubError;
      readonly attempts: number;
      /** Time of the next attempt, milliseconds since the epoch. */
      readonly nextRetryAt: number;
    }
  | { readonly kind: 'stopped' };

export interface ConnectionOptions {
  readonly server: ServerSettings;
  /** Opens the channel of the server's transport. Throws HubError when its settings cannot work. */
  readonly open: (server: ServerSettings, events: ChannelEvents) => Channel;
  readonly version: string;
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly slots: Slots;
  readonly log: Logger;
  /** The status or the offer is not what it was. Called from inside events: raise a flag and return. */
  readonly changed: () => void;
}

/**
 * The connection to one server, supervised alone: connecting → connected → disconnected → (back-off) connecting … until `stop`. What goes wrong in
 * it stays in it. Every request sent through it is answered or failed exactly once.
 */
export class Connection {
  readonly server: ServerSettings;
  readonly #options: ConnectionOptions;
  readonly #log: Logger;
  readonly #pending: PendingTable;
  readonly #relister: Relister;
  readonly #keepAlive: KeepAlive;
  readonly #waiters = new Set<() => void>();
  #status: ConnectionStatus = { kind: 'stopped' };
  #offer: Offer | undefined;
  #channel: Channel | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #rehandshake: Promise<void> | undefined;
  /** Grows with each attempt, so that what belongs to an earlier one is recognised after an await. */
  #attempt = 0;

  constructor(options: ConnectionOptions) {
    this.server = options.server;
    this.#options = options;
    this.#log = options.log;
    this.#pending = new PendingTable((id, pending) => this.#expire(id, pending));
    this.#relister = createRelister(this.#log, (kinds) => this.#readAgain(kinds));
    this.#keepAlive = createKeepAlive(options.server, {
      // A server at work may be too busy to answer a ping, and its answer will tell.
      idle: () => this.#status.kind === 'connected' && this.#pending.size === 0,
      ping: () => this.#ask('ping', undefined, limits.keepAliveAnswerMs),
      lost: (error) => {
        if (this.#status.kind === 'connected') this.#fail(asHubError(error, 'The server does not answer'), 0);
      },
    });
  }

  get status(): ConnectionStatus {
    return this.#status;
  }

  /** What the server offered when it was last listed; stays while the server is away. */
  get offer(): Offer | undefined {
    return this.#offer;
  }

  start(): void {
    if (this.#status.kind === 'stopped') void this.#connect(0);
  }

  /** Ends the connection for good and waits for its child, if it has one. What was in flight fails. */
  async stop(): Promise<void> {
    if (this.#status.kind === 'stopped') return;
    this.#setStatus({ kind: 'stopped' });
    await this.#drop(new HubError('upstream_unavailable', `Server "${this.server.name}" was stopped.`));
  }

  /** Does not wait for the back-off to end. */
  retryNow(): void {
    if (this.#status.kind === 'disconnected') void this.#connect(this.#status.attempts);
  }

  /** Resolves once the server can be called; throws HubError `upstream_unavailable` when it is not connected and not about to be. */
  async available(waitMs: number): Promise<void> {
    if (this.#status.kind === 'connecting') await this.#statusChange(waitMs);
    const status = this.#status;
    if (status.kind === 'connected') return;
    const name = `Server "${this.server.name}"`;
    if (status.kind !== 'disconnected') {
      throw new HubError('upstream_unavailable', `${name} is still connecting. Try again in a moment.`, {
        retryAfterMs: 2_000,
      });
    }
    const retryAfterMs = Math.max(0, status.nextRetryAt - Date.now());
    const seconds = Math.ceil(retryAfterMs / 1_000);
    throw new HubError(
      'upstream_unavailable',
      `${name} is not connected: ${status.error.message} Next attempt in ${seconds} s.`,
      {
        cause: status.error,
        retryAfterMs,
      },
    );
  }

  /** The id for the next request: also its progress token, which is how progress finds its way back. */
  takeId(): number {
    return this.#pending.takeId();
  }

  /**
   * Sends a request; `params` is JSON text. Never throws: a failure comes through the exchange, possibly before this returns.
   * Must only be called when `status` is connected; otherwise the exchange fails.
   */
  send(id: number, method: string, params: string | undefined, exchange: Exchange): void {
    const { timeoutMs, resetTimeoutOnProgress, maxTotalTimeoutMs } = this.server;
    const text = requestText(id, method, params);
    const patience = {
      timeoutMs: timeoutMs ?? this.#options.requestTimeoutMs,
      resetOnProgress: resetTimeoutOnProgress,
      maxTotalMs: maxTotalTimeoutMs,
    };
    if (!this.#rehandshake) return this.#send(id, text, exchange, patience);
    // A request sent while the session is being renewed would be refused for want of one.
    this.#rehandshake.then(
      () => this.#send(id, text, exchange, patience),
      (error: unknown) => exchange.failed(asHubError(error, 'The session could not be renewed')),
    );
  }

  /** The asker no longer waits: the server is told, and whatever it still answers is dropped. The exchange hears nothing more. */
  cancel(id: number, reason: string): void {
    if (this.#pending.take(id)) this.#tellCancelled(id, reason);
  }

  /** Sends a notification; `params` is JSON text. Lost when the server is away. */
  notify(method: string, params: string | undefined): void {
    const tail = params === undefined ? '' : `,"params":${params}`;
    this.#write(`{"jsonrpc":"2.0","method":${JSON.stringify(method)}${tail}}`);
  }

  #send(id: number, text: string, exchange: Exchange, patience: Pending['patience']): void {
    const channel = this.#channel;
    if (!channel || this.#pending.size >= limits.upstreamInFlight) {
      const why = channel ? 'has too many calls in flight' : 'is not connected';
      exchange.failed(
        new HubError('upstream_unavailable', `Server "${this.server.name}" ${why}.`, { retryAfterMs: 1_000 }),
      );
      return;
    }
    this.#pending.add(id, exchange, text, patience);
    try {
      channel.send(text, id);
    } catch (error) {
      this.#pending.take(id)?.exchange.failed(asHubError(error, 'The request could not be sent'));
    }
  }

  #write(text: string): void {
    try {
      this.#channel?.send(text);
    } catch (error) {
      this.#log.debug('message not sent', { error: errorText(error) });
    }
  }

  #ask: Ask = (method, params, timeoutMs) =>
    promised((exchange) => {
      const id = this.takeId();
      const patience = { timeoutMs, resetOnProgress: false, maxTotalMs: undefined };
      this.#send(id, requestText(id, method, params), exchange, patience);
    });

  async #connect(attempts: number): Promise<void> {
    clearTimeout(this.#retryTimer);
    const attempt = ++this.#attempt;
    const current = (): boolean => attempt === this.#attempt && this.#status.kind !== 'stopped';
    this.#setStatus({ kind: 'connecting', attempts });
    const release = await this.#options.slots.take();
    if (!current()) return release();
    const startedAt = performance.now();
    try {
      this.#channel = this.#options.open(this.server, this.#eventsOf(attempt));
      const offer = await this.#handshake(startedAt + this.#options.connectTimeoutMs);
      if (!current()) return;
      this.#offer = offer;
      const tookMs = Math.round(performance.now() - startedAt);
      this.#setStatus({ kind: 'connected', sinceMs: Date.now(), tookMs });
      this.#keepAlive.start();
      this.#log.info('connected', { tools: offer.tools.length, ms: tookMs });
    } catch (error) {
      if (current()) this.#fail(asHubError(error, 'The connection failed'), attempts);
    } finally {
      release();
    }
  }

  async #handshake(deadline: number): Promise<Offer> {
    const left = (): number => Math.max(1, deadline - performance.now());
    const about = await initialize(this.#ask, this.#options.version, left());
    this.#channel?.ready(about.protocolVersion);
    this.notify('notifications/initialized', undefined);
    const read = async (kind: ItemKind) => {
      if (!about.capabilities.includes(listMethods[kind].capability)) return [];
      if (kind === 'tools') return readList(this.#ask, kind, this.#log, left());
      return readList(this.#ask, kind, this.#log, left() / 2).catch((error: unknown) => {
        this.#log.warn('list could not be read; it is taken as empty', { list: kind, error: errorText(error) });
        return [];
      });
    };
    const [tools, prompts, resources, templates] = await Promise.all([
      read('tools'),
      read('prompts'),
      read('resources'),
      read('templates'),
    ]);
    return { server: this.server.name, about, tools, prompts, resources, templates };
  }

  #eventsOf(attempt: number): ChannelEvents {
    const stale = (): boolean => attempt !== this.#attempt;
    return {
      message: (message, text, relatedTo) => {
        if (!stale()) this.#received(message, text, relatedTo);
      },
      failed: (id, error, sessionLost) => {
        if (!stale()) this.#requestFailed(id, error, sessionLost);
      },
      closed: (error) => {
        if (stale() || this.#status.kind === 'stopped') return;
        this.#channel = undefined;
        // While the handshake waits, failing its request is what ends the attempt; here only a connection that was up is taken down.
        if (this.#status.kind === 'connected') this.#fail(error, 0);
        else this.#pending.failAll(error);
      },
    };
  }

  #received(message: RpcMessage, text: string, relatedTo: number | undefined): void {
    const { id, method } = message;
    if (method === undefined) {
      const pending = this.#pending.take(id);
      if (pending) pending.exchange.answered(message, text);
      else this.#log.debug('answer to nothing that waits', { id: String(id) });
    } else if (typeof method !== 'string') {
      this.#log.debug('message that is not JSON-RPC');
    } else if (id === undefined) {
      this.#notified(method, message, text, relatedTo);
    } else {
      this.#requested(id, method);
    }
  }

  #notified(method: string, message: RpcMessage, text: string, relatedTo: number | undefined): void {
    const kind = listChanges[method];
    if (kind) return this.#relister.flag(kind);
    const token =
      method === 'notifications/progress' && isObject(message.params) ? message.params['progressToken'] : relatedTo;
    const pending = this.#pending.get(token);
    if (!pending) return this.#unattributed(method, message);
    if (method === 'notifications/progress') this.#pending.progressed(pending);
    pending.exchange.notified(method, message, text);
  }

  /** What cannot be attributed to exactly one call reaches no client (DESIGN, the wire); what the server wants to say goes to its log. */
  #unattributed(method: string, message: RpcMessage): void {
    if (method !== 'notifications/message' || !isObject(message.params)) return;
    const { data, level } = message.params;
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    this.#log[level === 'error' || level === 'critical' ? 'error' : level === 'warning' ? 'warn' : 'debug'](text ?? '');
  }

  /** A request from the server to its client. Only `ping` can be answered without knowing whose call it belongs to. */
  #requested(id: unknown, method: string): void {
    const idText = JSON.stringify(id);
    if (method === 'ping') return this.#write(resultText(idText, '{}'));
    this.#write(errorResponseText(idText, rpcErrors.methodNotFound, `Method not found: ${method.slice(0, 100)}`));
  }

  #requestFailed(id: number, error: HubError, sessionLost: boolean): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    if (sessionLost && !pending.resent && this.#status.kind === 'connected') {
      pending.resent = true;
      void this.#recoverSession(id, pending);
      return;
    }
    this.#pending.take(id)?.exchange.failed(error);
  }

  /** The server forgot our session: introduce ourselves again and repeat the request, which it refused unread. */
  async #recoverSession(id: number, pending: Pending): Promise<void> {
    const attempt = this.#attempt;
    this.#rehandshake ??= this.#introduceAgain().finally(() => {
      this.#rehandshake = undefined;
    });
    try {
      await this.#rehandshake;
      if (attempt === this.#attempt && this.#pending.get(id) === pending) this.#channel?.send(pending.text, id);
    } catch (error) {
      if (attempt === this.#attempt)
        this.#pending.take(id)?.exchange.failed(asHubError(error, 'The session could not be renewed'));
    }
  }

  async #introduceAgain(): Promise<void> {
    this.#log.info('session lost; initializing again');
    this.#channel?.forgetSession();
    try {
      this.#offer = await this.#handshake(performance.now() + this.#options.connectTimeoutMs);
      this.#options.changed();
    } catch (error) {
      const failure = asHubError(error, 'The session could not be renewed');
      this.#fail(failure, 0);
      throw failure;
    }
  }

  /** Reads some lists again, keeps what came back, and says so. */
  async #readAgain(kinds: readonly ItemKind[]): Promise<void> {
    const attempt = this.#attempt;
    for (const kind of kinds) {
      const items = await readList(this.#ask, kind, this.#log, this.#options.requestTimeoutMs);
      if (attempt !== this.#attempt || !this.#offer) return;
      this.#offer = { ...this.#offer, [kind]: items };
    }
    this.#options.changed();
  }

  #expire(id: number, pending: Pending): void {
    this.#tellCancelled(id, 'timed out');
    const seconds = Math.round((performance.now() - pending.startedAt) / 100) / 10;
    pending.exchange.failed(
      new HubError('timeout', `Server "${this.server.name}" did not answer within ${seconds} s.`),
    );
  }

  #tellCancelled(id: number, reason: string): void {
    this.notify('notifications/cancelled', JSON.stringify({ requestId: id, reason }));
    this.#channel?.abandon(id);
  }

  #fail(error: HubError, attempts: number): void {
    const held = this.#status.kind === 'connected' ? Date.now() - this.#status.sinceMs : 0;
    const failures = held > limits.backOffResetMs ? 1 : attempts + 1;
    const longest = Math.min(limits.backOffMaxMs, limits.backOffFirstMs * 2 ** Math.min(failures - 1, 10));
    const waitMs = Math.round(longest * (0.5 + Math.random() / 2));
    this.#setStatus({ kind: 'disconnected', error, attempts: failures, nextRetryAt: Date.now() + waitMs });
    this.#log.warn('disconnected', { error: error.message, attempts: failures, retryInMs: waitMs });
    this.#retryTimer = setTimeout(() => void this.#connect(failures), waitMs);
    void this.#drop(error);
  }

  /** Takes the channel and everything in flight down. */
  async #drop(error: HubError): Promise<void> {
    this.#attempt++;
    if (this.#status.kind === 'stopped') clearTimeout(this.#retryTimer);
    this.#relister.stop();
    this.#keepAlive.stop();
    const channel = this.#channel;
    this.#channel = undefined;
    this.#pending.failAll(error);
    await channel?.close();
  }

  #setStatus(status: ConnectionStatus): void {
    this.#status = status;
    for (const wake of this.#waiters) wake();
    this.#options.changed();
  }

  #statusChange(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(done);
        resolve();
      };
      const timer = setTimeout(done, waitMs);
      this.#waiters.add(done);
    });
  }
}

const listChanges: Readonly<Record<string, ItemKind>> = {
  'notifications/tools/list_changed': 'tools',
  'notifications/prompts/list_changed': 'prompts',
  'notifications/resources/list_changed': 'resources',
};

function requestText(id: number, method: string, params: string | undefined): string {
  const tail = params === undefined ? '' : `,"params":${oneLine(params)}`;
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}${tail}}`;
}

function asHubError(error: unknown, what: string): HubError {
  return error instanceof HubError
    ? error
    : new HubError('upstream_failed', `${what}: ${errorText(error)}`, { cause: error });
}
