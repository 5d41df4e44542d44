import { randomBytes } from 'node:crypto';
import { Pool } from 'undici';
import { isObject } from '../core/protocol/rpc.ts';
import type { HubId } from '../core/hub-id.ts';
import type { HubRow } from './hub-table.ts';
import { replicaLimits } from './limits.ts';
import type { Passes } from './pass.ts';

/** Where a hub is asked whether it is the one that the table names. */
export const helloPath = '/health/hub';

/** The question of another hub, from the query of its request; undefined when it does not prove the secret. */
export function helloIn(url: string, passes: Passes): { nonce: string; from: HubId; isLeaving: boolean } | undefined {
  const query = new URLSearchParams(url.split('?', 2)[1] ?? '');
  const [nonce = '', from = '', leaving = '', mac = ''] = ['nonce', 'from', 'leaving', 'mac'].map(
    (name) => query.get(name) ?? '',
  );
  if (nonce.length > 64 || from.length > 64 || !passes.isMac('ask', askedText(nonce, from, leaving), mac))
    return undefined;
  return { nonce, from, isLeaving: leaving === '1' };
}

/** What is answered to it: which hub this is, its clock, and whether its servers are connected, as far as they will. */
export function helloAnswer(id: HubId, nonce: string, state: HelloState, passes: Passes): string {
  return JSON.stringify({ id, ...state, mac: passes.mac('answer', answerText(id, nonce, state)) });
}

interface HelloState {
  readonly now: number;
  readonly isSettled: boolean;
}

function askedText(nonce: string, from: HubId, leaving: string): string {
  return [nonce, from, leaving].join('\n');
}

function answerText(id: HubId, nonce: string, { now, isSettled }: HelloState): string {
  return [nonce, id, String(now), String(isSettled)].join('\n');
}

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
  /** Connections to it; undefined while it is not reachable. */
  readonly pool: Pool | undefined;
  /** Its clock now. */
  readonly at: number;
  /** How many requests are passed on to it now. */
  passing: number;
  /** Asks it whether it is there. Never rejects. */
  look(): Promise<void>;
  /** A request could not be sent, or broke off. */
  failed(isUnsent: boolean): void;
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

export function createPeer({ id, urls }: Pick<HubRow, 'id' | 'urls'>, { own, passes, changed }: PeerOptions): Peer {
  let pool: Pool | undefined;
  let clockAhead = 0;
  let misses = 0;
  let [isLeaving, isSettled, isClosed] = [false, false, false];
  let looking: Promise<void> | undefined;

  function drop(): void {
    const was = pool;
    pool = undefined;
    if (!was) return;
    // What waits for its answer would wait for ever where nothing says that the connection is gone.
    void was.destroy().catch(() => undefined);
    changed(peer);
  }

  async function ask(on: Pool, leaving = ''): Promise<boolean> {
    const nonce = randomBytes(16).toString('base64url');
    const mac = passes.mac('ask', askedText(nonce, own, leaving));
    const path = `${helloPath}?${new URLSearchParams({ nonce, from: own, leaving, mac }).toString()}`;
    const signal = AbortSignal.timeout(replicaLimits.helloMs);
    // A name without a dot: it passes the other hub's list of hosts wherever that is reached.
    const { statusCode, body } = await on.request({ method: 'GET', path, headers: { host: 'hub' }, signal });
    const text = statusCode === 200 ? await body.text() : (await body.dump(), '{}');
    const answer: unknown = text.length > 1_000 ? undefined : JSON.parse(text);
    if (!isObject(answer) || answer['id'] !== id || typeof answer['now'] !== 'number') return false;
    const state = { now: answer['now'], isSettled: answer['isSettled'] === true };
    if (!passes.isMac('answer', answerText(id, nonce, state), String(answer['mac']))) return false;
    clockAhead = state.now - performance.now();
    isSettled = state.isSettled;
    return true;
  }

  /** The first of its addresses that proves to be it. */
  async function find(): Promise<Pool | undefined> {
    for (const url of urls) {
      const tried = openPool(url);
      if (!tried) continue;
      if (await ask(tried).catch(() => false)) return tried;
      void tried.destroy().catch(() => undefined);
    }
    return undefined;
  }

  async function look(): Promise<void> {
    if (pool) {
      misses = (await ask(pool).catch(() => false)) ? 0 : misses + 1;
      if (misses >= replicaLimits.helloMisses) drop();
      return;
    }
    const found = await find();
    if (!found) return;
    if (isClosed || isLeaving) return void found.destroy().catch(() => undefined);
    misses = 0;
    pool = found;
    changed(peer);
  }

  const peer: Peer = {
    id,
    passing: 0,
    get isReachable() {
      return pool !== undefined && !isLeaving;
    },
    get isLeaving() {
      return pool !== undefined && isLeaving;
    },
    get isSettled() {
      return isSettled;
    },
    get pool() {
      return pool;
    },
    get at() {
      return performance.now() + clockAhead;
    },
    look: () => (looking ??= (isLeaving && !pool ? Promise.resolve() : look()).finally(() => (looking = undefined))),
    failed(isUnsent) {
      // Nothing listens there any more.
      if (isUnsent) drop();
      misses = replicaLimits.helloMisses - 1;
      void peer.look();
    },
    leaves() {
      if (isLeaving) return;
      isLeaving = true;
      changed(peer);
    },
    async sayGoodbye() {
      if (pool) await ask(pool, '1').catch(() => false);
    },
    close() {
      isClosed = true;
      drop();
    },
  };
  return peer;
}

/** Undefined for what is no address of a hub: the table may have been written by anything. */
function openPool(url: string): Pool | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username !== '') return undefined;
  return new Pool(parsed.origin, {
    connections: replicaLimits.passedAtOnce,
    pipelining: 1,
    connect: { timeout: replicaLimits.connectMs },
    keepAliveTimeout: replicaLimits.idleMs,
    keepAliveMaxTimeout: replicaLimits.idleMs,
    // A call may take minutes, and a stream hours; each side ends what it began.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}
