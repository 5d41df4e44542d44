import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pass, withClock } from '../../../test/kit/pipe-processes.ts';
import { upstreamLimits } from '../limits.ts';

// A server over a pipe does not say for which call it asks, and goes on with calls that were cancelled. Whatever comes
// after what: no client is asked what is meant for another, and a call that begins five seconds after another client's
// was cancelled can ask. The clock is the test's own.

const fiveSeconds = 5_000;

test('a question of a cancelled call reaches no client, and another client’s call can ask five seconds later', () =>
  withClock(async ({ call, calls, processes, asked }) => {
    await call('a');
    calls[0]?.cancel();
    await pass(fiveSeconds);
    await call('b');
    const [first, second] = processes;
    const [late] = first?.running ?? [];
    const [own] = second?.running ?? [];
    expect([late?.by, own?.by]).toEqual(['a', 'b']);
    if (late) first?.ask(late);
    expect(asked).toEqual([]);
    if (own) second?.ask(own);
    expect(asked).toEqual([{ who: 'b', meant: 'b' }]);
    // Who cancelled is the only one whose question it can be.
    await call('a');
    expect(first?.running.map(({ by }) => by)).toEqual(['a', 'a']);
  }));

test('a server that answers what was cancelled is not started once more', () =>
  withClock(async ({ call, calls, processes }) => {
    await call('a');
    calls[0]?.cancel();
    const [only] = processes;
    const [late] = only?.running ?? [];
    if (late) only?.answer(late);
    await pass(fiveSeconds);
    await call('b');
    expect(processes).toHaveLength(1);
  }));

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('call' as const), who: fc.constantFrom('a', 'b', 'c', '?d', '??e') }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(20) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('ask' as const), which: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('answer' as const), which: fc.nat(20) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(100, upstreamLimits.givenUpGraceMs, fiveSeconds, upstreamLimits.abandonedMs),
    }),
  },
);

test('whatever is called, cancelled, asked and answered in whatever order, every question is put to its own client, and a new client can be asked within five seconds', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), (steps) =>
      withClock(async (set) => {
        const { calls, asked, running: all } = set;
        for (const one of steps) {
          if (one.do === 'call') await set.call(one.who);
          else if (one.do === 'pass') await pass(one.ms);
          else if (one.do === 'cancel') calls.splice(one.which % Math.max(1, calls.length), 1)[0]?.cancel();
          else {
            const running = all();
            const { process, call } = running[one.which % Math.max(1, running.length)] ?? {};
            if (process && call) process[one.do](call);
          }
        }
        // All that is still wanted ends; all that was cancelled goes on.
        for (const { cancel } of calls.splice(0)) cancel();
        await pass(fiveSeconds);
        // A tool that ran before without asking is taken for one that does not ask, the first time.
        for (let trial = 1; trial <= 2; trial++) {
          await set.call('z');
          for (const { process, call } of all()) if (call.by !== 'z') process.ask(call);
          const own = all().findLast(({ call }) => call.by === 'z');
          own?.process.ask(own.call);
        }
        expect(asked.filter(({ who, meant }) => who !== meant)).toEqual([]);
        expect(asked.at(-1)).toEqual({ who: 'z', meant: 'z' });
      }),
    ),
    { numRuns: 100 },
  );
});
