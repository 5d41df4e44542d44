import type { ItemKind, ServerAbout } from '../../../core/catalogue.ts';
import { type Deferred, deferred } from '../../../core/deferred.ts';
import { HubError } from '../../../core/errors.ts';
import type { Logger } from '../../../core/logger.ts';
import { isObject, rpcErrors, type RpcMessage } from '../../../core/protocol/rpc.ts';
import { HttpAnswer } from '../../channels/http-errors.ts';
import { type Exchange, refusal } from '../exchange.ts';
import { upstreamLimits } from '../../limits.ts';
import { cannotWatch, type WatchMethods } from './watches.ts';

/** What the stream of a server's changes needs of the link to it. */
export interface ListeningLink {
  /**
   * Sends a request whose answer is the end of a stream; its notifications go to the exchange. Returns how to leave it.
   */
  listen(params: string, exchange: Exchange): () => void;
}

export interface ListenerOptions {
  readonly server: string;
  readonly link: ListeningLink;
  readonly about: ServerAbout;
  /** False where another connection hears of the lists. */
  readonly lists: boolean;
  readonly log: Logger;
  /** There was no stream of changes for a while: this list may have changed. */
  readonly missed: (kind: ItemKind) => void;
}

const listFilters = [
  { filter: 'toolsListChanged', capability: 'tools.listChanged', kind: 'tools' },
  { filter: 'promptsListChanged', capability: 'prompts.listChanged', kind: 'prompts' },
  { filter: 'resourcesListChanged', capability: 'resources.listChanged', kind: 'resources' },
] as const;

/** A caller waits for whether the server will tell of changes of a resource. */
type Wish = Deferred<void>;

/**
 * The one `subscriptions/listen` of a connection to a server without sessions (2026-07-28, Subscriptions): for changed
 * lists, and for the resources that clients watch. What is watched is part of the request, so that another resource
 * means another stream, which takes over before the first is left. A stream that broke is opened again, with longer and
 * longer pauses; what may have been missed meanwhile is read again. A server that has none is not asked again.
 */
export class Listener implements WatchMethods {
  readonly #options: ListenerOptions;
  readonly #lists: readonly (typeof listFilters)[number][];
  readonly #uris = new Map<string, Wish>();
  /** The resources that the server agreed to. */
  readonly #agreed = new Set<string>();
  #leave: (() => void) | undefined;
  /** How to leave the streams that the next agreed one replaces. */
  #before: (() => void)[] = [];
  /** Grows with each stream; what an earlier one still brings is recognised by it. */
  #stream = 0;
  /** The newest that the server agreed to. */
  #acknowledged = 0;
  /** There is no agreed stream, or there was none until now: changes may have been missed. */
  #deaf = true;
  /** Streams in a row that did not hold. */
  #failures = 0;
  #agreedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #changing = false;
  #state: 'listening' | 'unable' | 'stopped' = 'listening';
  #heard: (() => void) | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
    const { about, lists } = options;
    this.#lists = lists ? listFilters.filter(({ capability }) => about.capabilities.includes(capability)) : [];
  }

  /**
   * Resolves when nothing can change unheard any more, or when the server takes too long to say so: then what is listed
   * meanwhile is listed again.
   */
  async start(): Promise<void> {
    if (this.#lists.length === 0) return;
    this.#open();
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#heard = resolve;
      timer = setTimeout(resolve, upstreamLimits.listenAnswerMs);
    });
    clearTimeout(timer);
    this.#heard = undefined;
  }

  begin(uri: string): Promise<void> {
    if (this.#state === 'unable') return Promise.reject(cannotWatch(this.#options.server));
    let wish = this.#uris.get(uri);
    if (!wish) {
      wish = newWish();
      this.#uris.set(uri, wish);
      this.#change();
    }
    return wish.promise;
  }

  end(uri: string): void {
    this.#agreed.delete(uri);
    if (this.#uris.delete(uri)) this.#change();
  }

  stop(): void {
    this.#state = 'stopped';
    clearTimeout(this.#timer);
    this.#leaveAll();
    this.#heard?.();
    const gone = new HubError('upstream_unavailable', `Server "${this.#options.server}" is not connected.`);
    for (const wish of this.#uris.values()) wish.reject(gone);
    this.#uris.clear();
  }

  /** Opens another stream for what is wanted now, once for all that changes in one turn. */
  #change(): void {
    if (this.#changing || this.#state !== 'listening') return;
    this.#changing = true;
    setImmediate(() => {
      this.#changing = false;
      if (this.#state === 'listening') this.#open();
    });
  }

  #open(): void {
    clearTimeout(this.#timer);
    const asked = [...this.#uris.keys()];
    if (this.#lists.length === 0 && asked.length === 0) {
      this.#stream++;
      return this.#leaveAll();
    }
    if (this.#leave) this.#before.push(this.#leave);
    this.#leave = undefined;
    const filter: Record<string, unknown> = Object.fromEntries(this.#lists.map((list) => [list.filter, true]));
    if (asked.length > 0) filter['resourceSubscriptions'] = asked;
    const stream = ++this.#stream;
    const current = (): boolean => stream === this.#stream && this.#state === 'listening';
    let isOver = false;
    const over = (failure: Failure): void => {
      isOver = true;
      if (stream === this.#acknowledged) this.#deaf = true;
      if (current()) this.#over(failure, asked);
    };
    const leave = this.#options.link.listen(JSON.stringify({ notifications: filter }), {
      notified: (method, message) => {
        if (method !== 'notifications/subscriptions/acknowledged' || !current()) return;
        for (const leaveOne of this.#before.splice(0)) leaveOne();
        this.#accepted(message, asked);
      },
      answered: ({ error }) => over({ error: isObject(error) ? error : undefined, failure: undefined }),
      failed: (failure) => over({ error: undefined, failure }),
    });
    if (!isOver) this.#leave = leave;
  }

  #accepted({ params }: RpcMessage, asked: readonly string[]): void {
    this.#acknowledged = this.#stream;
    this.#agreedAt = performance.now();
    // The hub may not have been told of changes before this moment: during the pause, or while the lists were read
    // without waiting for the stream.
    if (this.#deaf && !this.#heard) for (const { kind } of this.#lists) this.#options.missed(kind);
    this.#deaf = false;
    this.#heard?.();
    const honoured = isObject(params) && isObject(params['notifications']) ? params['notifications'] : {};
    const uris = Array.isArray(honoured['resourceSubscriptions']) ? honoured['resourceSubscriptions'] : [];
    for (const uri of asked) {
      const wish = this.#uris.get(uri);
      if (uris.includes(uri)) {
        this.#agreed.add(uri);
        wish?.resolve();
      } else this.#refuse(uri);
    }
  }

  #leaveAll(): void {
    this.#leave?.();
    this.#leave = undefined;
    for (const leave of this.#before.splice(0)) leave();
  }

  /** The stream that asked for these resources has ended. */
  #over({ error, failure }: Failure, asked: readonly string[]): void {
    this.#leave = undefined;
    const why = failure?.message ?? (error ? refusal(error) : 'the server ended it');
    const isNew = this.#acknowledged !== this.#stream;
    const unagreed = asked.filter((uri) => !this.#agreed.has(uri));
    if (isNew && error?.['code'] === rpcErrors.invalidParams && unagreed.length > 0) {
      // One address that the server refuses must not affect the others.
      for (const uri of unagreed) this.#refuse(uri);
      if (this.#lists.length === 0 && this.#uris.size === 0) return;
    } else if (this.#acknowledged === 0 && isRefusal(error, failure)) return this.#giveUp(why);
    // After each new stream the lists are read again: a stream that the server ends at once must not cause this often.
    if (!isNew && performance.now() - this.#agreedAt > upstreamLimits.listenHeldMs) this.#failures = 0;
    const waitMs = Math.min(
      upstreamLimits.backOffFirstMs * 2 ** Math.min(this.#failures++, 10),
      upstreamLimits.backOffMaxMs,
    );
    this.#options.log.debug('the stream of changes ended; it is opened again', { why, inMs: waitMs });
    this.#timer = setTimeout(() => this.#open(), waitMs).unref();
  }

  #giveUp(why: string): void {
    this.#state = 'unable';
    this.#heard?.();
    this.#options.log.debug('the server does not tell of changes', { why });
    for (const uri of this.#uris.keys()) this.#refuse(uri);
  }

  #refuse(uri: string): void {
    const wish = this.#uris.get(uri);
    this.#uris.delete(uri);
    this.#agreed.delete(uri);
    wish?.reject(cannotWatch(this.#options.server));
  }
}

interface Failure {
  /** The JSON-RPC error it was answered with; both undefined: it ended in order. */
  readonly error: Record<string, unknown> | undefined;
  readonly failure: HubError | undefined;
}

/** It will not be otherwise the next time. */
function isRefusal(error: Record<string, unknown> | undefined, failure: HubError | undefined): boolean {
  if (error) return error['code'] === rpcErrors.methodNotFound || error['code'] === rpcErrors.invalidParams;
  const status = failure?.cause instanceof HttpAnswer ? failure.cause.status : 0;
  return status === 404 || status === 405 || status === 501;
}

function newWish(): Wish {
  const wish = deferred<void>();
  // The caller may not wait for it any more.
  wish.promise.catch(() => undefined);
  return wish;
}
