import type { HubId } from '../core/hub-id.ts';
import type { Logger } from '../core/logger.ts';
import type { HubRow } from './hub-table.ts';
import { replicaLimits } from './limits.ts';
import type { Passes } from './pass.ts';
import { createPeer, type Peer } from './peer.ts';

/** Where a hub is, as another one sees it. */
export type HubPlace = 'here' | 'reachable' | 'leaving' | 'silent' | 'unreachable' | 'gone';

/** The other hubs that have the same secret. */
export interface Peers {
  get(id: HubId): Peer | undefined;
  placeOf(id: HubId): HubPlace;
  /** Whether one of them asked from this address. */
  isAt(address: string): boolean;
  /** Those that may take over what belonged to others. */
  heirs(): HubId[];
  readonly size: number;
  /** How many have not said that they stop, and how many can be reached. */
  counts(): { readonly known: number; readonly reachable: number };
  /** What the table has now. */
  learn(rows: readonly HubRow[]): void;
  /** Asks each whether it is there. */
  look(): void;
  /** Tells each that this hub stops. */
  sayGoodbye(): Promise<unknown>;
  /** Says nothing more in the log: this hub stops. */
  quiet(): void;
  close(): void;
}

export interface PeersOptions {
  readonly own: HubId;
  /** `secretHash` of the secret of this hub. */
  readonly ownHash: string;
  readonly passes: Passes;
  readonly log: Logger;
}

/** What is wrong with hubs that share a database and not the secret. */
export const differentSecrets =
  'Another hub on this database has another JWT_SECRET: logins and sessions count only at the hub where they began, and what one of them sealed in the database the other cannot read. Set the same JWT_SECRET for all hubs on one DB_URL, or give this one another database';

export function createPeers({ own, ownHash, passes, log }: PeersOptions): Peers {
  const peers = new Map<HubId, Peer>();
  const strangers = new Set<HubId>();
  let isQuiet = false;

  const changed = (peer: Peer): void => {
    if (isQuiet || !peers.has(peer.id)) return;
    const text = peer.isReachable ? 'Another hub can be reached' : 'Another hub can no longer be reached';
    log.info(text, { hub: peer.id });
  };

  function tellOfStranger({ id, version }: HubRow): void {
    if (strangers.has(id) || strangers.size >= replicaLimits.hubs) return;
    strangers.add(id);
    log.error(differentSecrets, { hub: id, version });
  }

  function add(row: HubRow): void {
    if (row.id === own || !row.isThere || peers.has(row.id)) return;
    if (row.secretHash !== ownHash) return tellOfStranger(row);
    const peer = createPeer(row, { own, passes, changed });
    peers.set(row.id, peer);
    void peer.look();
  }

  return {
    get: (id) => peers.get(id),
    placeOf(id) {
      const peer = peers.get(id);
      if (!peer) return 'gone';
      if (peer.isReachable) return 'reachable';
      return peer.isLeaving ? 'leaving' : peer.isSilent ? 'silent' : 'unreachable';
    },
    isAt: (address) => [...peers.values()].some((peer) => peer.address === address),
    heirs: () => [...peers.values()].filter((one) => one.isReachable && one.isSettled).map(({ id }) => id),
    get size() {
      return peers.size;
    },
    counts() {
      const all = [...peers.values()];
      const known = all.filter(({ saidGoodbye }) => !saidGoodbye).length;
      return { known, reachable: all.filter(({ isReachable }) => isReachable).length };
    },
    learn(rows) {
      for (const row of rows) add(row);
      for (const peer of peers.values()) {
        const row = rows.find(({ id }) => id === peer.id);
        // A row that is missing says little: the table may have been emptied. One that stops says so itself.
        const isThere = row?.isThere === true;
        // One that stops ends what is under way there.
        if (isThere || peer.isReachable || peer.isLeaving || peer.passing > 0) continue;
        peers.delete(peer.id);
        peer.close();
      }
    },
    look() {
      for (const peer of peers.values()) void peer.look();
    },
    sayGoodbye: () => Promise.all([...peers.values()].map((peer) => peer.sayGoodbye())),
    quiet: () => void (isQuiet = true),
    close() {
      for (const peer of peers.values()) peer.close();
      peers.clear();
    },
  };
}
