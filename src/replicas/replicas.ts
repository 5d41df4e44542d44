import { setTimeout as sleep } from 'node:timers/promises';
import { heirOf, type HubId } from '../core/hub-id.ts';
import type { Logger } from '../core/logger.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { helloAnswer, helloIn } from './hello.ts';
import { hubsChannel, hubTable } from './hub-table.ts';
import { replicaLimits } from './limits.ts';
import { createNews, type News } from './news.ts';
import { createPasses, type PassedRequest, secretHash } from './pass.ts';
import { type NotPassed, type Passed, type Passing, passOn } from './pass-on.ts';
import { createPeers, type HubPlace } from './peers.ts';

/**
 * The other hubs on the same database (decisions/0085): who is there, what is passed on to them, what all are told.
 */
export interface Replicas {
  /** Of this hub. */
  readonly id: HubId;
  placeOf(id: HubId): HubPlace;
  /** The hub, among those that can be reached now and this one, that takes over what belonged to one that is gone. */
  heirOf(key: string): HubId;
  /** Passes a request on to a hub that is `reachable`; its answer comes from there. Returns why it cannot, if so. */
  passOn(hub: HubId, passing: Passing): NotPassed | undefined;
  /** Tells all other hubs. */
  tell(news: News): void;
  /** Called with what other hubs tell. */
  onNews(heard: (news: News) => void): void;
  /** The pass of a request: undefined where it has a bad one. */
  checkPass(request: PassedRequest): { readonly address: string | undefined } | undefined;
  /** The answer to a hub that asks whether this one is there, from `address`; undefined for all others. */
  hello(url: string, address: string | undefined): string | undefined;
  /** Whether another hub asked from this address: it has connections for all of its clients. */
  isHubAt(address: string): boolean;
  /**
   * Hubs with the same secret, this one included, and how many of them can be reached. One that said that it stops is
   * none of them: it is no fault that it is not there.
   */
  counts(): { readonly known: number; readonly reachable: number };
}

export interface ReplicasOptions {
  readonly id: HubId;
  /** `JWT_SECRET`, or what stands for it: only hubs with the same one speak with each other. */
  readonly secret: string;
  readonly version: string;
  readonly database: DatabaseHandle;
  readonly log: Logger;
}

/** Not part of any group until `join`. */
export interface OpenReplicas extends Replicas {
  /**
   * This hub listens at these addresses: from now on the others may pass requests on to it. Once its servers are
   * `settled`, it may take over sessions of other hubs.
   */
  join(urls: readonly string[], settled: Promise<void>): void;
  /**
   * This hub stops: the others begin nothing more here. Waits for calls, and for answers to what servers have asked in
   * them, within a bound: `waiting` says how many there are.
   */
  leave(waiting: () => number): Promise<void>;
  /** Ends the streams that are passed on. */
  readonly streams: { close(): void };
  close(): void;
}

export function createReplicas(options: ReplicasOptions): OpenReplicas {
  const { id, secret, version, database, log } = options;
  const passes = createPasses(secret, id);
  const ownHash = secretHash(secret);
  const passed = new Set<Passed>();
  let heard = (_news: News): void => undefined;
  const news = createNews({ own: id, database, log, heard: (one) => heard(one) });
  let left = false;
  let isSettled = false;
  let beating: Promise<void> | undefined;
  let table: ReturnType<typeof hubTable> | undefined;

  const peers = createPeers({ own: id, ownHash, passes, log });

  function beat(): Promise<void> {
    return (beating ??= (table?.beat() ?? Promise.resolve(undefined))
      .then((rows) => {
        if (rows && !left) peers.learn(rows);
      })
      .finally(() => (beating = undefined)));
  }

  const timers = [
    setInterval(() => void beat(), replicaLimits.heartbeatMs).unref(),
    setInterval(() => peers.look(), replicaLimits.helloEveryMs).unref(),
  ];
  const stopHearing = database.listen(hubsChannel, (which) => {
    if (which !== id) void (beating ?? Promise.resolve()).then(beat);
  });

  return {
    id,
    placeOf: (hub) => (hub === id ? 'here' : peers.placeOf(hub)),
    heirOf: (key) => heirOf(key, isSettled ? [id, ...peers.heirs()] : peers.heirs()) ?? id,
    passOn(hub, passing) {
      const peer = peers.get(hub);
      return peer ? passOn(peer, passing, passes, passed) : 'unreachable';
    },
    tell: (one) => news.tell(one),
    onNews: (listener) => void (heard = listener),
    checkPass: (request) => passes.check(request),
    isHubAt: (address) => peers.isAt(address),
    hello(url, address) {
      const asked = table && helloIn(url, passes);
      if (!asked) return undefined;
      const peer = peers.get(asked.from);
      if (peer) peer.address = address;
      if (asked.isLeaving) peer?.leaves();
      return helloAnswer(id, asked.nonce, { now: performance.now(), isSettled }, passes);
    },
    counts() {
      const { known, reachable } = peers.counts();
      return { known: known + 1, reachable: reachable + 1 };
    },
    join(urls, settled) {
      void settled.then(() => (isSettled = true));
      table = hubTable(database, { id, urls, secretHash: ownHash, version });
      void beat();
    },
    async leave(waiting) {
      left = true;
      peers.quiet();
      for (const timer of timers) clearInterval(timer);
      stopHearing();
      const goodbyes = peers.sayGoodbye();
      const late = new Promise<void>((resolve) => setTimeout(resolve, replicaLimits.goodbyeMs).unref());
      await Promise.race([Promise.all([goodbyes, table?.leave()]), late]);
      if (peers.size > 0) await sleep(replicaLimits.lastRequestsMs);
      const until = performance.now() + (peers.size > 0 ? replicaLimits.lastAnswersMs : 0);
      while (waiting() > 0 && performance.now() < until) await sleep(replicaLimits.lastAnswersLookMs);
    },
    streams: { close: () => passed.forEach((one) => one.endStream()) },
    close() {
      for (const timer of timers) clearInterval(timer);
      stopHearing();
      news.close();
      peers.close();
    },
  };
}
