import { HubError } from '../../../core/errors.ts';
import { upstreamLimits } from '../../limits.ts';
import type { Eras } from './era.ts';
import { isStillStateless } from './negotiate.ts';
import type { Ask } from '../exchange.ts';

/** What is needed of the link to a server to see whether it still speaks as it did. */
export interface WatchedLink {
  readonly ask: Ask;
  readonly isStateless: boolean;
}

export interface EraWatchOptions<Link> {
  /** Whether the server is connected through this link. */
  readonly isUp: (link: Link) => boolean;
  /** The protocol has to be negotiated with the server again. */
  readonly changed: (error: HubError) => void;
}

/**
 * Notices that a connected server speaks in another era than the negotiated one: it was replaced by another version of
 * itself.
 */
export class EraWatch<Link extends WatchedLink> {
  readonly #server: string;
  readonly #eras: Eras;
  readonly #options: EraWatchOptions<Link>;
  #doubtedAt = -Infinity;

  constructor(server: string, eras: Eras, options: EraWatchOptions<Link>) {
    this.#server = server;
    this.#eras = eras;
    this.#options = options;
  }

  /** Asks for a sign of life. Throws HubError when there is none. */
  async ping(link: Link): Promise<void> {
    if (!link.isStateless) return void (await link.ask('ping', undefined, upstreamLimits.keepAliveAnswerMs));
    // There is no ping without sessions; this every server answers.
    if (!(await this.#isStateless(link))) throw this.#speaksOtherwise(link);
  }

  /**
   * Something does not fit the negotiated era. Whether the era has really changed is asked at most every
   * `upstreamLimits.eraDoubtMs`.
   */
  async doubt(link: Link): Promise<void> {
    const now = performance.now();
    if (!this.#eras.both || !this.#options.isUp(link) || now - this.#doubtedAt < upstreamLimits.eraDoubtMs) return;
    this.#doubtedAt = now;
    if (link.isStateless && (await this.#isStateless(link).catch(() => true))) return;
    if (this.#options.isUp(link)) this.#options.changed(this.#speaksOtherwise(link));
  }

  #isStateless(link: Link): Promise<boolean> {
    return isStillStateless(link.ask, this.#server, upstreamLimits.keepAliveAnswerMs);
  }

  #speaksOtherwise(link: Link): HubError {
    this.#eras.changed(link.isStateless ? 'stateless' : 'session');
    const text = `Server "${this.#server}" speaks another revision of MCP than before; it is connected again.`;
    return new HubError('upstream_unavailable', text);
  }
}
