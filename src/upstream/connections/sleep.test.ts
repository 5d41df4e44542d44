import { expect, test } from 'vitest';
import { setLimits } from '../../../test/kit/limits.ts';
import { connectionTo, type Script, silent } from '../../../test/kit/scripted-channel.ts';
import { until, within } from '../../../test/kit/until.ts';
import { HubError } from '../../core/errors.ts';
import { coreLimits } from '../../core/limits.ts';
import { upstreamLimits } from '../limits.ts';
import type { Connection } from './connection.ts';
import { promised } from './exchange.ts';
import type { ConnectionOptions } from './options.ts';
import { isCallable, waitsForCall } from './status.ts';

/** A server that starts on demand. It has run before, unless the options say otherwise. */
async function onDemand(script: Script = {}, options: Partial<ConnectionOptions> = {}) {
  setLimits(upstreamLimits, { idleLeastMs: 1, busyLookMs: 1, backOffFirstMs: 1 });
  const first = connectionTo({});
  await first.kind('connected');
  const known = first.connection.offer;
  await first.connection.stop();
  return { ...connectionTo(script, { idleMs: 20, known, ...options }), known };
}

const called = (connection: Connection, method = 'tools/call') =>
  connection
    .available(5_000)
    .then(() => promised((exchange) => connection.send(connection.takeId(), method, '{}', exchange)));

const calls = (methods: unknown[] | undefined) => methods?.filter((method) => method === 'tools/call').length;

test('a server whose lists are known starts with its first call, and stops when it was idle', async () => {
  const { connection, lives, kind, known } = await onDemand();
  expect(connection.status.kind).toBe('asleep');
  expect(connection.offer).toBe(known);
  expect(lives).toHaveLength(0);
  await within('the call', called(connection));
  expect(lives).toHaveLength(1);
  await kind('asleep');
  expect(connection.offer?.tools).toHaveLength(1);
});

test('a server that was never listed is started once to learn its lists', async () => {
  const { lives, kind } = await onDemand({}, { known: undefined });
  await kind('connected');
  await kind('asleep');
  expect(lives).toHaveLength(1);
});

test('fifty first calls start one process, and each is sent once', async () => {
  const { connection, lives } = await onDemand({}, { idleMs: 60_000 });
  await within('the calls', Promise.all(Array.from({ length: 50 }, () => called(connection))));
  expect(lives).toHaveLength(1);
  expect(calls(lives[0]?.methods())).toBe(50);
});

test('a call that comes while the process is being stopped waits for its end and starts the next one', async () => {
  let end: (() => void) | undefined;
  const closing = () => new Promise<void>((resolve) => (end = resolve));
  const { connection, lives, kind } = await onDemand({ closing });
  await called(connection);
  await kind('asleep');
  expect(lives).toHaveLength(1);
  const call = called(connection);
  await kind('connecting');
  expect(lives, 'two at once would fight over what is theirs').toHaveLength(1);
  end?.();
  await within('the call', call);
  expect(lives).toHaveLength(2);
  expect(lives.map((life) => calls(life.methods()))).toEqual([1, 1]);
  await until('the second one is stopped too', () => connection.status.kind === 'asleep');
  end?.();
});

test.each(['a call', 'a watched resource', 'what it keeps for a client'])('%s keeps it awake', async (what) => {
  let used = what === 'what it keeps for a client';
  const answers: Script['answers'] = ({ method }) =>
    method === 'tools/call' && what === 'a call' ? silent : undefined;
  const { connection, lives, kind } = await onDemand({ answers }, { inUse: () => used });
  if (what === 'a watched resource') await connection.watch('x://one');
  else await connection.available(0);
  const id = connection.takeId();
  const call = promised((exchange) => connection.send(id, 'tools/call', '{}', exchange));
  // The time of a sleep has come many times over when another server has slept and run as often.
  const other = await onDemand();
  for (let n = 0; n < 3; n++) {
    await called(other.connection);
    await other.kind('asleep');
  }
  expect(connection.status.kind).toBe('connected');
  if (what === 'a call') connection.cancel(id, 'enough');
  else await call;
  connection.unwatch('x://one');
  used = false;
  await kind('asleep');
  expect(lives).toHaveLength(1);
});

test('a start that fails is told to all who wait, and the next call tries again after a moment', async () => {
  let broken = true;
  const answers: Script['answers'] = ({ method }, server) => {
    if (method !== 'initialize' || !broken) return undefined;
    server.events.closed(new HubError('upstream_unavailable', 'It ended at once.'));
    return silent;
  };
  setLimits(upstreamLimits, { onDemandRetryMs: 1 });
  const { connection, lives, kind } = await onDemand({ answers });
  // Long: only a call tries again.
  setLimits(upstreamLimits, { backOffFirstMs: 600_000 });
  const answered = await Promise.allSettled([called(connection), called(connection), called(connection)]);
  for (const one of answered) expect(one).toMatchObject({ reason: { code: 'upstream_unavailable' } });
  expect(answered.map((one) => String((one as PromiseRejectedResult).reason))).toEqual(
    answered.map(() => expect.stringContaining('It ended at once.')),
  );
  expect(lives.length).toBeLessThanOrEqual(2);
  expect(connection.status.kind).toBe('disconnected');
  broken = false;
  await until('a call gets through', () => called(connection).then(() => true));
  expect(calls(lives.at(-1)?.methods())).toBe(1);
  await kind('asleep');
});

test('right after a failed start calls are refused at once, not tried one after the other', async () => {
  const answers: Script['answers'] = ({ method }, server) => {
    if (method !== 'initialize') return undefined;
    server.events.closed(new HubError('upstream_unavailable', 'It ended at once.'));
    return silent;
  };
  const { connection, lives } = await onDemand({ answers });
  setLimits(upstreamLimits, { backOffFirstMs: 600_000, onDemandRetryMs: 600_000 });
  const refused = () => expect(called(connection)).rejects.toMatchObject({ code: 'upstream_unavailable' });
  await refused();
  // A server that ends at a question that it may not know is started once more, and asked in another way.
  const starts = lives.length;
  for (let n = 0; n < 3; n++) await refused();
  expect(lives).toHaveLength(starts);
});

test.each([false, true])(
  'after a failed start the clock starts it again only where it is needed: %j',
  async (needed) => {
    let broken = true;
    const answers: Script['answers'] = ({ method }, server) => {
      if (method !== 'initialize' || !broken) return undefined;
      server.events.closed(new HubError('upstream_unavailable', 'It ended at once.'));
      return silent;
    };
    setLimits(upstreamLimits, { onDemandRetryMs: 1 });
    const { connection, lives, kind } = await onDemand({ answers }, { inUse: () => needed });
    await expect(called(connection)).rejects.toThrow('It ended at once.');
    broken = !needed;
    if (needed) {
      await kind('connected');
      return;
    }
    await until('its time has come', () => waitsForCall(connection.status));
    expect([connection.status.kind, isCallable(connection.status)]).toEqual(['disconnected', true]);
    broken = false;
    const starts = lives.length;
    await until('a call gets through', () => called(connection).then(() => true));
    expect(lives).toHaveLength(starts + 1);
  },
);

test('a program that ends by itself while it is idle sleeps; one that ends soon after its start is broken', async () => {
  const { connection, lives, kind } = await onDemand({}, { idleMs: 600_000 });
  await called(connection);
  lives[0]?.events.closed(new HubError('upstream_unavailable', 'It ended.'));
  await kind('disconnected');
  await kind('connected');
  setLimits(coreLimits, { backOffResetMs: -1 });
  lives[1]?.events.closed(new HubError('upstream_unavailable', 'It was bored.'));
  await kind('asleep');
  expect(lives).toHaveLength(2);
});

test('the settings decide from one moment to the next', async () => {
  const { connection, lives, kind } = await onDemand();
  connection.sleepAfter(undefined);
  await kind('connected');
  expect(lives).toHaveLength(1);
  connection.sleepAfter(20);
  await kind('asleep');
});

test('a server that is stopped while it wakes up says so to those who wait', async () => {
  const { connection, kind } = await onDemand({
    answers: ({ method }) => (method === 'initialize' ? silent : undefined),
  });
  const call = called(connection);
  await kind('connecting');
  await connection.stop();
  await expect(call).rejects.toThrow('was stopped');
});
