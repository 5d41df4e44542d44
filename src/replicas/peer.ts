import type { Pool } from 'undici';
import type { HubId } from '../core/hub-id.ts';
import { askHub, type HelloState } from './hello.ts';
import type { HubRow } from './hub-table.ts';
import { replicaLimits } from './limits.ts';
import type { Passes } from './pass.ts';
import { helloPool, originOf, Way } from './way.ts';

/**
 * Another hub on the same database. It counts as reachable from the moment it has proven that it is the hub which the
 * table names, and holds the same secret: an address alone proves nothing.
 */
export interface Peer {
  readonly id: HubId;
  readonly isReachable: boolean;
  /** It is about to stop: what is under way there is still passed on to it. */
  readonly isLeaving: boolean;
  /** It said that it stops, and may have ended since. */
  readonly saidGoodbye: boolean;
  /**
   * It has missed questions, and what was sent to it before may still be answered: nothing more is begun there, and
   * what only it has is still passed on to it.
   */
  readonly isSilent: boolean;
  /** Its servers are connected, as far as they will: it may take over sessions. */
  readonly isSettled: boolean;
  /** Connections to it, for streams or for all else; undefined while it is not reachable. */
  way(isStream: boolean): Way | undefined;
  /** Its clock now. */
  readonly at: number;
  /** How many requests are passed on to it now. */
  readonly passing: number;
  /** Where its last question came from. */
  address: string | undefined;
  /** Asks it whether it is there. Never rejects. */
  look(): Promise<void>;
  /** A request could not be sent, or broke off. Resolves once it is known whether it is there; never rejects. */
  failed(): Promise<void>;
  /** It says that it stops: nothing more is begun there; what is under way ends. */
  leaves(): void;
  /** Tells it that this hub stops. Never rejects. */
  sayGoodbye(): Promise<void>;
  close(): void;
}

export interface PeerOptions {
  readonly own: HubId;
  readonly passes: Passes;
  /** It became reachable, or no longer is. */
  readonly changed: (peer: Peer) => void;
}

/** Connections to a hub that has proven to be there. */
interface Reached {
  readonly origin: string;
  readonly hello: Pool;
  readonly calls: Way;
  readonly streams: Way;
}

export function createPeer(row: Pick<HubRow, 'id' | 'urls'>, options: PeerOptions): Peer {
  return new OtherHub(row, options);
}

class OtherHub implements Peer {
  readonly id: HubId;
  address: string | undefined = undefined;
  readonly #urls: readonly string[];
  readonly #options: PeerOptions;
  #reached: Reached | undefined;
  #state: HelloState | undefined;
  #clockAhead = 0;
  #misses = 0;
  #leavingSince: number | undefined;
  #silentSince: number | undefined;
  #isClosed = false;
  #looking: Promise<void> | undefined;

  constructor({ id, urls }: Pick<HubRow, 'id' | 'urls'>, options: PeerOptions) {
    this.id = id;
    this.#urls = urls;
    this.#options = options;
  }

  get passing(): number {
    return this.#reached ? this.#reached.calls.underWay + this.#reached.streams.underWay : 0;
  }

  get isReachable(): boolean {
    return this.#reached !== undefined && this.#leavingSince === undefined && this.#silentSince === undefined;
  }

  get isLeaving(): boolean {
    return this.#reached !== undefined && this.#leavingSince !== undefined;
  }

  get saidGoodbye(): boolean {
    return this.#leavingSince !== undefined;
  }

  get isSilent(): boolean {
    return this.#reached !== undefined && this.#silentSince !== undefined;
  }

  get isSettled(): boolean {
    return this.#state?.isSettled === true;
  }

  get at(): number {
    return performance.now() + this.#clockAhead;
  }

  way(isStream: boolean): Way | undefined {
    return isStream ? this.#reached?.streams : this.#reached?.calls;
  }

  look(): Promise<void> {
    return (this.#looking ??= this.#look().finally(() => (this.#looking = undefined)));
  }

  failed(): Promise<void> {
    if (!this.#reached) return Promise.resolve();
    // One connection says little about the others: that hub is asked, and one more miss is enough.
    this.#misses = replicaLimits.helloMisses - 1;
    return this.look();
  }

  leaves(): void {
    if (this.#leavingSince !== undefined) return;
    this.#leavingSince = performance.now();
    this.#options.changed(this);
  }

  async sayGoodbye(): Promise<void> {
    if (this.#reached) await this.#ask(this.#reached.hello, '1');
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  async #look(): Promise<void> {
    if (this.#reached) {
      if (await this.#ask(this.#reached.hello)) return this.#answered();
      this.#misses++;
      if (this.#misses >= replicaLimits.helloMisses && !this.#isEnding) this.#missed();
    } else if (this.#leavingSince === undefined) {
      const found = await reach(this.#urls, (hello) => this.#ask(hello));
      if (!found) return;
      if (this.#isClosed || this.#isLeavingNow()) return end(found);
      this.#reached = found;
      this.#misses = 0;
      this.#options.changed(this);
    }
  }

  async #ask(on: Pool, leaving = ''): Promise<boolean> {
    const answer = await askHub(on, { id: this.id, leaving, ...this.#options }).catch(() => undefined);
    if (!answer) return false;
    this.#state = answer;
    this.#clockAhead = answer.now - performance.now();
    return true;
  }

  #answered(): void {
    this.#misses = 0;
    if (this.#silentSince === undefined) return;
    this.#silentSince = undefined;
    this.#options.changed(this);
  }

  /**
   * A hub that gets no CPU for a moment misses questions, and does what it was asked all the same: calls there are not
   * cut at once. Streams are: their clients come back, and may be served elsewhere.
   */
  #missed(): void {
    const reached = this.#reached;
    if (!reached || this.#leavingSince !== undefined) return this.#drop();
    if (this.#silentSince === undefined) {
      this.#silentSince = performance.now();
      this.#reached = { ...reached, streams: new Way(reached.origin, replicaLimits.passedStreams) };
      reached.streams.destroy();
      this.#options.changed(this);
    }
    if (this.passing === 0 || performance.now() - this.#silentSince >= replicaLimits.silentMs) this.#drop();
  }

  #drop(): void {
    const reached = this.#reached;
    const isKnown = this.#silentSince !== undefined;
    this.#reached = undefined;
    this.#silentSince = undefined;
    if (!reached) return;
    end(reached);
    if (!isKnown) this.#options.changed(this);
  }

  /** It may have said so while it was waited for. */
  #isLeavingNow(): boolean {
    return this.#leavingSince !== undefined;
  }

  /** One that stops takes no new connection, and still answers what it has: that is not cut. */
  get #isEnding(): boolean {
    if (this.#leavingSince === undefined || this.passing === 0) return false;
    return performance.now() - this.#leavingSince < replicaLimits.leavingMs;
  }
}

/** By the first of its addresses that proves to be it. */
async function reach(urls: readonly string[], proves: (hello: Pool) => Promise<boolean>): Promise<Reached | undefined> {
  for (const origin of urls.map(originOf)) {
    if (origin === undefined) continue;
    const { passedCalls, passedStreams } = replicaLimits;
    const reached = {
      origin,
      hello: helloPool(origin),
      calls: new Way(origin, passedCalls),
      streams: new Way(origin, passedStreams),
    };
    if (await proves(reached.hello)) return reached;
    end(reached);
  }
  return undefined;
}

function end({ hello, calls, streams }: Reached): void {
  calls.destroy();
  streams.destroy();
  void hello.destroy().catch(() => undefined);
}
