import { EventEmitter, once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { beforeEach, expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { logLines } from '../../test/kit/channel-log.ts';
import { setLimits } from '../../test/kit/limits.ts';
import { until } from '../../test/kit/until.ts';
import { helloAnswer, helloIn, helloPath } from './hello.ts';
import { replicaLimits } from './limits.ts';
import { createPasses } from './pass.ts';
import { type Passed, passOn } from './pass-on.ts';
import { createPeer, type Peer } from './peer.ts';
import { createPeers } from './peers.ts';

// One hub, and another one of which only the HTTP side is there.

const [own, other] = ['aaaaaaaa', 'bbbbbbbb'];
const passes = createPasses('a secret', own);
const theirs = createPasses('a secret', other);
const open = new Set<Passed>();

beforeEach(() => setLimits(replicaLimits, { helloMs: 20_000 }));

/** Answers what a hub asks of another, and keeps all other requests until they are answered. */
async function otherHub() {
  const waiting: ServerResponse[] = [];
  let isMute = false;
  const answer: RequestListener = ({ url = '' }, res) => {
    if (!url.startsWith(helloPath)) return void waiting.push(res);
    if (isMute) return;
    const asked = helloIn(url, theirs);
    res.end(helloAnswer(other, asked?.nonce ?? '', { now: performance.now(), isSettled: true }, theirs));
  };
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => server.closeAllConnections());
  atEnd(() => void server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    waiting,
    mute: () => void (isMute = true),
    /** Takes no new connection; those that are open stay. */
    refuse: () => void NetServer.prototype.close.call(server),
    closeAll: () => server.closeAllConnections(),
  };
}

async function reached(url: string): Promise<Peer> {
  const peer = createPeer({ id: other, urls: [url] }, { own, passes, changed: () => undefined });
  atEnd(() => peer.close());
  await peer.look();
  expect(peer.isReachable).toBe(true);
  return peer;
}

/** A response whose client takes what it is sent, or nothing. */
function client({ reads = true, destroyed = false } = {}) {
  const told = new EventEmitter();
  const seen = { status: 0, text: '', isEnded: false, failed: [] as boolean[] };
  return {
    seen,
    headersSent: false,
    destroyed,
    writableLength: 0,
    writeHead(status: number) {
      this.headersSent = true;
      seen.status = status;
    },
    flushHeaders: () => undefined,
    setTimeout: () => undefined,
    write(chunk: Buffer, taken?: () => void) {
      seen.text += chunk.toString();
      if (reads) taken?.();
      return reads;
    },
    end(chunk?: Buffer) {
      seen.text += chunk?.toString() ?? '';
      seen.isEnded = true;
    },
    on: (event: 'close', listener: () => void) => told.on(event, listener),
    destroy() {
      this.destroyed = true;
      told.emit('close');
    },
  };
}

function pass(peer: Peer, res: ReturnType<typeof client>, method = 'POST', owner = 'ann') {
  const failed = (sent: boolean) => void res.seen.failed.push(sent);
  const request = { method, url: '/mcp', headers: {} };
  return passOn(peer, { request, res, body: undefined, address: undefined, owner, failed }, passes, open);
}

test('a client that takes nothing of its answer is dropped, and its place is free', async () => {
  setLimits(replicaLimits, { unreadMs: 20 });
  const hub = await otherHub();
  const peer = await reached(hub.url);
  const res = client({ reads: false });
  pass(peer, res);
  const there = await until('the request is there', () => hub.waiting[0]);
  there.write('x'.repeat(100_000));
  await until('it is dropped', () => res.destroyed);
  expect(peer.passing).toBe(0);
  await until('the other hub knows', () => there.destroyed);
});

test('a request whose client has left already is not passed on', async () => {
  const hub = await otherHub();
  const peer = await reached(hub.url);
  expect(pass(peer, client({ destroyed: true }))).toBeUndefined();
  expect(peer.passing).toBe(0);
});

test('calls and streams have places of their own, and one owner takes half of them at most', async () => {
  setLimits(replicaLimits, { passedCalls: 4, passedStreams: 2 });
  const hub = await otherHub();
  const peer = await reached(hub.url);
  const calls = ['ann', 'ann', 'ann', 'bob', 'bob', 'eve'].map((owner) => pass(peer, client(), 'POST', owner));
  expect(calls).toEqual([undefined, undefined, 'full', undefined, undefined, 'full']);
  expect(['ann', 'bob', 'eve'].map((owner) => pass(peer, client(), 'GET', owner))).toEqual([
    undefined,
    undefined,
    'full',
  ]);
  await until('all are there', () => hub.waiting.length === 6);
  // The question whether it is there waits for none of them.
  for (let i = 0; i < replicaLimits.helloMisses; i++) await peer.look();
  expect(peer.isReachable).toBe(true);
  hub.waiting.forEach((res) => res.end('done'));
  await until('all places are free', () => peer.passing === 0);
  expect(pass(peer, client(), 'POST', 'ann')).toBeUndefined();
});

test('a hub that does not answer any more is found out', async () => {
  const hub = await otherHub();
  const peer = await reached(hub.url);
  setLimits(replicaLimits, { helloMs: 20 });
  hub.mute();
  // More questions than there are connections for them.
  for (let i = 0; i < 4; i++) await peer.look();
  expect(peer.isReachable).toBe(false);
});

test('a hub that answers late is begun with nothing more, and what it has is not cut until it was silent for long', async () => {
  const hub = await otherHub();
  const peer = await reached(hub.url);
  const [first, second] = [client(), client()];
  // One after the other: over two connections the stream may arrive first.
  pass(peer, first);
  const there = await until('the call is there', () => hub.waiting[0]);
  pass(peer, client(), 'GET');
  const stream = await until('the stream is there', () => hub.waiting[1]);
  setLimits(replicaLimits, { helloMs: 20 });
  hub.mute();
  for (let i = 0; i < replicaLimits.helloMisses; i++) await peer.look();
  expect([peer.isReachable, peer.isSilent]).toEqual([false, true]);
  await until('its stream has ended', () => stream.destroyed);
  // The end of the stream asks once more: missed while nothing is under way, it would end the way to the hub.
  await peer.look();
  // What only it has still goes there.
  pass(peer, second);
  const answer = await until('the second is there', () => hub.waiting[2]);
  there.end('done');
  answer.end('done too');
  await until('both are answered', () => first.seen.isEnded && second.seen.isEnded);
  expect([first.seen, second.seen]).toMatchObject([
    { text: 'done', failed: [] },
    { text: 'done too', failed: [] },
  ]);
  const last = client();
  pass(peer, last);
  await until('the last is there', () => hub.waiting[3]);
  setLimits(replicaLimits, { silentMs: 0 });
  await peer.look();
  await until('it is cut', () => last.seen.failed.length > 0);
  expect([peer.isSilent, last.seen.failed]).toEqual([false, [true]]);
});

test('a connection that fails breaks nothing that is under way, and its request counts as not sent', async () => {
  const hub = await otherHub();
  const peer = await reached(hub.url);
  const [first, second] = [client(), client()];
  pass(peer, first);
  const there = await until('the request is there', () => hub.waiting[0]);
  hub.refuse();
  pass(peer, second);
  await until('the second failed', () => second.seen.failed.length > 0);
  expect(second.seen.failed).toEqual([false]);
  expect(peer.isReachable).toBe(true);
  there.end('done');
  await until('the first is answered', () => first.seen.isEnded);
  expect(first.seen).toMatchObject({ status: 200, text: 'done', failed: [] });
});

test('what broke off after it was sent counts as sent', async () => {
  const hub = await otherHub();
  const peer = await reached(hub.url);
  const res = client();
  pass(peer, res);
  await until('the request is there', () => hub.waiting[0]);
  hub.closeAll();
  await until('it failed', () => res.seen.failed.length > 0);
  expect(res.seen.failed).toEqual([true]);
});

test('of a hub that stops, what is under way there is not cut; then it is dropped', async () => {
  const hub = await otherHub();
  const peer = await reached(hub.url);
  const [first, second] = [client(), client()];
  pass(peer, first);
  const there = await until('the request is there', () => hub.waiting[0]);
  peer.leaves();
  hub.mute();
  hub.refuse();
  setLimits(replicaLimits, { helloMs: 20 });
  pass(peer, second);
  await until('the second failed', () => second.seen.failed.length > 0);
  for (let i = 0; i < replicaLimits.helloMisses; i++) await peer.look();
  expect(peer.isLeaving).toBe(true);
  there.end('done');
  await until('the first is answered', () => first.seen.isEnded);
  expect(first.seen).toMatchObject({ text: 'done', failed: [] });
  await peer.look();
  expect(peer.isLeaving).toBe(false);
});

test('a hub whose row is missing is still asked, and does not count as one that stops', async () => {
  const hub = await otherHub();
  const peers = createPeers({ own, ownHash: 'hash', passes, log: logLines() });
  atEnd(() => peers.close());
  const row = { id: other, urls: [hub.url], secretHash: 'hash', version: '1', isThere: true };
  peers.learn([row]);
  await until('it is reachable', () => peers.placeOf(other) === 'reachable');
  peers.learn([]);
  expect(peers.placeOf(other)).toBe('reachable');
  peers.get(other)?.leaves();
  peers.learn([row]);
  expect(peers.placeOf(other)).toBe('leaving');
});
