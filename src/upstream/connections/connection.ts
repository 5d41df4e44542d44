import { type ItemKind, knownItems, type Offer, withKnownItems } from '../../core/catalogue.ts';
import { cleaned, errorText, HubError } from '../../core/errors.ts';
import { coreLimits } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import type { RequestFacts } from '../../core/protocol/stateless.ts';
import type { StartProgress } from '../channels/channel.ts';
import { type ConnectionOptions, newRequestId } from './options.ts';
import { type ConnectionStatus, StatusTracker, waitsForCall } from './status.ts';
import { SignInRequired } from '../channels/credential.ts';
import { ServerRequestHistory } from './link/server-requests.ts';
import { createEnvelope } from './link/request-writer.ts';
import { Eras, shortMemory } from './eras/era.ts';
import { EraWatch } from './eras/watch.ts';
import { Handshake } from './handshake.ts';
import { explained } from './explained.ts';
import { BackOff } from './back-off.ts';
import { createKeepAlive, type KeepAlive } from './keep-alive.ts';
import { Sleep } from './sleep.ts';
import { StartClock } from './start-clock.ts';
import { type Answer, asHubError, type Exchange, type RequestTimeouts, timeoutsOf } from './exchange.ts';
import { Link } from './link/link.ts';
import type { Listener } from './offer/listener.ts';
import { readOneList } from './offer/read-offer.ts';
import { createRelister, type Relister } from './offer/relister.ts';
import { headersOfCall } from './offer/tool-headers.ts';
import { cannotWatch, subscribing, Watches } from './offer/watches.ts';

/**
 * The connection to one server, supervised alone: connecting → connected → disconnected → (back-off) connecting … until
 * `stop`; one to a server that starts on demand also connected → asleep → (a caller) connecting. Its failures do not
 * affect other connections. Every request sent through it is answered or failed exactly once.
 */
export class Connection {
  readonly server: ServerSettings;
  /** In which tools the server asks clients something. */
  readonly requestHistory: ServerRequestHistory;
  readonly #options: ConnectionOptions;
  readonly #log: Logger;
  readonly #timeoutsOfRequests: RequestTimeouts;
  readonly #relister: Relister;
  readonly #keepAlive: KeepAlive;
  readonly #watches: Watches;
  readonly #eras: Eras;
  readonly #eraWatch: EraWatch<Link>;
  readonly #handshake: Handshake;
  readonly #tracker: StatusTracker;
  readonly #sleep: Sleep;
  readonly #backOff: BackOff;
  readonly #startClock: StartClock;
  #offer: Offer | undefined;
  /** The link of the current attempt or connection. What belongs to an earlier one is recognised by not being this. */
  #link: Link | undefined;
  /** The stream of changes of a server without sessions. */
  #listener: Listener | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  /** The end of all links so far. Never rejects. */
  #ended: Promise<void>;
  /** Why it failed last, until it is connected again. */
  #lastError: HubError | undefined;
  /** Grows with each attempt to connect. */
  #attempt = 0;
  /** The attempt began because a caller needs a server that slept. */
  #isWaking = false;

  constructor(options: ConnectionOptions) {
    const { server, log } = options;
    this.server = server;
    this.requestHistory = options.requestHistory ?? new ServerRequestHistory();
    this.#options = options;
    this.#log = log;
    this.#timeoutsOfRequests = timeoutsOf(server, options.requestTimeoutMs);
    this.#tracker = new StatusTracker(options, () => this.#offer?.about.protocolVersion);
    this.#backOff = new BackOff(server.transport.type === 'stdio');
    this.#startClock = new StartClock(server.name, options.connectTimeoutMs);
    const sleeper = {
      isBusy: () => this.#isBusy,
      lastEndAt: () => this.#link?.lastEndAt ?? 0,
      sleep: () => this.#fallAsleep(),
    };
    this.#sleep = new Sleep(sleeper, options.idleMs);
    if (this.#sleep.isOn) this.#offer = options.known;
    this.#ended = options.after ?? Promise.resolve();
    this.#watches = new Watches(log);
    this.#eras = new Eras(server, options.eras ?? shortMemory());
    this.#eraWatch = new EraWatch(server.name, this.#eras, {
      isUp: (link) => link === this.#link && this.#tracker.now.kind === 'connected',
      changed: (error) => this.#fail(error),
    });
    this.#relister = createRelister(log, (kind) => this.#readAgain(kind));
    this.#handshake = new Handshake({
      ...options,
      eras: this.#eras,
      negotiated: () => this.#progress({ phase: 'handshake', isRunning: true }),
      listening: (listener) => (this.#listener = listener),
      missed: (kind) => this.#relister.flag(kind),
    });
    this.#keepAlive = createKeepAlive(server, {
      // A server at work may be too busy to answer a ping, and its answer will tell.
      idle: () => this.#tracker.now.kind === 'connected' && this.#link?.inFlight === 0,
      ping: async () => this.#link && this.#eraWatch.ping(this.#link),
      lost: (error) => {
        if (this.#tracker.now.kind === 'connected') this.#fail(asHubError(error, 'The server does not answer'));
      },
    });
  }

  get status(): ConnectionStatus {
    return this.#tracker.now;
  }

  /** What the server offered when it was last listed; stays while the server is away. */
  get offer(): Offer | undefined {
    return this.#offer;
  }

  /** Requests that wait for their answer. */
  get inFlight(): number {
    return this.#link?.inFlight ?? 0;
  }

  /** Whether requests were given up that the server may still be at work on. */
  get hasGivenUp(): boolean {
    return this.#link?.hasGivenUp ?? false;
  }

  /** As the link's. */
  get isCrowded(): boolean {
    return this.#link?.isCrowded ?? false;
  }

  /** What is known of the questions that the server may ask now. */
  get questions(): Pick<Link, 'heldSince' | 'isContested'> | undefined {
    return this.#link;
  }

  /** At least one client watches its resources. */
  get isWatched(): boolean {
    return this.#watches.uris.length > 0;
  }

  /** Connects; a server that starts on demand and whose lists are known waits for its first caller. */
  start(): void {
    if (this.#tracker.now.kind !== 'stopped') return;
    if (this.#sleep.isOn && this.#offer) this.#tracker.set({ kind: 'asleep' });
    else void this.#connect();
  }

  /** The settings say how long its server may be idle before it is stopped; undefined: it runs always. */
  sleepAfter(idleMs: number | undefined): void {
    this.#sleep.set(idleMs);
    if (idleMs === undefined && waitsForCall(this.#tracker.now)) void this.#connect();
  }

  /** Ends the connection for good and waits for its child, if it has one. What was in flight fails, with `why`. */
  stop(why = new HubError('upstream_unavailable', `Server "${this.server.name}" was stopped.`)): Promise<void> {
    if (this.#tracker.now.kind !== 'stopped') {
      clearTimeout(this.#retryTimer);
      this.#tracker.set({ kind: 'stopped' });
      this.#dropLink(why);
    }
    return this.#ended;
  }

  /** Does not wait for the back-off to end, nor for a sign-in, nor for a caller. */
  retryNow(): void {
    const { kind } = this.#tracker.now;
    if (kind === 'disconnected' || kind === 'oauth_required' || kind === 'asleep')
      void this.#connect(kind === 'asleep');
  }

  /** Connects again with the current credential, which is another one. Requests in flight fail. */
  reconnect(): void {
    if (this.#tracker.now.kind === 'stopped') return;
    this.#dropLink(new HubError('upstream_unavailable', `Server "${this.server.name}" is connected again.`));
    void this.#connect();
  }

  /**
   * Resolves once the server can be called; throws HubError `upstream_unavailable` or `oauth_required` when it is not
   * connected and not about to be. Starts a server that sleeps, and gives that the time of a start besides.
   */
  available(waitMs: number): Promise<void> {
    if (!this.#sleep.isOn) return this.#tracker.available(waitMs);
    const { kind } = this.#tracker.now;
    if (kind === 'asleep' || (kind === 'disconnected' && this.#sleep.mayTryAgain)) void this.#connect(true);
    this.#sleep.used();
    return this.#tracker.available(waitMs + this.#options.connectTimeoutMs, true).then(() => this.#sleep.used());
  }

  /**
   * The id for the next request: also its progress token, which is how progress finds its way back. It follows from no
   * other, so that a server cannot answer a request that was not made yet, and it fits in 31 bits, because some servers
   * keep 32 (decisions/0035).
   */
  takeId(): number {
    let id;
    do id = newRequestId(this.#options.requestIds);
    while (this.#link?.isTaken(id));
    return id;
  }

  /**
   * Sends a request; `params` is JSON text. `facts` is what a server without sessions is to know of it besides. Never
   * throws: a failure comes through the exchange, possibly before this returns.
   */
  send(id: number, method: string, params: string | undefined, exchange: Exchange, facts: RequestFacts = {}): void {
    this.#sleep.used();
    if (this.#link) return this.#link.send(id, { method, params, facts }, exchange, this.#timeoutsOfRequests);
    exchange.failed(new HubError('upstream_unavailable', `Server "${this.server.name}" is not connected.`));
  }

  /**
   * The asker no longer waits: the server is told, and whatever it still answers is dropped. The exchange hears nothing
   * more.
   */
  cancel(id: number, reason: string): void {
    this.#link?.cancel(id, reason);
  }

  /**
   * From now on the server tells of changes of this resource, through `unasked`, also after a reconnect. Throws
   * HubError when the server refuses; a caller that was not refused calls `unwatch` once. A server that cannot be
   * started now is asked when it can.
   */
  async watch(uri: string): Promise<void> {
    const { about } = this.#offer ?? {};
    if (about && !about.capabilities.includes('resources.subscribe')) throw cannotWatch(this.server.name);
    if (this.#sleep.isOn) await this.available(0).catch(() => undefined);
    await this.#watches.add(uri);
  }

  /** Asks something of the hub's own. Throws HubError when it is not connected or not answered. */
  async ask(method: string, params: string | undefined, timeoutMs: number): Promise<Answer> {
    if (!this.#link) throw new HubError('upstream_unavailable', `Server "${this.server.name}" is not connected.`);
    return this.#link.ask(method, params, timeoutMs);
  }

  unwatch(uri: string): void {
    this.#watches.remove(uri);
  }

  /**
   * Sends a notification without parameters, unless the server is not connected, or speaks without sessions: then it
   * does not accept notifications.
   */
  notify(method: string): void {
    if (this.#tracker.now.kind === 'connected' && !this.#link?.isStateless) this.#link?.notify(method, undefined);
  }

  /** `wakes`: a caller waits for it. */
  async #connect(wakes = false): Promise<void> {
    clearTimeout(this.#retryTimer);
    this.#isWaking = wakes;
    const attempt = ++this.#attempt;
    const current = (): boolean => attempt === this.#attempt && this.#tracker.now.kind === 'connecting';
    this.#eras.begin();
    const phase = this.server.transport.type === 'stdio' ? 'starting' : 'handshake';
    this.#beginPhase({ phase, isWaiting: true });
    await this.#ended;
    const release = await this.#options.slots.take();
    const startedAt = performance.now();
    try {
      if (!current()) return;
      this.#progress({ phase });
      await this.#options.load?.(this.server);
      if (!current()) return;
      const link = this.#openLink();
      this.#link = link;
      // Launchers have a queue of their own, so that the others do not wait behind them.
      if (link.launched) release();
      const offer = await this.#handshake.begin(link, await this.#startClock.deadline(link.launched, startedAt));
      if (!current()) return;
      this.#startClock.connected();
      this.#offer = withKnownItems(offer, this.#offer ?? this.#options.known);
      const tookMs = Math.round(performance.now() - startedAt);
      this.#tracker.set({ kind: 'connected', sinceMs: Date.now(), tookMs });
      this.#keepAlive.start();
      this.#sleep.start();
      this.#relister.start();
      this.#watches.use(this.#listener ?? subscribing(link.ask));
      this.#lastError = undefined;
      this.#log.info('connected', { tools: offer.tools.length, ms: tookMs, mcp: offer.about.protocolVersion });
    } catch (error) {
      if (current()) this.#lost(asHubError(error, 'The connection failed'));
    } finally {
      release();
    }
  }

  /** What a launcher tells on the way to the program, and the program of itself. */
  #progress(progress: StartProgress): void {
    const { now } = this.#tracker;
    if (now.kind !== 'connecting') return;
    const link = this.#link;
    if (link?.launched && progress.phase !== 'handshake') {
      if (progress.isRunning) this.#startClock.begin((error) => link === this.#link && this.#lost(error));
      else this.#startClock.stop();
    }
    if (now.phase !== progress.phase || now.isWaiting !== (progress.isWaiting ?? false)) this.#beginPhase(progress);
  }

  #beginPhase({ phase, isWaiting = false }: StartProgress): void {
    this.#tracker.set({
      kind: 'connecting',
      attempts: this.#backOff.failures,
      phase,
      phaseSince: Date.now(),
      isWaiting,
      isWaking: this.#isWaking,
      error: this.#lastError,
    });
  }

  #openLink(): Link {
    const { open } = this.#options;
    const link: Link = new Link({
      server: this.server,
      open,
      log: this.#log,
      takeId: () => this.takeId(),
      lost: (error) => {
        if (link === this.#link) this.#lost(error);
      },
      doubted: () => void this.#eraWatch.doubt(link),
      refreshTools: () => this.#readAgain('tools'),
      envelope: createEnvelope(this.#options.version, (tool, args) =>
        headersOfCall(this.#options.knownTools?.() ?? this.#offer?.tools ?? [], tool, args),
      ),
      progress: (progress) => {
        if (link === this.#link) this.#progress(progress);
      },
      listChanged: (kind) => {
        if (link === this.#link && this.#options.lists !== false) this.#relister.flag(kind);
      },
      unasked: (method, message, text) => this.#options.unasked?.(method, message, text),
      renewSession: () => this.#renewSession(link),
      requestHistory: this.requestHistory,
      clean: this.#options.clean ?? ((text) => text),
      home: this.#options.home,
    });
    return link;
  }

  async #renewSession(link: Link): Promise<void> {
    this.#log.info('session lost; initializing again');
    try {
      const offer = await this.#handshake.again(link, this.#options.connectTimeoutMs);
      if (link !== this.#link) return;
      this.#tracker.renewed('session_lost');
      this.#offer = withKnownItems(offer, this.#offer);
      this.#watches.use(subscribing(link.ask));
      this.#options.changed();
    } catch (error) {
      const failure = asHubError(error, 'The session could not be renewed');
      if (link === this.#link && this.#tracker.now.kind === 'connected') this.#fail(failure);
      throw failure;
    }
  }

  /** Reads one list again, keeps what came back, and says so. */
  async #readAgain(kind: ItemKind): Promise<void> {
    const link = this.#link;
    if (!link) return;
    const { items, hint } = await readOneList(link, kind, this.#log, this.#options.requestTimeoutMs);
    if (link !== this.#link || !this.#offer) return;
    const known = knownItems(items, this.#offer[kind]);
    this.#offer = { ...this.#offer, [kind]: known, ...(hint && { hints: { ...this.#offer.hints, [kind]: hint } }) };
    this.#options.changed();
  }

  /** An attempt, or a connection, came to its end by itself. */
  #lost(failure: HubError): void {
    if (this.#tracker.now.kind === 'connecting') {
      if (this.#eras.startAgain(failure)) {
        this.#log.debug('ended at a question it may not know; started once more', { error: failure.message });
        this.#dropLink(failure);
        return void this.#connect(this.#isWaking);
      }
      this.#eras.failed(failure);
    }
    this.#fail(failure);
  }

  #fail(failure: HubError): void {
    const attempt = { timeoutMs: this.#startClock.timeoutMs, printed: this.#link?.printed };
    const isStart = this.#tracker.now.kind === 'connecting';
    const error = cleaned(explained(failure, isStart ? attempt : undefined), this.#options.clean ?? ((text) => text));
    const heldMs = this.#tracker.now.kind === 'connected' ? Date.now() - this.#tracker.now.sinceMs : 0;
    // Some programs end by themselves when they are idle. One that ends soon after its start is broken.
    if (this.#sleep.isOn && heldMs > coreLimits.backOffResetMs && !this.#isBusy) return this.#fallAsleep(error);
    const failures = this.#backOff.failed(heldMs);
    if (failure.code === 'timeout' && isStart) this.#startClock.tookTooLong();
    if (failure.cause instanceof SignInRequired) {
      this.#tracker.set({ kind: 'oauth_required', error, attempts: failures });
      return this.#dropLink(error);
    }
    const waitMs = this.#backOff.nextMs();
    this.#sleep.failed(waitMs);
    this.#tracker.set({ kind: 'disconnected', error, attempts: failures, nextRetryAt: Date.now() + waitMs });
    // The failure of a server that stays unreachable is logged once: the same reason repeated would hide the messages
    // of other servers.
    const level = error.message === this.#lastError?.message ? 'debug' : 'warn';
    this.#lastError = error;
    this.#log[level]('disconnected', { error: error.message, attempts: failures, retryInMs: waitMs });
    // A program that runs only while it is used, and could not be started, waits for its next caller.
    const waits = () => isStart && this.#sleep.isOn && this.#offer !== undefined && !this.#isBusy;
    this.#retryTimer = setTimeout(() => (waits() ? this.#tracker.waitForCall() : void this.#connect()), waitMs);
    this.#dropLink(error);
  }

  /** `why`: its program ended by itself. */
  #fallAsleep(why = new HubError('upstream_unavailable', `Server "${this.server.name}" was idle.`)): void {
    if (this.#tracker.now.kind !== 'connected') return;
    this.#tracker.set({ kind: 'asleep' });
    this.#log.info('asleep; the next call starts it', { why: why.message });
    this.#dropLink(why);
  }

  get #isBusy(): boolean {
    return this.inFlight > 0 || this.isWatched || this.#options.inUse?.() === true;
  }

  #dropLink(why: HubError): void {
    this.#startClock.stop();
    this.#relister.stop();
    this.#keepAlive.stop();
    this.#sleep.stop();
    this.#watches.use(undefined);
    this.#listener?.stop();
    this.#listener = undefined;
    const link = this.#link;
    this.#link = undefined;
    if (link) this.#ended = this.#endOf(link, why, this.#ended);
  }

  async #endOf(link: Link, why: HubError, earlier: Promise<void>): Promise<void> {
    try {
      await Promise.all([link.close(why), earlier]);
    } catch (error) {
      this.#log.warn('connection not closed in order', { error: errorText(error) });
    }
  }
}
