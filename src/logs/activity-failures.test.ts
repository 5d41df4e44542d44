import { describe, expect, test } from 'vitest';
import { call, databaseKinds, startActivity } from '../../test/kit/activity-log.ts';
import type { NewActivity } from '../core/activity.ts';
import { parseActivityListing } from './activity-filter.ts';

describe.each(databaseKinds)('%s', (kind) => {
  test('failed calls are told by cause, whatever id or time their text has, the most frequent first', async () => {
    const { activity, at, list } = await startActivity(kind);
    const failed = (
      minute: number,
      tool: string,
      errorMessage: string | undefined,
      more: Partial<NewActivity> = {},
    ) => {
      at(`2026-11-01T00:0${minute}:00Z`);
      activity.record(call({ tool, server: 'sentry', status: 'error', errorMessage, username: 'ann', ...more }));
    };
    failed(0, 'find', 'did not answer within 30 s', { status: 'timeout' });
    failed(1, 'find', '503 for request 4f1c8a5e-0b7e-4f0e-9d58-0d2f3c1f7a11 after 31 ms');
    failed(2, 'list', '503 for request 5f1c8a5e-0b7e-4f0e-9d58-0d2f3c1f7a12 after 1200 ms', { username: 'bob' });
    failed(3, 'list', '503 for request 6f1c8a5e-0b7e-4f0e-9d58-0d2f3c1f7a13 after 7 ms');
    failed(4, 'list', '404 for request 6f1c8a5e-0b7e-4f0e-9d58-0d2f3c1f7a13 after 7 ms');
    failed(5, 'find', undefined, { status: 'cancelled', server: 'mail' });
    activity.record(call({ server: 'sentry' }));
    const minute = (n: number) => `2026-11-01T00:0${n}:00.000Z`;
    const newest = (await list({ tool: 'list' })).data;
    const { causes } = await activity.failures({});
    expect(causes.map(({ server, status, cause, calls }) => [server, status, cause.slice(0, 3), calls])).toEqual([
      ['sentry', 'error', '503', 3],
      ['mail', 'cancelled', '', 1],
      ['sentry', 'error', '404', 1],
      ['sentry', 'timeout', 'did', 1],
    ]);
    expect(causes[0]).toMatchObject({
      cause: '503 for request 6f1c8a5e-0b7e-4f0e-9d58-0d2f3c1f7a13 after 7 ms',
      tools: ['list', 'find'],
      first: minute(1),
      last: minute(3),
      latest: newest[1]?.id,
    });
    const own = await activity.failures({ mine: { username: 'bob' } });
    expect(own.causes.map(({ calls, tools }) => [calls, tools])).toEqual([[1, ['list']]]);
    expect((await activity.failures({ status: 'timeout' })).causes).toHaveLength(1);
    expect((await list({ failed: 'true' })).pagination.total).toBe(6);
  });

  test('an id or a time in each text makes no cause of its own, however many calls failed', async () => {
    const { activity } = await startActivity(kind);
    const many = 1_500;
    for (let n = 0; n < many; n += 1) {
      const text = [
        `no answer to ${100_000 + n}`,
        `late by ${n} ms: 503`,
        `${n.toString(16).padStart(12, '0')} is gone`,
      ];
      activity.record(call({ server: 'sentry', status: 'error', errorMessage: text[n % 3] }));
      // What waits to be written is bounded.
      if (n % 500 === 499) await activity.list({ ...parseActivityListing({}) });
    }
    const { causes } = await activity.failures({});
    expect(causes.map(({ calls }) => calls)).toEqual([500, 500, 500]);
  });

  test('a call that began before an account was made is not that account’s, when it ends later', async () => {
    const { activity, at } = await startActivity(kind);
    const mine = { username: 'ann', since: new Date('2026-11-01T12:00:00Z') };
    at('2026-11-01T12:00:01Z');
    activity.record(call({ tool: 'of the one before', username: 'ann', durationMs: 1_001 }));
    activity.record(call({ tool: 'own', username: 'ann', durationMs: 1_000 }));
    const { data } = await activity.list({ ...parseActivityListing({}), mine });
    expect(data.map(({ tool }) => tool)).toEqual(['own']);
    expect((await activity.choices(mine)).tools).toEqual(['own']);
  });
});
