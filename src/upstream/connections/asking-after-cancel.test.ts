import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { logLines } from '../../../test/kit/channel-log.ts';
import type { Principal } from '../../core/access/principal.ts';
import type { ServerRequest } from '../../core/protocol/server-requests.ts';
import type { ServerSettings, Settings } from '../../core/settings/types.ts';
import type { Channel, ChannelEvents } from '../channels/channel.ts';
import { Connection } from './connection.ts';
import type { ConnectionOwner } from './owner.ts';
import { createDedicatedConnections } from './dedicated-connections.ts';
import { upstreamLimits } from '../limits.ts';
import { createStartSemaphore } from './start-semaphore.ts';

// A server over a pipe does not say for which call it asks, and goes on with calls that were cancelled. Whatever comes
// after what: no client is asked what is meant for another, and a call that begins five seconds after another client's
// was cancelled can ask. The clock is the test's own.

interface Running {
  readonly id: number;
  readonly by: string;
}

/** One process of the server. What it does, and when, the test decides; a cancelled call goes on. */
class Process implements Channel {
  readonly running: Running[] = [];
  readonly #events: ChannelEvents;
  #lastAsk = 0;

  constructor(events: ChannelEvents) {
    this.#events = events;
  }

  send(text: string): void {
    const { id, method, params } = JSON.parse(text) as { id?: number; method?: string; params?: Sent };
    if (id === undefined || method === undefined) return;
    if (method === 'tools/call') this.running.push({ id, by: params?.arguments?.by ?? '' });
    else setImmediate(() => this.#say({ id, result: method === 'initialize' ? handshake : { tools: [] } }));
  }

  /** Asks something for a call. */
  ask({ by }: Running): void {
    this.#say({ id: ++this.#lastAsk, method: 'elicitation/create', params: { message: by } });
  }

  answer(call: Running): void {
    this.running.splice(this.running.indexOf(call), 1);
    this.#say({ id: call.id, result: { content: [] } });
  }

  #say(message: Record<string, unknown>): void {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.#events.message(JSON.parse(text) as object, text);
  }

  abandon(): void {}
  ready(): void {}
  forgetSession(): void {}
  async close(): Promise<void> {}
}

interface Sent {
  readonly arguments?: { readonly by: string };
}

const handshake = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: {} };
const principal: Principal = { kind: 'anonymous' };

function setUp() {
  const server = {
    name: 'own',
    transport: { type: 'stdio' },
    keepAliveMs: 60_000,
    perSessionClient: false,
  } as unknown as ServerSettings;
  const settings = { servers: new Map([['own', server]]), users: [], keys: [] } as unknown as Settings;
  const processes: Process[] = [];
  /** Who was asked, and for whom it was meant. */
  const asked: { readonly who: string; readonly meant: unknown }[] = [];
  const hear = (who: string, ask: ServerRequest): void => {
    asked.push({ who, meant: ask.params['message'] });
    ask.answer('result', '{"action":"decline"}');
  };
  const options = {
    open: (_: ServerSettings, events: ChannelEvents) => {
      const process = new Process(events);
      processes.push(process);
      return process;
    },
    version: '1',
    connectTimeoutMs: 5_000,
    requestTimeoutMs: 300_000,
  };
  const log = logLines();
  const shared = new Connection({ ...options, server, slots: createStartSemaphore(8), log, changed: () => undefined });
  shared.start();
  const dedicated = createDedicatedConnections({
    ...options,
    startsAtOnce: 8,
    log: () => log,
    settings: () => settings,
    withoutCredentials: (_, value) => value,
    shared: () => shared,
    abilitiesOf: () => 'f',
    asked: ({ session }, ask) => hear(session, ask),
  });
  const calls: { readonly by: string; readonly cancel: () => void }[] = [];
  return {
    asked,
    calls,
    processes,
    call: async (session: string): Promise<void> => {
      const connectionOwner: ConnectionOwner = { principal, session };
      const usual = dedicated.connection('own', connectionOwner);
      if (!usual) throw new Error('no connection');
      const connection = dedicated.forAsking(usual, connectionOwner, { tool: 'ask', asker: session });
      const began = connection.available(5_000);
      await pass(100);
      await began;
      const id = connection.takeId();
      const ended = { notified: () => undefined, answered: () => undefined, failed: () => undefined };
      const exchange = { ...ended, asked: (ask: ServerRequest) => hear(session, ask), asker: session, tool: 'ask' };
      connection.send(id, 'tools/call', JSON.stringify({ name: 'ask', arguments: { by: session } }), exchange);
      calls.push({ by: session, cancel: () => connection.cancel(id, 'not needed') });
    },
    close: () => Promise.all([dedicated.close(), shared.stop()]),
  };
}

/** Lets time pass, and whatever is due happen. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left >= 0; left -= 100) {
    vi.advanceTimersByTime(Math.min(left, 100));
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
  }
}

async function withClock(act: (set: ReturnType<typeof setUp>) => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] });
  const set = setUp();
  try {
    await pass(200);
    await act(set);
  } finally {
    const closed = set.close();
    await pass(500);
    await closed;
    vi.useRealTimers();
  }
}

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
  { weight: 4, arbitrary: fc.record({ do: fc.constant('call' as const), who: fc.constantFrom('a', 'b', 'c') }) },
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
        const { processes, calls, asked } = set;
        const all = () => processes.flatMap((process) => process.running.map((call) => ({ process, call })));
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
