import { errorText, HubError } from '../../core/errors.ts';
import { limits } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import type { Ask } from '../exchange.ts';
import { refusal } from '../refusal.ts';

/** How one kind of server is told which resources somebody wants to hear of: `resources/subscribe` before 2026-07-28, `subscriptions/listen` since. */
export interface WatchMethods {
  /** Resolves when the server agreed. Throws HubError. */
  begin(uri: string): Promise<void>;
  /** Nobody wants it any more. Never throws. */
  end(uri: string): void;
}

/**
 * The resources of one connection that somebody wants to hear of, counted: the server is asked once for each, however many clients do, and again after every
 * reconnect.
 */
export class Watches {
  readonly #log: Logger;
  readonly #counts = new Map<string, { count: number; begun: Promise<void> | undefined }>();
  #methods: WatchMethods | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Those that somebody wants to hear of now. */
  get uris(): readonly string[] {
    return [...this.#counts.keys()];
  }

  /** Counts one up. Throws HubError when the server refuses; it is not counted then. While the server is away it is asked later, with no answer. */
  async add(uri: string): Promise<void> {
    const watch = this.#counts.get(uri) ?? { count: 0, begun: undefined };
    this.#counts.set(uri, watch);
    watch.count++;
    if (!this.#methods) return;
    const begun = (watch.begun ??= this.#methods.begin(uri));
    try {
      await begun;
    } catch (error) {
      // Meanwhile the server may have been asked anew, or nobody want it any more.
      if (watch.begun === begun) watch.begun = undefined;
      if (this.#counts.get(uri) === watch) this.remove(uri);
      throw error;
    }
  }

  /** Counts one down; with the last one the server is told. */
  remove(uri: string): void {
    const watch = this.#counts.get(uri);
    if (!watch || --watch.count > 0) return;
    this.#counts.delete(uri);
    if (watch.begun) this.#methods?.end(uri);
  }

  /** The server is there (again), and to be asked like this. `undefined`: it cannot be asked, or is gone. */
  use(methods: WatchMethods | undefined): void {
    this.#methods = methods;
    for (const [uri, watch] of this.#counts) {
      watch.begun = methods?.begin(uri);
      watch.begun?.catch((error: unknown) => {
        this.#log.warn('changes of a resource can no longer be heard', { uri, error: errorText(error) });
      });
    }
  }
}

/** How a server of the session era is told which resources somebody wants to hear of. */
export function subscribing(ask: Ask): WatchMethods {
  const tell = async (method: string, uri: string): Promise<void> => {
    const { message } = await ask(method, JSON.stringify({ uri }), limits.subscribeAnswerMs);
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
