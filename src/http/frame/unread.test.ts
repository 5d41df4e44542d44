import { expect, test } from 'vitest';
import { setLimits } from '../../../test/kit/limits.ts';
import { until } from '../../../test/kit/until.ts';
import { wireLimits } from '../../wire/limits.ts';
import { bodyChunks } from './unread.ts';

/** A body whose sender gives `pieces` of 1 kB and then waits, and what became of it. */
function sentBody(pieces: number) {
  const seen = { given: 0, closed: false };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (seen.given === pieces) return new Promise(() => undefined);
      seen.given++;
      controller.enqueue(new Uint8Array(1024));
    },
    cancel: () => void (seen.closed = true),
  });
  return { body, seen };
}

async function leaveAtFirst(body: ReadableStream<Uint8Array>): Promise<void> {
  for await (const _ of bodyChunks({ body })) return;
}

test('the rest of a body that is left is read away, and left open within the bounds', async () => {
  const { body, seen } = sentBody(64);
  await leaveAtFirst(body);
  await until('all is read', () => seen.given === 64);
  expect(seen.closed).toBe(false);
});

test.each([
  ['more than is read away', { lingerBytes: 8 * 1024 }, 64],
  ['for longer than is waited', { lingerMs: 1 }, 2],
])('the sender of a body that goes on %s is left', async (_, limits, pieces) => {
  setLimits(wireLimits, limits);
  const { body, seen } = sentBody(pieces);
  await leaveAtFirst(body);
  await until('it is closed', () => seen.closed);
});
