import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ann, pass, type Process, withClock } from '../../../test/kit/pipe-processes.ts';
import type { Principal } from '../../core/access/principal.ts';
import { upstreamLimits } from '../limits.ts';

// Calls of clients without a session at a server over a pipe: one that may ask goes to a process of its own while the
// shared one is at work on another (decisions/0094). `?a` is such a client, `??a` one that never answers.

type Parties = Parameters<Parameters<typeof withClock>[0]>[0];

/** The process at work on the newest call. */
function newest({ running }: Parties) {
  const one = running().at(-1);
  if (!one) throw new Error('nothing runs');
  return one;
}

/** A call that asks, in whatever process it is; which, and who was asked. */
async function asks(set: Parties, client: string, options?: Parameters<Parties['call']>[1]): Promise<Process> {
  const by = await set.call(client, options);
  const { process, call } = set.running().find(({ call }) => call.by === by) ?? newest(set);
  process.ask(call);
  return process;
}

const told = ({ asked }: Parties) => asked.map(({ who, meant }) => who === meant);

test('while a call waits for its client, the next one that may ask has a process of its own, and is asked', () =>
  withClock(async (set) => {
    const shared = await asks(set, '??left');
    const own = await asks(set, '??other');
    expect(own).not.toBe(shared);
    const third = await asks(set, '?third');
    expect([shared, own]).not.toContain(third);
    expect(told(set)).toEqual([true, true, true]);
  }));

test('so has one of a tool that never ran, which otherwise stays where the others are', () =>
  withClock(async (set) => {
    await set.call('?busy', { called: 'slow' });
    const refused = await asks(set, '?first');
    refused.answer(newest(set).call);
    await set.call('?new', { called: 'new' });
    expect(set.processes).toHaveLength(1);
    for (const { process, call } of set.running()) process.answer(call);
    await asks(set, '??left');
    await set.call('?newer', { called: 'newer' });
    expect(set.processes).toHaveLength(2);
  }));

test('what never asked stays where it is, however many are at work: it costs no process', () =>
  withClock(async (set) => {
    for (let n = 0; n < 5; n++) await set.call('?busy', { called: 'quiet' });
    expect(set.processes).toHaveLength(1);
    for (const { process, call } of set.running()) process.answer(call);
    // The server asks in another tool, and waits; this one is known to ask nothing.
    await asks(set, '??left');
    await set.call('?busy', { called: 'quiet' });
    expect(set.processes).toHaveLength(1);
  }));

test('what ran when another tool asked has a process of its own once, and then the shared one again', () =>
  withClock(async (set) => {
    await set.call('?quiet', { called: 'quiet' });
    await asks(set, '?one');
    for (const { process, call } of set.running()) process.answer(call);
    await asks(set, '??left');
    const run = async (): Promise<Process> => {
      const by = await set.call('?quiet', { called: 'quiet' });
      const { process, call } = set.running().find(({ call }) => call.by === by) ?? newest(set);
      process.answer(call);
      return process;
    };
    expect(await run()).not.toBe(set.processes[0]);
    expect(await run()).toBe(set.processes[0]);
  }));

test('a question that could not be told apart is refused, and the next call of that tool goes elsewhere', () =>
  withClock(async (set) => {
    await set.call('?busy', { called: 'slow' });
    const first = await asks(set, '?first');
    expect(set.asked).toEqual([]);
    expect(first).toBe(set.processes[0]);
    expect(await asks(set, '?again')).not.toBe(first);
    expect(told(set)).toEqual([true]);
  }));

test('alone, a call has the shared process, with the state that is in it', () =>
  withClock(async (set) => {
    for (let n = 0; n < 3; n++) {
      const process = await asks(set, '?one');
      expect(process).toBe(set.processes[0]);
      process.answer(newest(set).call);
    }
    expect(set.processes).toHaveLength(1);
    expect(told(set)).toEqual([true, true, true]);
  }));

test('a process that is done takes the next call, and none that may go on with a call that was given up', () =>
  withClock(async (set) => {
    await asks(set, '??left');
    const own = await asks(set, '?one');
    own.answer(own.running[0] ?? newest(set).call);
    expect(await asks(set, '?two')).toBe(own);
    set.calls.at(-1)?.cancel();
    const next = await asks(set, '?three');
    expect(next).not.toBe(own);
    expect(own.isOver).toBe(true);
    expect(told(set)).toEqual([true, true, true, true]);
  }));

test('two calls that begin at the same time do not get the same process', () =>
  withClock(async (set) => {
    await asks(set, '??left');
    const idle = await asks(set, '?before');
    idle.answer(newest(set).call);
    const begun = await Promise.all([set.call('?one'), set.call('?two')]);
    const own = begun.map((by) => set.running().find(({ call }) => call.by === by));
    for (const one of own) if (one) one.process.ask(one.call);
    expect(new Set([set.processes[0], ...own.map((one) => one?.process)]).size).toBe(3);
    expect(own.some((one) => one?.process === idle)).toBe(true);
    expect(told(set)).toEqual([true, true, true, true]);
  }));

test('processes of two callers are never the same one', () =>
  withClock(async (set) => {
    const [alice, bob] = ['alice', 'bob'].map((username): Principal => ({ kind: 'key', id: username }));
    await asks(set, '??left');
    const first = await asks(set, '?one', alice && { caller: alice });
    first.answer(first.running[0] ?? newest(set).call);
    expect(await asks(set, '?two', bob && { caller: bob })).not.toBe(first);
  }));

test('a caller who leaves calls gets no more than its part, and the one left longest makes room after a minute', () =>
  withClock(async (set) => {
    const { temporaryPerCaller, temporaryLeftMs } = upstreamLimits;
    for (let n = 0; n <= temporaryPerCaller; n++) {
      await asks(set, '??left', { caller: ann });
      await pass(100);
    }
    expect(set.processes).toHaveLength(1 + temporaryPerCaller);
    // No room: through the shared process, where the question is refused.
    expect(await asks(set, '?early', { caller: ann })).toBe(set.processes[0]);
    expect(told(set)).toHaveLength(1 + temporaryPerCaller);
    await pass(temporaryLeftMs);
    await asks(set, '?late', { caller: ann });
    expect(set.asked.at(-1)).toEqual({ who: '?late 18', meant: '?late 18' });
    expect(set.processes[1]?.isOver).toBe(true);
    expect(set.processes.filter(({ isOver }) => !isOver)).toHaveLength(1 + temporaryPerCaller);
    expect(set.calls.map(({ failure }) => failure).filter(Boolean)).toEqual([
      expect.stringContaining('Make the call again.'),
    ]);
  }));

test('no call of a caller who did not log in is given up for another: it may be another client’s', () =>
  withClock(async (set) => {
    const { temporaryPerCaller, temporaryLeftMs } = upstreamLimits;
    for (let n = 0; n <= temporaryPerCaller; n++) await asks(set, '??left');
    await pass(2 * temporaryLeftMs);
    expect(await asks(set, '?late')).toBe(set.processes[0]);
    expect(set.calls.map(({ failure }) => failure).filter(Boolean)).toEqual([]);
    expect(set.processes.filter(({ isOver }) => isOver)).toEqual([]);
  }));

test('a process whose call was cancelled ends with that, since it may go on', () =>
  withClock(async (set) => {
    await asks(set, '??left');
    const own = await asks(set, '?one');
    set.calls.at(-1)?.cancel();
    await pass(0);
    expect(own.isOver).toBe(true);
    expect(set.processes[0]?.isOver).toBe(false);
  }));

test('a call that waited starts no process with settings that hold no more', () =>
  withClock(async (set) => {
    await asks(set, '??left');
    const late = set.call('?late', { waits: () => set.replace() });
    await expect(late).rejects.toThrow('Server "own" was stopped.');
    expect(set.processes).toHaveLength(2);
  }));

test('nor while the connection with those settings is still about to end', () =>
  withClock(async (set) => {
    await asks(set, '??left');
    await set.call('?late', { waits: () => set.replace({ stops: false }) });
    expect(set.processes).toHaveLength(2);
  }));

test('nor one with a credential that holds no more, while the calls before it run on', () =>
  withClock(
    async (set) => {
      await asks(set, '??left', { caller: ann });
      await set.call('?late', { caller: ann, waits: async () => void (set.next.secret = 'second') });
      const secrets = set.processes.map(({ opened }) => opened.own?.hash);
      expect(secrets).toEqual([undefined, 'first']);
    },
    { ownCredentials: true },
  ));

test('whether a call that waited needs a process of its own is seen when it is sent', () =>
  withClock(async (set) => {
    const left = await asks(set, '??left');
    const answer = async (): Promise<void> => left.answer(left.running[0] ?? newest(set).call);
    expect(await asks(set, '?one', { waits: answer })).toBe(left);
    left.answer(newest(set).call);
    // The other way round: nothing was there when it came.
    const leave = (): Promise<Process> => asks(set, '??left');
    expect(await asks(set, '?two', { waits: leave })).not.toBe(left);
    expect(told(set)).toEqual([true, true, true, true]);
  }));

test('which process a call gets is told before it is sent, and not when it has the shared one', () =>
  withClock(async (set) => {
    const chosen: string[] = [];
    const choose = { chosen: ({ status }: { status: { kind: string } }) => void chosen.push(status.kind) };
    await asks(set, '??left', choose);
    expect(chosen).toEqual([]);
    await asks(set, '?own', choose);
    expect(chosen).toEqual(['connected']);
  }));

test('processes that cannot be started are tried again after a while, which grows, and not for each call', () =>
  withClock(async (set) => {
    await asks(set, '??left');
    set.next.start = 'fails';
    const tries = async (calls: number, apartMs: number): Promise<number> => {
      const before = set.processes.length;
      for (let n = 0; n < calls; n++) {
        await set.call('?one');
        await pass(apartMs);
      }
      return set.processes.length - before;
    };
    // Twice, since it could be the question about its revision at which it ends.
    expect(await tries(1, 0)).toBe(2);
    expect(await tries(5, 0)).toBe(0);
    expect(await tries(20, 1_000)).toBeLessThanOrEqual(12);
    set.next.start = 'usual';
    await pass(upstreamLimits.backOffProgramMaxMs);
    expect(await asks(set, '?own')).not.toBe(set.processes[0]);
    // It can be started again, as often as needed.
    const before = set.processes.length;
    for (let n = 0; n < 3; n++) await asks(set, '??left');
    expect(set.processes.length - before).toBe(3);
  }));

test('one that starts slowly is there for the next call, which opens no second', () =>
  withClock(async (set) => {
    await asks(set, '??left');
    set.next.start = 'silent';
    const slow = set.call('?one');
    await pass(100);
    // What waits for it keeps it.
    const second = set.call('?two');
    await pass(100);
    expect(set.processes).toHaveLength(3);
    await Promise.all([slow, second]);
    for (let n = 0; n < 2; n++) await set.call('?next');
    expect(set.processes).toHaveLength(3);
  }));

test('all callers together get no more processes than there are, and those without a call end', () =>
  withClock(async (set) => {
    const { temporaryConnections, temporaryPerCaller, temporaryIdleMs, dedicatedSweepMs } = upstreamLimits;
    for (let n = 0; n <= temporaryConnections + 2; n++) {
      const caller: Principal = { kind: 'key', id: String(Math.floor(n / temporaryPerCaller)) };
      await asks(set, '??left', { caller });
    }
    expect(set.processes).toHaveLength(1 + temporaryConnections);
    for (const { process, call } of set.running()) process.answer(call);
    await pass(temporaryIdleMs + 2 * dedicatedSweepMs);
    expect(set.processes.filter(({ isOver }) => !isOver)).toHaveLength(1);
  }));

test('where each session has its own, calls without one are told apart in the same way', () =>
  withClock(
    async (set) => {
      const common = await asks(set, '??left');
      expect(await asks(set, '?other')).not.toBe(common);
      expect(told(set)).toEqual([true, true]);
      set.dedicated.reconcile();
      expect(set.processes.filter(({ isOver }) => isOver)).toEqual([]);
    },
    { perSessionClient: true },
  ));

test('they take nothing from the sessions of their caller, and none that is about to be used makes room', () =>
  withClock(
    async (set) => {
      const session = (name: string) =>
        set.dedicated.connection('own', { principal: { kind: 'anonymous' }, session: name });
      for (let n = 0; n < 3; n++) await asks(set, '??left');
      expect(set.dedicated.size).toBe(3);
      await set.call('a');
      expect(set.dedicated.size).toBe(4);
      // All that there may be: what waits, one session at work, and one that a call is about to go through.
      const refused: unknown[] = [];
      const chosen = (): void => {
        try {
          session('b');
        } catch (error) {
          refused.push((error as Error).message);
        }
      };
      const own = await asks(set, '?own', { chosen });
      expect(refused).toEqual([expect.stringContaining('busy')]);
      expect([own.isOver, told(set).at(-1)]).toEqual([false, true]);
    },
    { perSessionClient: true, bounds: { total: 5, perPrincipal: 3, idleMs: 60_000, sweepMs: 60_000 } },
  ));

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('call' as const), who: fc.constantFrom('?a', '??b', 'c', 'd') }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(20) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('ask' as const), which: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('answer' as const), which: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(100, 5_000, 130_000) }) },
);

test('whatever is called, left, cancelled, asked and answered, each question is for its own call, and a new one can be asked', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), (steps) =>
      withClock(async (set) => {
        for (const one of steps) {
          if (one.do === 'call') await set.call(one.who);
          else if (one.do === 'pass') await pass(one.ms);
          else if (one.do === 'cancel') set.calls.splice(one.which % Math.max(1, set.calls.length), 1)[0]?.cancel();
          else {
            const running = set.running();
            const { process, call } = running[one.which % Math.max(1, running.length)] ?? {};
            if (process && call) process[one.do](call);
          }
        }
        // The first question of a server may be refused; by then it is known that it asks.
        for (let trial = 1; trial <= 2; trial++) await asks(set, '?last');
        expect(set.asked.filter(({ who, meant }) => who !== meant)).toEqual([]);
        expect(set.asked.at(-1)?.who).toMatch(/^\?last/);
      }),
    ),
    { numRuns: 100 },
  );
});
