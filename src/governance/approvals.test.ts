import { setMaxListeners } from 'node:events';
import { beforeEach, describe, expect, test } from 'vitest';
import { question } from '../../test/kit/approval-question.ts';
import { atEnd } from '../../test/kit/at-end.ts';
import { cpuMsUntil } from '../../test/kit/cpu.ts';
import { databaseWaitMs, emptyDatabase } from '../../test/kit/databases.ts';
import { setLimits } from '../../test/kit/limits.ts';
import { until } from '../../test/kit/until.ts';
import { type Approval, approvalsInMemory, type ApprovalStore } from './approval-store.ts';
import { approvalsInTable } from './approvals-in-table.ts';
import { forwardClock } from '../core/forward-clock.ts';
import { type ApprovalQuestion, createApprovals } from './approvals.ts';
import { governanceLimits } from './limits.ts';

// Each for the questions of one hub, and for two hubs on one database.

const stores: Record<string, () => Promise<ApprovalStore[]>> = {
  memory: async () => [approvalsInMemory()],
  table: async () => {
    const database = await emptyDatabase('postgres');
    await (await database.whenReady(databaseWaitMs)).query('delete from toolhub.approvals');
    return [approvalsInTable(database), approvalsInTable(database)];
  },
};

describe.each(Object.keys(stores))('questions kept in the %s', (kind) => {
  let at: number;
  let told: string[];
  let hubs: ReturnType<typeof createApprovals>[];
  beforeEach(async () => {
    at = Date.parse('2026-11-25T12:00:00Z');
    told = [];
    setLimits(governanceLimits, { approvalLookMs: 5 });
    const tell = (one: Approval) => void told.push(`${one.state} ${one.arguments}`);
    hubs = ((await stores[kind]?.()) ?? []).map((store) =>
      createApprovals({ store, lifeMs: () => 600_000, asked: tell, decided: tell, expired: tell }, () => at),
    );
    for (const hub of hubs) atEnd(() => hub.close());
  });

  const first = () => hubs[0] as (typeof hubs)[0];
  const last = () => hubs.at(-1) as (typeof hubs)[0];
  const staying = () => new AbortController().signal;
  const list = async () => (await last().list()).map(({ state, arguments: args }) => `${state} ${args}`);

  test('that no one answers are told of once when they expire, whether their call still waits or not', async () => {
    const left = new AbortController();
    const waits = first().approved(question('waits'), staying());
    const gone = first().approved(question('gone'), left.signal);
    await until('both are asked', async () => (await list()).length === 2);
    left.abort();
    await expect(gone).rejects.toMatchObject({ code: 'cancelled' });
    at += 600_000;
    await expect(waits).rejects.toMatchObject({ code: 'approval' });
    await until('both are told of', () => told.filter((one) => one.startsWith('expired')).length >= 2);
    expect((await list()).toSorted()).toEqual(['expired {"text":"gone"}', 'expired {"text":"waits"}']);
    // Whichever hub comes next has nothing left to tell.
    const asked = first().approved(question('next'), staying());
    await until('the next is asked', () => told.includes('waiting {"text":"next"}'));
    await last().decide((await last().list())[0]?.id ?? '', 'approve', 'bob', () => true);
    await asked;
    expect(told.toSorted()).toEqual([
      'approved {"text":"next"}',
      'expired {"text":"gone"}',
      'expired {"text":"waits"}',
      'waiting {"text":"gone"}',
      'waiting {"text":"next"}',
      'waiting {"text":"waits"}',
    ]);
  });

  const yes = async (text: string) => {
    const asked = first().approved(question(text), staying());
    await until('it is asked', async () => (await list()).includes(`waiting {"text":"${text}"}`));
    const waiting = (await last().waiting()).find((one) => one.state === 'waiting');
    await last().decide(waiting?.id ?? '', 'approve', 'bob', () => true);
    return asked;
  };

  test('that a call used up which was not made let the same call pass once more, while the yes is good', async () => {
    const id = await yes('x');
    await first().giveBack(id);
    expect(await list()).toEqual(['approved {"text":"x"}']);
    expect(await last().approved(question('x'), staying())).toBe(id);
    expect(await list()).toEqual(['used {"text":"x"}']);
    at += 600_000;
    await first().giveBack(id);
    expect(await list()).toEqual(['used {"text":"x"}']);
  });

  test('that were used up let each later round of their call pass once, for the same call, and not for ever', async () => {
    const approvals = [await yes('other'), await yes('x')];
    const pass = (use: string, text = 'x') => last().passRound(question(text), { approvals, use });
    expect(await first().passRound(question('x'), { approvals, use: 'one' })).toBe(approvals[1]);
    expect(await pass('one')).toBeUndefined();
    // It was not sent.
    await first().giveBack(approvals[1] ?? '', 'one');
    expect([await pass('one'), await pass('one')]).toEqual([approvals[1], undefined]);
    expect(await pass('two')).toBe(approvals[1]);
    expect(await pass('three', 'third')).toBeUndefined();
    expect(await last().passRound(question('x'), { approvals: approvals.slice(0, 1), use: 'four' })).toBeUndefined();
    setLimits(governanceLimits, { approvalRounds: 3 });
    expect([await pass('five'), await pass('six')]).toEqual([approvals[1], undefined]);
    setLimits(governanceLimits, { approvalRounds: 100 });
    at += 600_000;
    expect(await pass('seven')).toBeUndefined();
  });

  test('that were asked again meanwhile are not given back: a later no counts', async () => {
    const id = await yes('x');
    const again = first().approved(question('x'), staying());
    again.catch(() => undefined);
    await until('it is asked again', async () => (await last().waiting()).length === 1);
    await last().decide((await last().waiting())[0]?.id ?? '', 'deny', 'bob', () => true);
    await first().giveBack(id);
    await expect(again).rejects.toMatchObject({ code: 'approval' });
    await expect(last().approved(question('x'), staying())).rejects.toMatchObject({ code: 'approval' });
  });
});

test('a yes that is used up after the caller has left is given back', async () => {
  const store = approvalsInMemory();
  const left = new AbortController();
  const use: ApprovalStore['use'] = async (id, now) => {
    left.abort();
    return store.use(id, now);
  };
  const hub = createApprovals({ store: { ...store, use }, lifeMs: () => 600_000 });
  atEnd(() => hub.close());
  const call = hub.approved(question('x'), left.signal);
  await until('it waits', async () => (await hub.waiting()).length === 1);
  const id = (await hub.waiting())[0]?.id ?? '';
  await hub.decide(id, 'approve', 'bob', () => true);
  await expect(call).rejects.toMatchObject({ code: 'cancelled' });
  await until('it is given back', async () => (await hub.list())[0]?.state === 'approved');
  expect(await hub.approved(question('x'), new AbortController().signal)).toBe(id);
});

describe.each(Object.keys(stores))('questions of many callers kept in the %s', (kind) => {
  test('are listed, decided one by one, and no more are taken', async () => {
    const at = Date.parse('2026-11-25T12:00:00Z');
    const store = (await stores[kind]?.())?.[0];
    if (!store) throw new Error('no store');
    let looks = 0;
    const counted: ApprovalStore = {
      ...store,
      find: async (id) => {
        looks += 1;
        return store.find(id);
      },
    };
    const hub = createApprovals({ store: counted, lifeMs: () => 600_000 }, () => at);
    atEnd(() => hub.close());
    const left = new AbortController();
    const long = 'x'.repeat(governanceLimits.approvalListChars);
    const ask = (i: number) => ({
      ...question(`${long} ${i}`),
      caller: `c${i % 1_000}`,
      principal: `u:\nc${i % 1_000}`,
    });
    setLimits(governanceLimits, { approvals: 300, approvalLookMs: 3_600_000 });
    const leaving = Array.from({ length: 299 }, () => new AbortController());
    const waits: Promise<unknown>[] = [];
    for (const [i, { signal }] of leaving.entries()) {
      waits.push(hub.approved(ask(i), signal).catch(() => 'left'));
      // All at once would wait for connections to the database longer than they may on a busy machine.
      if (i % 10 === 9) await until('those before it are kept', () => looks > i);
    }
    await until('all but one wait', async () => (await store.list(at)).length === 299);
    const last = hub.approved(ask(299), new AbortController().signal);
    await until('all wait', async () => (await store.list(at)).length === 300);
    await until('each has looked', () => looks >= 600);
    looks = 0;
    await expect(hub.approved(ask(300), left.signal)).rejects.toMatchObject({
      code: 'approval',
      message: expect.stringContaining('Try again later') as string,
      data: {},
      retryAfterMs: 30_000,
    });
    const listed = await hub.list();
    expect(listed).toHaveLength(300);
    expect(listed.every((one) => one.isCut && one.arguments.length === governanceLimits.approvalListChars)).toBe(true);
    const mine = listed.find(({ caller }) => caller === 'c299');
    await hub.decide(mine?.id ?? '', 'approve', 'bob', () => true);
    await last;
    // The call that it is about, and who decided: not each that waits.
    expect(looks).toBeLessThan(10);
    for (const one of leaving) one.abort();
    await Promise.all(waits);
  });
});

/** Ten thousand, as `governanceLimits.approvals` says. */
describe('as many questions as may wait', () => {
  const most = governanceLimits.approvals;
  const of = (i: number): ApprovalQuestion => ({
    ...question(`call ${i}`),
    caller: `c${i % 1_000}`,
    principal: `u:\nc${i % 1_000}`,
  });
  let at = 0;
  let expired: string[] = [];
  const open = (store: ApprovalStore) => {
    at = Date.parse('2026-11-25T12:00:00Z');
    expired = [];
    const tell = ({ id }: Approval) => void expired.push(id);
    const hub = createApprovals({ store, lifeMs: () => 600_000, expired: tell }, () => at);
    atEnd(() => hub.close());
    return hub;
  };
  const full = expect.objectContaining({
    code: 'approval',
    message: expect.stringContaining('Try again later') as string,
    data: {},
    retryAfterMs: governanceLimits.approvalRetryMs,
  }) as unknown;

  /** What holds however they are kept, once all wait. */
  async function holdsFor(hub: ReturnType<typeof open>): Promise<void> {
    const staying = new AbortController();
    await expect(hub.approved(of(most), staying.signal)).rejects.toEqual(full);
    const [listed, waiting] = [await hub.list(), await hub.waiting()];
    expect([listed.length, waiting.length]).toEqual([most, most]);
    expect(waiting[0]).toMatchObject({ who: 'admin', server: 'db', tool: 'query', state: 'waiting' });
    expect(waiting.map(({ id }) => id)).toEqual(listed.map(({ id }) => id));
    // One that is decided makes room for one more, and for no second.
    await hub.decide(waiting.at(-1)?.id ?? '', 'deny', 'bob', () => true);
    const more = hub.approved(of(most), staying.signal).catch((error: unknown) => error);
    await until('it waits', async () => (await hub.waiting()).length === most);
    await expect(hub.approved(of(most + 1), staying.signal)).rejects.toEqual(full);
    // All have waited too long: each is told of once.
    at += 600_000;
    await until('all have expired', () => expired.length >= most);
    expect([expired.length, new Set(expired).size]).toEqual([most, most]);
    expect(await more).toMatchObject({ code: 'approval' });
    expect(await hub.waiting()).toEqual([]);
    expect((await hub.list()).length).toBeLessThanOrEqual(governanceLimits.approvalsKept);
  }

  test('in memory: the last take as long as the first', async () => {
    setLimits(governanceLimits, { approvalLookMs: 50 });
    const hub = open(approvalsInMemory());
    const calls: Promise<unknown>[] = [];
    const slices: number[] = [];
    for (let from = 0; from < most; from += 1_000)
      slices.push(
        await cpuMsUntil(async () => {
          for (let i = from; i < from + 1_000; i++)
            calls.push(hub.approved(of(i), new AbortController().signal).catch((error: unknown) => error));
          await until('they wait', async () => (await hub.waiting()).length === from + 1_000);
        }),
      );
    // Where each question looked at all others the last thousand would take twenty times as long as the first.
    expect(Math.min(...slices.slice(-3))).toBeLessThan(6 * Math.max(...slices.slice(0, 3)));
    await holdsFor(hub);
    expect(await Promise.all(calls)).toEqual(Array(most).fill(expect.objectContaining({ code: 'approval' })));
  });

  test('in the database that hubs share', async () => {
    const database = await emptyDatabase('postgres');
    const db = await database.whenReady(databaseWaitMs);
    await db.query('delete from toolhub.approvals');
    setLimits(governanceLimits, { approvalLookMs: 50 });
    const hub = open(approvalsInTable(database));
    const left = new AbortController();
    const leaving = hub.approved(of(0), left.signal).catch((error: unknown) => error);
    await until('it waits', async () => (await hub.waiting()).length === 1);
    left.abort();
    expect(await leaving).toMatchObject({ code: 'cancelled' });
    // The others as calls of other hubs have left them, without ten thousand transactions.
    await db.query(
      `insert into toolhub.approvals (id, hash, caller, state, content, created_at, expires_at)
       select t.id, 'hash ' || i, 'c' || i % 1000, state, content || jsonb_build_object('id', t.id, 'caller', 'c' || i % 1000),
         created_at + i * interval '1 ms', expires_at
       from toolhub.approvals, generate_series(1, $1) as i, lateral (select gen_random_uuid() as id, i as each) as t`,
      [most - 1],
    );
    await holdsFor(hub);
    const [kept] = await db.query<{ all: number }>('select count(*)::int as all from toolhub.approvals');
    expect(kept?.all).toBeLessThanOrEqual(governanceLimits.approvalsKept);
  });
});

test('questions in memory end at a number of characters too', async () => {
  setLimits(governanceLimits, { approvalsChars: 100 });
  const hub = createApprovals({ store: approvalsInMemory(), lifeMs: () => 600_000 });
  atEnd(() => hub.close());
  const left = new AbortController();
  const first = hub.approved(question('x'.repeat(60)), left.signal);
  await until('it waits', async () => (await hub.list()).length === 1);
  await expect(hub.approved(question('y'.repeat(60)), left.signal)).rejects.toMatchObject({ code: 'approval' });
  left.abort();
  await expect(first).rejects.toMatchObject({ code: 'cancelled' });
});

test('a clock that is put back makes no question, and no yes, last longer', async () => {
  let clock = Date.parse('2026-11-25T12:00:00Z');
  let passed = 0;
  const now = forwardClock(
    () => clock,
    () => passed,
  );
  const hub = createApprovals({ store: approvalsInMemory(), lifeMs: () => 600_000 }, now);
  atEnd(() => hub.close());
  const left = new AbortController();
  const first = hub.approved(question('x'), left.signal);
  await until('it waits', async () => (await hub.list())[0]?.state === 'waiting');
  left.abort();
  await expect(first).rejects.toMatchObject({ code: 'cancelled' });
  await hub.decide((await hub.list())[0]?.id ?? '', 'approve', 'bob', () => true);
  clock -= 86_400_000;
  passed += 599_000;
  expect((await hub.list())[0]?.state).toBe('approved');
  passed += 1_000;
  expect((await hub.list())[0]?.state).toBe('expired');
});

test.each(Object.keys(stores))('in the %s no more of one caller wait than may, of many at one moment', async (kind) => {
  const { approvalsPerCaller: most } = governanceLimits;
  const hubs = ((await stores[kind]?.()) ?? []).map((store) => createApprovals({ store, lifeMs: () => 600_000 }));
  for (const hub of hubs) atEnd(() => hub.close());
  const left = new AbortController();
  setMaxListeners(0, left.signal);
  let waits = 0;
  const refused: unknown[] = [];
  const ask = async (i: number): Promise<void> => {
    await hubs[i % hubs.length]?.approved(question(`call ${i}`), left.signal, () => waits++);
  };
  const asked = Array.from({ length: 3 * most }, (_, i) => ask(i).catch((error: unknown) => void refused.push(error)));
  await until('each has an answer', () => waits + refused.length === asked.length);
  expect(waits).toBe(most);
  left.abort();
  await Promise.all(asked);
});

test('in the table no more wait than may, of many callers at one moment', async () => {
  const most = 30;
  setLimits(governanceLimits, { approvals: most });
  const hubs = ((await stores['table']?.()) ?? []).map((store) => createApprovals({ store, lifeMs: () => 600_000 }));
  for (const hub of hubs) atEnd(() => hub.close());
  const left = new AbortController();
  setMaxListeners(0, left.signal);
  let waits = 0;
  const refused: unknown[] = [];
  const ask = async (i: number): Promise<void> => {
    const of = { ...question(`call ${i}`), caller: `c${i}`, principal: `u:\nc${i}` };
    await hubs[i % hubs.length]?.approved(of, left.signal, () => waits++);
  };
  const asked = Array.from({ length: 3 * most }, (_, i) => ask(i).catch((error: unknown) => void refused.push(error)));
  await until('each has an answer', () => waits + refused.length === asked.length);
  expect(waits).toBe(most);
  left.abort();
  await Promise.all(asked);
});

test.each(Object.keys(stores))('in the %s names that PostgreSQL cannot keep are asked about too', async (kind) => {
  const [store] = (await stores[kind]?.()) ?? [];
  if (!store) throw new Error('no store');
  const hub = createApprovals({ store, lifeMs: () => 600_000 });
  atEnd(() => hub.close());
  const policy = { who: 'admin \0', policy: 'ask \0', message: 'may \0 it?' };
  const odd = { ...question('x'), ...policy, tool: 'nul \0', caller: 'half \ud800', client: '\0 \ud83d\ude00' };
  const call = hub.approved(odd, new AbortController().signal);
  await until('it waits', async () => (await hub.waiting()).length === 1);
  const [listed] = await hub.list();
  expect(listed).toMatchObject({ tool: 'nul \ufffd', caller: 'half \ufffd', client: '\ufffd \ud83d\ude00' });
  expect(listed).toMatchObject({ who: 'admin \ufffd', policy: 'ask \ufffd', message: 'may \ufffd it?' });
  await hub.decide(listed?.id ?? '', 'approve', 'bob', () => true);
  expect(await call).toBe(listed?.id);
});
