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
  readonly hello: Pool;
  readonly calls: Way;
  readonly streams: Way;
}

export function createPeer({ id, urls }: Pick<HubRow, 'id' | 'urls'>, options: PeerOptions): Peer {
  const { changed } = options;
  let reached: Reached | undefined;
  let state: HelloState | undefined;
  let clockAhead = 0;
  let misses = 0;
  let leavingSince: number | undefined;
  let isClosed = false;
  let looking: Promise<void> | undefined;

  function drop(): void {
    const was = reached;
    reached = undefined;
    if (!was) return;
    end(was);
    changed(peer);
  }

  async function ask(on: Pool, leaving = ''): Promise<boolean> {
    const answer = await askHub(on, { id, leaving, ...options }).catch(() => undefined);
    if (!answer) return false;
    state = answer;
    clockAhead = answer.now - performance.now();
    return true;
  }

  async function look(): Promise<void> {
    if (reached) {
      misses = (await ask(reached.hello)) ? 0 : misses + 1;
      if (misses >= replicaLimits.helloMisses && !isEnding()) drop();
    } else if (leavingSince === undefined) {
      const found = await reach(urls, ask);
      if (!found) return;
      if (isClosed || leavingSince !== undefined) return end(found);
      reached = found;
      misses = 0;
      changed(peer);
    }
  }

  /** One that stops takes no new connection, and still answers what it has: that is not cut. */
  function isEnding(): boolean {
    if (leavingSince === undefined || peer.passing === 0) return false;
    return performance.now() - leavingSince < replicaLimits.leavingMs;
  }

  const peer: Peer = {
    id,
    address: undefined,
    get passing() {
      return reached ? reached.calls.underWay + reached.streams.underWay : 0;
    },
    get isReachable() {
      return reached !== undefined && leavingSince === undefined;
    },
    get isLeaving() {
      return reached !== undefined && leavingSince !== undefined;
    },
    get isSettled() {
      return state?.isSettled === true;
    },
    way: (isStream) => (isStream ? reached?.streams : reached?.calls),
    get at() {
      return performance.now() + clockAhead;
    },
    look: () => (looking ??= look().finally(() => (looking = undefined))),
    failed() {
      if (!reached) return Promise.resolve();
      // One connection says little about the others: that hub is asked, and one more miss is enough.
      misses = replicaLimits.helloMisses - 1;
      return peer.look();
    },
    leaves() {
      if (leavingSince !== undefined) return;
      leavingSince = performance.now();
      changed(peer);
    },
    async sayGoodbye() {
      if (reached) await ask(reached.hello, '1');
    },
    close() {
      isClosed = true;
      drop();
    },
  };
  return peer;
}

/** By the first of its addresses that proves to be it. */
async function reach(urls: readonly string[], proves: (hello: Pool) => Promise<boolean>): Promise<Reached | undefined> {
  for (const origin of urls.map(originOf)) {
    if (origin === undefined) continue;
    const { passedCalls, passedStreams } = replicaLimits;
    const reached = {
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
