import { expect, test } from 'vitest';
import { HubError } from '../../core/errors.ts';
import { StatusTracker } from './status.ts';

const connecting = {
  kind: 'connecting',
  attempts: 0,
  phase: 'handshake',
  phaseSince: 0,
  isWaiting: false,
  isWaking: false,
  error: undefined,
} as const;
const mail = { name: 'mail', transport: { type: 'streamable-http' } } as const;
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('who waits for a server goes on waiting when a second attempt follows the first at once', async () => {
  const tracker = new StatusTracker({ server: mail, changed() {} }, () => undefined);
  tracker.set(connecting);
  const waiting = tracker.available(60_000);
  tracker.set(connecting);
  await turn();
  tracker.set({ kind: 'connected', sinceMs: Date.now(), tookMs: 1 });
  await waiting;
});

test('no caller waits longer than they asked to, or for a server that is not about to be there', async () => {
  const tracker = new StatusTracker({ server: mail, changed() {} }, () => undefined);
  tracker.set(connecting);
  await expect(tracker.available(1)).rejects.toMatchObject({
    code: 'upstream_unavailable',
    message: 'Server "mail" is still connecting. Try again in a moment.',
  });
  const waiting = tracker.available(60_000);
  const error = new HubError('upstream_unavailable', 'It ended with code 1.');
  tracker.set({ kind: 'disconnected', error, attempts: 1, nextRetryAt: Date.now() + 1_000 });
  await expect(waiting).rejects.toThrow('Server "mail" is not connected: It ended with code 1. Next attempt in');
});

test('the session with a server is over once it is not connected any more; a REST API has none', () => {
  const ended: string[] = [];
  for (const type of ['stdio', 'openapi'] as const) {
    const options = {
      server: { name: type, transport: { type } },
      changed() {},
      sessionEnded: ({ server }: { server: string | undefined }) => void ended.push(server ?? ''),
    };
    const tracker = new StatusTracker(options, () => undefined);
    tracker.set({ kind: 'connected', sinceMs: Date.now(), tookMs: 1 });
    tracker.set({ kind: 'stopped' });
  }
  expect(ended).toEqual(['stdio']);
});
