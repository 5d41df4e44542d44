import { errorText, HubError } from '../../../core/errors.ts';
import type { Logger } from '../../../core/logger.ts';
import { type Ask, refusal } from '../exchange.ts';
import { upstreamLimits } from '../../limits.ts';

/**
 * How one kind of server is told which resources clients watch: `resources/subscribe` before 2026-07-28,
 * `subscriptions/listen` since.
 */
export interface WatchMethods {
  /** Resolves when the server agreed. Throws HubError. */
  begin(uri: string): Promise<void>;
  /** No client watches it any more. Never throws. */
  end(uri: string): void;
}

interface Watch {
  count: number;
  /** What the server was asked, unless it did not agree. */
  begun: Promise<void> | undefined;
  /** How often in a row it did not answer. */
  failures: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * The resources of one connection that clients watch, counted: the server is asked once for each, however many clients
 * watch it, and again after every reconnect. A server that does not answer then is asked until it does, with longer and
 * longer pauses.
 */
export class Watches {
  readonly #log: Logger;
  readonly #counts = new Map<string, Watch>();
  #methods: WatchMethods | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Those that clients watch now. */
  get uris(): readonly string[] {
    return [...this.#counts.keys()];
  }

  /**
   * Counts one up. Throws HubError when the server refuses; it is not counted then. While the server is away it is
   * asked later, with no answer.
   */
  async add(uri: string): Promise<void> {
    const watch = this.#counts.get(uri) ?? { count: 0, begun: undefined, failures: 0, timer: undefined };
    this.#counts.set(uri, watch);
    watch.count++;
    if (!this.#methods) return;
    try {
      await (watch.begun ?? this.#begin(uri, watch, this.#methods));
    } catch (error) {
      if (this.#counts.get(uri) === watch) this.remove(uri);
      throw error;
    }
  }

  /** Counts one down; with the last one the server is told. */
  remove(uri: string): void {
    const watch = this.#counts.get(uri);
    if (!watch || --watch.count > 0) return;
    this.#counts.delete(uri);
    clearTimeout(watch.timer);
    if (watch.begun) this.#methods?.end(uri);
  }

  /** The server is there (again), and to be asked like this. `undefined`: it cannot be asked, or is gone. */
  use(methods: WatchMethods | undefined): void {
    this.#methods = methods;
    for (const [uri, watch] of this.#counts) {
      clearTimeout(watch.timer);
      watch.begun = undefined;
      watch.failures = 0;
      if (methods) this.#again(uri, watch, methods);
    }
  }

  /** Asks again for a resource that clients watch already. */
  #again(uri: string, watch: Watch, methods: WatchMethods): void {
    this.#begin(uri, watch, methods).catch((error: unknown) => {
      const level = watch.failures > 1 ? 'debug' : 'warn';
      this.#log[level]('changes of a resource can no longer be heard', { uri, error: errorText(error) });
    });
  }

  #begin(uri: string, watch: Watch, methods: WatchMethods): Promise<void> {
    const begun = methods.begin(uri);
    watch.begun = begun;
    const agreed = (): void => void (watch.failures = 0);
    begun.then(agreed, (error: unknown) => {
      // Meanwhile the server may have been asked again, or no client may watch it any more.
      if (watch.begun !== begun || this.#counts.get(uri) !== watch) return;
      watch.begun = undefined;
      // What it refused it would refuse again.
      if (error instanceof HubError && error.code === 'invalid_input') return;
      const waitMs = Math.min(
        upstreamLimits.subscribeRetryFirstMs * 2 ** watch.failures++,
        upstreamLimits.subscribeRetryMostMs,
      );
      clearTimeout(watch.timer);
      watch.timer = setTimeout(() => {
        if (!watch.begun) this.#again(uri, watch, methods);
      }, waitMs).unref();
    });
    return begun;
  }
}

/** How a server of the session era is told which resources clients watch. */
export function subscribing(ask: Ask): WatchMethods {
  const tell = async (method: string, uri: string): Promise<void> => {
    const { message } = await ask(method, JSON.stringify({ uri }), upstreamLimits.subscribeAnswerMs);
    if (message.error !== undefined)
      throw new HubError('invalid_input', `${method} was refused: ${refusal(message.error)}`);
  };
  return {
    begin: (uri) => tell('resources/subscribe', uri),
    end: (uri) => void tell('resources/unsubscribe', uri).catch(() => undefined),
  };
}

/** What is answered for a server that does not tell of changes. */
export function cannotWatch(server: string): HubError {
  return new HubError('invalid_input', `Server "${server}" does not tell of changes of its resources.`);
}
