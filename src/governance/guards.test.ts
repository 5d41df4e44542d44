import { setMaxListeners } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { logLines } from '../../test/kit/channel-log.ts';
import { json, scriptedHttp } from '../../test/kit/scripted-http.ts';
import { until } from '../../test/kit/until.ts';
import type { GuardSettings } from '../core/settings/governance.ts';
import { createGuards } from './guards.ts';
import { governanceLimits } from './limits.ts';

// Longer than any test: what ends a question here is not its time.
const patient = {
  on: ['call'],
  servers: undefined,
  timeoutMs: 3_600_000,
  onFailure: 'refuse',
  secret: undefined,
} as const;

function guardsAt(origin: string) {
  const log = logLines();
  const guards = createGuards({ address: ({ url, secret }) => ({ url, secret }), log });
  onTestFinished(() => guards.close());
  const guard: GuardSettings = { ...patient, name: 'one', url: origin };
  return { guards, guard, log };
}

test('a question ends with its caller, and so does its connection', async () => {
  const server = await scriptedHttp(() => undefined);
  const { guards, guard } = guardsAt(server.origin);
  const left = new AbortController();
  const asked = guards.ask(guard, '{}', left.signal);
  await until('it is asked', () => server.open.size === 1);
  left.abort();
  await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
  await until('the connection is closed', () => server.open.size === 0);
  await expect(guards.ask(guard, '{}', left.signal)).rejects.toMatchObject({ code: 'cancelled' });
  expect(server.seen).toHaveLength(1);
});

test('questions to one address share so many connections, and past a number of them none is asked', async () => {
  const server = await scriptedHttp(() => undefined);
  const { guards, guard } = guardsAt(server.origin);
  const left = new AbortController();
  setMaxListeners(0, left.signal);
  const { guardConnections, guardWaiting } = governanceLimits;
  const asked = Array.from({ length: guardWaiting }, () => guards.ask(guard, '{}', left.signal).catch(() => 'ended'));
  await until('all connections are open', () => server.open.size === guardConnections);
  expect(await guards.ask(guard, '{}', left.signal)).toMatchObject({ kind: 'failed' });
  expect(server.seen).toHaveLength(guardConnections);
  left.abort();
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['ended']));
  const { signal } = new AbortController();
  const another = await scriptedHttp((_, response) => json(response, { decision: 'allow' }));
  expect(await guards.ask({ ...guard, url: another.origin }, '{}', signal)).toEqual({
    kind: 'text',
    text: '{"decision":"allow"}',
  });
});

test('that a guard does not work is logged once, and that it works again', () => {
  const { guards, guard, log } = guardsAt('http://127.0.0.1:9/');
  const away = { why: 'is away', code: 'unreachable' } as const;
  for (const why of [away, away, undefined, undefined, away]) guards.noted(guard, why);
  expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'info', 'warn']);
});

test('that a guard without an id does not work is said of no other that takes its place', () => {
  const { guards, guard } = guardsAt('http://127.0.0.1:9/');
  const first = { ...guard, name: '1' };
  const second = { ...guard, name: '2', url: 'http://127.0.0.1:10/' };
  guards.noted(first, { why: 'is away', code: 'unreachable' });
  expect(guards.failure(first)).toMatchObject({ failing: 'is away', code: 'unreachable' });
  expect(guards.failure({ ...second, name: '1' })).toBeUndefined();
  expect(guards.failure({ ...first, name: '2' })).toMatchObject({ failing: 'is away' });
});

test('a guard that was given another address is not said to fail as it did before', () => {
  const { guards, guard } = guardsAt('http://127.0.0.1:9/');
  guards.noted(guard, { why: 'is away', code: 'unreachable' });
  expect(guards.failure(guard)).toMatchObject({ failing: 'is away' });
  expect(guards.failure({ ...guard, url: 'http://127.0.0.1:10/' })).toBeUndefined();
});
