import { expect, test, vi } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { newClosers } from '../core/closers.ts';
import type { ServerState, ServerStatus } from '../core/hub.ts';
import { createServerReadiness } from './server-readiness.ts';

function servers(...first: ServerStatus[]) {
  let statuses = first;
  const closers = newClosers();
  const readiness = createServerReadiness(
    () => statuses.map((status, i): ServerState => ({ name: `s${i}`, status, tools: 0, prompts: 0, resources: 0 })),
    closers,
  );
  return { readiness, closers, become: (...next: ServerStatus[]) => (statuses = next) };
}

/** Whether it has resolved by now. */
const hasCome = (promise: Promise<void>) =>
  Promise.race([promise.then(() => true), new Promise((resolve) => setImmediate(() => resolve(false)))]);

test('servers of which none is connecting have settled, whatever became of them', async () => {
  expect(await hasCome(servers('connected', 'disconnected', 'oauth_required', 'disabled').readiness.settled(1e6))).toBe(
    true,
  );
  expect(await hasCome(servers().readiness.settled(1e6))).toBe(true);
});

test('who waits hears at the look that finds none connecting', async () => {
  const { readiness, become } = servers('connecting', 'connecting');
  const waiting = [readiness.settled(1e6), readiness.settled(1e6)];
  become('connected', 'connecting');
  readiness.look();
  expect(await hasCome(Promise.race(waiting))).toBe(false);
  become('connected', 'disconnected');
  readiness.look();
  expect(await hasCome(Promise.all(waiting).then(() => undefined))).toBe(true);
});

test('a caller that can do with some that still connect waits for the others only', async () => {
  const { readiness, become } = servers('connecting', 'connecting', 'connecting');
  const [some, all] = [readiness.settled(1e6, 1), readiness.settled(1e6)];
  become('connected', 'connecting', 'connecting');
  readiness.look();
  expect(await hasCome(some)).toBe(false);
  become('connected', 'connected', 'connecting');
  readiness.look();
  expect(await hasCome(some)).toBe(true);
  expect(await hasCome(all)).toBe(false);
  expect(await hasCome(readiness.settled(1e6, 1))).toBe(true);
});

test('no caller waits longer than they asked to; what waits begins no more once the hub closes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  atEnd(() => void vi.useRealTimers());
  const { readiness, closers, become } = servers('connecting');
  const first = readiness.settled(50);
  vi.advanceTimersByTime(49);
  expect(await hasCome(first)).toBe(false);
  vi.advanceTimersByTime(1);
  expect(await hasCome(first)).toBe(true);
  const waiting = readiness.settled(50);
  await closers.close();
  become('connected');
  readiness.look();
  vi.runAllTimers();
  expect(await hasCome(waiting)).toBe(false);
});
