import { describe, expect, test } from 'vitest';
import { logLines } from '../../../../test/kit/channel-log.ts';
import type { ServerRequest } from '../../../core/protocol/server-requests.ts';
import type { RpcMessage } from '../../../core/protocol/rpc.ts';
import type { Exchange } from '../exchange.ts';
import { upstreamLimits } from '../../limits.ts';
import { type Home, ServerRequestHistory, ServerRequests } from './server-requests.ts';
import { AbandonedRequests, PendingTable } from './pending.ts';

const timeouts = { timeoutMs: 60_000, resetOnProgress: false, maxTotalMs: undefined };

/** The server requests of one connection, with calls on their way: `call(1, 'a')` is one of client `a`. */
function connection(options: { home?: Home; ownStream?: boolean } = {}) {
  const history = new ServerRequestHistory();
  const pending = new PendingTable(() => undefined);
  const givenUp = new AbandonedRequests(Infinity);
  const log = logLines();
  const written: { id?: unknown; result?: unknown; error?: { code: number; message: string }; method?: string }[] = [];
  const serverRequests = new ServerRequests({
    server: 'one',
    pending,
    givenUp,
    requestHistory: history,
    log,
    write: (text) => written.push(JSON.parse(text) as object),
    home: options.home,
    ownStream: options.ownStream ?? false,
  });
  const asked: { by: number; ask: ServerRequest }[] = [];
  return {
    history,
    serverRequests,
    givenUp,
    log,
    pending,
    written,
    asked,
    call(id: number, asker?: string, task?: string, called?: string): void {
      const exchange: Exchange = {
        notified: () => undefined,
        answered: () => undefined,
        failed: () => undefined,
        asked: (ask) => void asked.push({ by: id, ask }),
        asker,
        task,
        called,
      };
      pending.add(id, exchange, { text: '', headers: undefined }, timeouts);
    },
    /** A request of the hub's own. */
    own(id: number): void {
      const exchange = { notified: () => undefined, answered: () => undefined, failed: () => undefined };
      pending.add(id, exchange, { text: '', headers: undefined }, timeouts);
    },
    ask(id: unknown, { method = 'elicitation/create', params = {}, relatedTo }: Asked = {}): void {
      const message: RpcMessage = { jsonrpc: '2.0', id, method, params };
      serverRequests.received(message, JSON.stringify(message), relatedTo);
    },
    end(id: number): void {
      const answered = pending.take(id);
      if (answered) history.answered(answered.exchange.called, answered.wasAsked);
      serverRequests.ended(id);
    },
    abandon(id: number): void {
      const gone = pending.take(id);
      if (!gone) return;
      givenUp.add(id, gone.exchange);
      serverRequests.ended(id);
    },
  };
}

interface Asked {
  method?: string;
  params?: Record<string, unknown>;
  relatedTo?: number;
}

const inTask = (taskId: string) => ({ _meta: { 'io.modelcontextprotocol/related-task': { taskId } } });

describe('a question is for', () => {
  test('the call on whose response it came, whatever else is on its way', () => {
    const one = connection();
    one.call(1, 'a');
    one.call(2, 'b');
    one.ask(7, { relatedTo: 1 });
    expect(one.asked.map(({ by }) => by)).toEqual([1]);
    expect(one.written).toEqual([]);
  });

  test('no client, when that call is over or the hub’s own, though another one is on its way alone', () => {
    const one = connection();
    one.call(1, 'a');
    one.own(2);
    one.ask(7, { relatedTo: 99 });
    one.ask(8, { relatedTo: 2 });
    expect(one.asked).toEqual([]);
    expect(one.written.map(({ id, error }) => [id, error?.code])).toEqual([
      [7, -32603],
      [8, -32603],
    ]);
  });

  test('the task that it names, and no client where there is no such task', () => {
    const one = connection();
    one.call(1, 'a', 'task a');
    one.call(2, 'b', 'task b');
    one.ask(7, { params: inTask('task b') });
    one.ask(8, { params: inTask('task c') });
    expect(one.asked.map(({ by }) => by)).toEqual([2]);
    expect(one.written.map(({ id }) => id)).toEqual([8]);
  });

  test('the only call of a client; what the hub itself asks does not count', () => {
    const one = connection();
    one.own(1);
    one.ask(6);
    one.call(2);
    one.ask(7);
    expect(one.asked.map(({ by }) => by)).toEqual([2]);
    expect(one.written.map(({ id }) => id)).toEqual([6]);
  });

  test('the client whose calls all are; two without a name are two', () => {
    const same = connection();
    same.call(1, 'a');
    same.call(2, 'a');
    same.ask(7);
    expect(same.asked.map(({ by }) => by)).toEqual([2]);
    const unnamed = connection();
    unnamed.call(1);
    unnamed.call(2);
    unnamed.ask(7);
    expect(unnamed.asked).toEqual([]);
  });

  test('no other client while a call that was given up may go on, until the server has answered that too', () => {
    const one = connection();
    one.call(1, 'a');
    one.abandon(1);
    one.call(2, 'b');
    one.ask(7);
    expect(one.asked).toEqual([]);
    one.givenUp.answered(1);
    one.ask(8);
    expect(one.asked.map(({ by }) => by)).toEqual([2]);
  });

  test('no client, when it is about roots and came on no stream of a call', () => {
    const http = connection({ ownStream: true });
    http.call(1, 'a');
    http.ask(7, { method: 'roots/list' });
    http.ask(8, { method: 'elicitation/create' });
    expect(http.asked.map(({ ask }) => ask.method)).toEqual(['elicitation/create']);
  });

  test('the client whose connection it is, also when none of its calls is on its way', () => {
    const taken: ServerRequest[] = [];
    const own = connection({ home: (ask) => void taken.push(ask) });
    own.ask(7, { method: 'roots/list' });
    own.call(1);
    own.call(2);
    own.ask(8);
    expect([taken.length, own.asked.map(({ by }) => by)]).toEqual([1, [2]]);
    taken[0]?.answer('result', '{"roots":[]}');
    expect(own.written).toEqual([{ jsonrpc: '2.0', id: 7, result: { roots: [] } }]);
  });
});

test('when more calls were given up than can be remembered no client is asked: a thousand of one client hide no call of another', () => {
  const one = connection();
  one.call(1, 'victim');
  one.abandon(1);
  for (let id = 10_000; id < 10_000 + upstreamLimits.abandonedCalls; id++) {
    one.call(id, 'attacker');
    one.abandon(id);
  }
  one.call(99_999, 'attacker');
  one.ask(7);
  expect(one.asked).toEqual([]);
});

test('a server that asks for folders while no client is there hears that there are none, and asks the next client when it is called', () => {
  for (const ownStream of [true, false]) {
    const one = connection({ ownStream });
    one.ask(1, { method: 'roots/list' });
    one.own(1);
    one.ask(2, { method: 'roots/list', relatedTo: 1 });
    expect(one.written).toEqual([1, 2].map((id) => ({ jsonrpc: '2.0', id, result: { roots: [] } })));
    expect(one.log.lines).toEqual([]);
    one.call(3, 'a');
    one.ask(4, { method: 'roots/list', relatedTo: 3 });
    expect(one.asked.map(({ by }) => by)).toEqual([3]);
  }
});

test('the operator is warned, once, where a call goes without what was asked for it, and of nothing that servers ask unasked', () => {
  const one = connection({ ownStream: true });
  one.ask(1);
  one.own(1);
  one.ask(2, { relatedTo: 1 });
  expect(one.log.lines.map(({ level }) => level)).toEqual(['debug', 'debug']);
  one.call(3, 'a');
  one.call(4, 'b');
  one.ask(5);
  one.ask(6);
  expect(one.log.lines.map(({ level }) => level).slice(2)).toEqual(['warn', 'debug']);
});

describe('a question ends', () => {
  test('once, whichever side ends it', () => {
    const one = connection();
    one.call(1);
    one.ask('x');
    const ask = one.asked[0]?.ask;
    ask?.answer('result', '{\n"ok":1}');
    ask?.answer('result', '{"ok":2}');
    ask?.refuse({ code: 1, message: 'late' });
    ask?.progressed('{"progressToken":1,"progress":1}');
    one.serverRequests.cancelled({ requestId: 'x' });
    one.end(1);
    expect(one.written).toEqual([{ jsonrpc: '2.0', id: 'x', result: { ok: 1 } }]);
  });

  test('with the last of the calls that it may belong to', () => {
    const one = connection();
    one.call(1, 'a');
    one.call(2, 'a');
    one.ask(7);
    const why: string[] = [];
    const ask = one.asked[0]?.ask;
    if (ask) ask.withdrawn = (reason) => why.push(reason);
    one.end(2);
    expect([why, one.written]).toEqual([[], []]);
    one.end(1);
    expect(why).toEqual(['the call is over']);
    expect(one.written.map(({ error }) => error?.code)).toEqual([-32603]);
  });

  test('when its server takes it back, and with the connection; neither is answered', () => {
    const one = connection();
    one.call(1, 'a');
    one.ask(7);
    one.ask(8);
    const why: string[] = [];
    for (const { ask } of one.asked) ask.withdrawn = (reason) => why.push(reason);
    one.serverRequests.cancelled({ requestId: 7, reason: 'no' });
    one.serverRequests.cancelled({ requestId: 'unknown' });
    one.serverRequests.cancelled(undefined);
    one.serverRequests.forget();
    expect(why).toEqual(['no', 'the server is gone']);
    expect(one.written).toEqual([]);
  });
});

test('an id that is in use is refused: one answer cannot be for two', () => {
  const one = connection();
  one.call(1, 'a');
  one.ask(7);
  one.ask(7);
  expect(one.asked).toHaveLength(1);
  expect(one.written.map(({ error }) => error?.message)).toEqual(['The id of this request is in use.']);
});

test('the deadline of a call is put off for as long as its client is asked', () => {
  const one = connection();
  one.call(1, 'a');
  const before = one.pending.get(1)?.deadline ?? 0;
  one.ask(7);
  one.ask(8);
  expect(one.pending.get(1)?.serverRequests).toBe(2);
  const [first, second] = one.asked;
  first?.ask.answer('result', '{}');
  expect(one.pending.get(1)?.deadline).toBe(before);
  second?.ask.refuse({ code: 1, message: 'no' });
  const { deadline = 0, heldMs = 0, serverRequests } = one.pending.get(1) ?? {};
  expect(serverRequests).toBe(0);
  expect(deadline).toBe(before + heldMs);
  expect(heldMs).toBeGreaterThan(0);
});

test('the client whose connection it is for its folders: the call that happens to be on its way may end before they are told', () => {
  const taken: ServerRequest[] = [];
  const own = connection({ home: (ask) => void taken.push(ask) });
  own.call(1);
  own.ask(7, { method: 'roots/list' });
  own.ask(8);
  own.end(1);
  expect(own.written.map(({ id, error }) => [id, error?.message])).toEqual([
    [8, 'The call that this belongs to is over.'],
  ]);
  taken[0]?.answer('result', '{"roots":[]}');
  expect(own.written.at(-1)).toEqual({ jsonrpc: '2.0', id: 7, result: { roots: [] } });
});

describe('a tool is remembered as one that asks', () => {
  const run = (one: ReturnType<typeof connection>, ...tools: string[]): void =>
    tools.forEach((tool, i) => one.call(i + 1, undefined, `task of ${tool}`, tool));
  const asking = ({ history }: ReturnType<typeof connection>, ...tools: string[]) =>
    tools.filter((tool) => history.hasAskedIn(tool));

  test('when a question came on its own response stream, or in its task, and no other that ran then', () => {
    const stream = connection();
    run(stream, 'a', 'b');
    stream.ask(7, { relatedTo: 1 });
    expect(asking(stream, 'a', 'b')).toEqual(['a']);
    const task = connection();
    run(task, 'a', 'b');
    task.ask(7, { params: inTask('task of b') });
    expect(asking(task, 'a', 'b')).toEqual(['b']);
    const none = connection();
    run(none, 'a', 'b');
    none.ask(7, { relatedTo: 99 });
    expect([asking(none, 'a', 'b'), none.history.hasAsked]).toEqual([[], true]);
  });

  test('not when it was answered without a question before, and one that asks runs with it', () => {
    const one = connection();
    run(one, 'quiet');
    one.end(1);
    run(one, 'asks');
    one.ask(7);
    one.end(1);
    run(one, 'asks', 'quiet');
    one.ask(8);
    expect(asking(one, 'asks', 'quiet')).toEqual(['asks']);
    // What waits for its client is not what asks.
    one.abandon(2);
    one.end(1);
    one.givenUp.clear();
    run(one, 'asks');
    one.ask(9);
    one.call(2, undefined, undefined, 'quiet');
    one.ask(10);
    expect(asking(one, 'asks', 'quiet')).toEqual(['asks', 'quiet']);
  });

  test('until it is answered without one, unless it certainly asked', () => {
    const one = connection();
    run(one, 'a', 'b');
    one.ask(7);
    expect(asking(one, 'a', 'b')).toEqual(['a', 'b']);
    one.end(1);
    one.end(2);
    expect(asking(one, 'a', 'b')).toEqual(['a', 'b']);
    run(one, 'b');
    one.end(1);
    expect([asking(one, 'a', 'b'), one.history.mayAsk('b')]).toEqual([['a'], false]);
    run(one, 'a');
    one.ask(8);
    one.end(1);
    run(one, 'a');
    one.end(1);
    expect([asking(one, 'a', 'b'), one.history.mayAsk('a')]).toEqual([['a'], true]);
  });
});
