import { afterEach, describe, expect, test, vi } from 'vitest';
import { HubError } from '../../../core/errors.ts';
import { LargeAnswer } from '../../../core/protocol/large-answer.ts';
import { LargeText } from '../../../core/json/large-text.ts';
import { upstreamLimits } from '../../limits.ts';
import type { RpcMessage } from '../../../core/protocol/rpc.ts';
import type { ChannelEvents } from '../channel.ts';
import { type Attachment, SharedProgram } from './shared-program.ts';
import type { ToldByHost } from './told.ts';

afterEach(() => void vi.useRealTimers());

interface One extends Attachment {
  readonly got: RpcMessage[];
  readonly told: ToldByHost[];
}

function attachment(): One {
  const [got, told]: [RpcMessage[], ToldByHost[]] = [[], []];
  return {
    got,
    told,
    tell: (what) => void told.push(what),
    message: (text) => void got.push(JSON.parse(text) as RpcMessage),
    large: (answer) => void got.push(answer.read().message),
  };
}

function largeAnswer(id: number, result: object): LargeAnswer {
  const json = JSON.stringify(result);
  const begin = `{"jsonrpc":"2.0","id":${id},"result":`;
  const whole = new LargeText([Buffer.from(`${begin}${json}}`)]);
  return new LargeAnswer({
    id,
    whole,
    result: { start: begin.length, end: begin.length + json.length },
    members: new Map(),
  });
}

/** A program with two workers, and what it is sent. */
function shared() {
  const program = new SharedProgram('s');
  const sent: RpcMessage[] = [];
  const flow: string[] = [];
  const refused = new Set<string>();
  const ended = { log: () => undefined as void };
  let events: ChannelEvents | undefined;
  program.start((own) => {
    events = own;
    return {
      send(text) {
        const message = JSON.parse(text) as RpcMessage;
        if (refused.has(String(message.method))) throw new HubError('upstream_unavailable', 'Too much is waiting.');
        sent.push(message);
      },
      pause: () => void flow.push('pause'),
      resume: () => void flow.push('resume'),
      abandon() {},
      ready() {},
      forgetSession() {},
      async close() {
        ended.log();
      },
    };
  });
  const [a, b] = [attachment(), attachment()];
  program.attach(a);
  program.attach(b);
  return {
    program,
    a,
    b,
    sent,
    flow,
    refused,
    ended,
    ask: (from: Attachment, id: number, method: string, params: object = {}) =>
      program.sent(from, `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}`),
    notify: (from: Attachment, method: string, params: object = {}) =>
      program.sent(from, `{"jsonrpc":"2.0","method":"${method}","params":${JSON.stringify(params)}}`),
    says: (message: object) =>
      events?.message({ jsonrpc: '2.0', ...message }, JSON.stringify({ jsonrpc: '2.0', ...message })),
    saysLarge: (answer: LargeAnswer) => events?.large(answer),
    fails: (id: number, error: HubError) => events?.failed(id, error, false),
    dies: (error: HubError) => events?.closed(error),
  };
}

const question = (id: string, taskId?: string) => ({
  id,
  method: 'elicitation/create',
  params: taskId === undefined ? {} : { _meta: { 'io.modelcontextprotocol/related-task': { taskId } } },
});
const logOf = (...ones: readonly One[]) => ones.flatMap(({ told }) => told.filter((one) => one.kind === 'log'));
const methodsOf = (messages: readonly RpcMessage[]) => messages.map(({ method }) => method);

describe('a program that two workers share', () => {
  test('answers each what it asked', () => {
    const { a, b, ask, says, sent } = shared();
    ask(a, 2, 'tools/call', { name: 'x' });
    ask(b, 3, 'tools/call', { name: 'y' });
    expect(says({ id: 3, result: { of: 'b' } })).toBe(true);
    expect(says({ id: 2, result: { of: 'a' } })).toBe(true);
    expect(says({ id: 2, result: { again: true } })).toBe(false);
    expect(methodsOf(sent)).toEqual(['tools/call', 'tools/call']);
    expect(a.got).toMatchObject([{ id: 2, result: { of: 'a' } }]);
    expect(b.got).toMatchObject([{ id: 3, result: { of: 'b' } }]);
  });
});

describe('a handshake that workers share', () => {
  test('is initialized once, in whatever order workers come', () => {
    const { program, a, b, ask, notify, says, sent } = shared();
    ask(a, 2, 'initialize');
    ask(b, 3, 'initialize');
    says({ id: 2, result: { protocolVersion: '2025-11-25', n: 12345678901234567890n.toString() } });
    const late = attachment();
    program.attach(late);
    ask(late, 5, 'initialize');
    for (const one of [a, b, late]) notify(one, 'notifications/initialized');
    expect(methodsOf(sent)).toEqual(['initialize', 'notifications/initialized']);
    const result = { protocolVersion: '2025-11-25' };
    expect([...a.got, ...b.got, ...late.got]).toMatchObject([2, 3, 5].map((id) => ({ id, result })));
  });

  test('a handshake that is refused is refused to all who wait, and tried again by the next', () => {
    const { a, b, ask, says, sent } = shared();
    ask(a, 2, 'initialize');
    ask(b, 3, 'initialize');
    says({ id: 2, error: { code: -1, message: 'no' } });
    expect([...a.got, ...b.got]).toMatchObject([
      { id: 2, error: { message: 'no' } },
      { id: 3, error: { message: 'no' } },
    ]);
    ask(b, 5, 'initialize');
    expect(sent).toHaveLength(2);
  });

  test('a handshake that is over without an answer is over for all who wait, and tried again by the next', () => {
    const { a, b, ask, fails, refused, says, sent } = shared();
    ask(a, 2, 'initialize');
    ask(b, 3, 'initialize');
    fails(2, new HubError('upstream_failed', 'Its answer is too large.'));
    const error = { message: 'Its answer is too large.' };
    expect(a.told.at(-1)).toMatchObject({ kind: 'failed', id: 2, error });
    expect(b.told.at(-1)).toMatchObject({ kind: 'failed', id: 3, error });
    refused.add('initialize');
    ask(b, 5, 'initialize');
    expect(b.told.at(-1)).toMatchObject({ kind: 'failed', id: 5 });
    refused.clear();
    ask(a, 4, 'initialize');
    says({ id: 4, result: { protocolVersion: '2025-11-25' } });
    expect(methodsOf(sent)).toEqual(['initialize', 'initialize']);
    expect(a.got).toMatchObject([{ id: 4, result: {} }]);
  });

  test('a handshake with a large answer is done with it', () => {
    const { program, a, b, ask, saysLarge, sent } = shared();
    ask(a, 2, 'initialize');
    ask(b, 3, 'initialize');
    expect(saysLarge(largeAnswer(2, { instructions: 'x'.repeat(1_000) }))).toBe(true);
    const late = attachment();
    program.attach(late);
    ask(late, 5, 'initialize');
    expect(sent).toHaveLength(1);
    const result = { instructions: 'x'.repeat(1_000) };
    expect([...a.got, ...b.got, ...late.got]).toMatchObject([2, 3, 5].map((id) => ({ id, result })));
  });

  test('a handshake is cancelled neither by who began it nor by who waits for it', () => {
    const { program, a, b, ask, notify, says, sent } = shared();
    const late = attachment();
    program.attach(late);
    ask(a, 2, 'initialize');
    ask(b, 3, 'initialize');
    ask(late, 5, 'initialize');
    notify(b, 'notifications/cancelled', { requestId: 3 });
    notify(a, 'notifications/cancelled', { requestId: 2 });
    program.detach(a);
    expect(methodsOf(sent)).toEqual(['initialize']);
    says({ id: 2, result: {} });
    expect(b.got).toEqual([]);
    expect(late.got).toMatchObject([{ id: 5, result: {} }]);
    const left = shared();
    left.ask(left.a, 2, 'initialize');
    left.program.detach(left.a);
    expect(methodsOf(left.sent)).toEqual(['initialize']);
  });
});

describe('a question of a shared program', () => {
  test('a question goes to the worker whose calls alone it can belong to', () => {
    const { program, a, b, ask, says, sent } = shared();
    ask(b, 3, 'tools/list');
    ask(a, 2, 'tools/call');
    says(question('q1'));
    expect(a.got).toMatchObject([{ id: 'q1' }]);
    // Only who was asked may answer.
    program.sent(b, '{"jsonrpc":"2.0","id":"q1","result":{"from":"b"}}');
    program.sent(a, '{"jsonrpc":"2.0","id":"q1","result":{"from":"a"}}');
    expect(sent.slice(2)).toEqual([{ jsonrpc: '2.0', id: 'q1', result: { from: 'a' } }]);
    ask(b, 5, 'tools/call');
    says(question('q2'));
    expect(sent.at(-1)).toMatchObject({ id: 'q2', error: { message: expect.stringContaining('several calls') } });
    expect([...a.got, ...b.got]).toHaveLength(1);
    expect(says({ id: 'p', method: 'ping' })).toBe(true);
    expect(sent.at(-1)).toMatchObject({ id: 'p', result: {} });
  });

  test('a question in a task goes to the worker that waits for the result of it', () => {
    const { a, b, ask, notify, says, sent } = shared();
    ask(a, 2, 'tasks/result', { taskId: 'of a' });
    says(question('q1'));
    ask(b, 3, 'tools/call');
    says(question('q2'));
    expect(sent.at(-1)).toMatchObject({ id: 'q2', error: {} });
    says(question('q3', 'of a'));
    expect(a.got).toMatchObject([{ id: 'q1' }, { id: 'q3' }]);
    expect(b.got).toEqual([]);
    for (const [id, task] of [
      ['q4', 'of another'],
      ['q5', 'of a'],
    ] as const) {
      says(question(id, task));
      expect(sent.at(-1)).toMatchObject({ id, error: { message: expect.stringContaining('call that is over') } });
      notify(a, 'notifications/cancelled', { requestId: 2 });
    }
  });
});

describe('a question after a call that was given up', () => {
  test('a call that one worker gave up keeps questions from the others until it is answered', () => {
    vi.useFakeTimers();
    const { a, b, ask, notify, says, sent } = shared();
    ask(a, 2, 'tools/call');
    notify(a, 'notifications/cancelled', { requestId: 2 });
    // It has some time to answer.
    expect(b.told.some(({ kind }) => kind === 'contested')).toBe(false);
    vi.advanceTimersByTime(upstreamLimits.givenUpGraceMs + 1);
    expect(b.told.at(-1)).toEqual({ kind: 'contested', isContested: true });
    expect(a.told.some(({ kind }) => kind === 'contested')).toBe(false);
    ask(b, 3, 'tools/call');
    says({ id: 'q', method: 'sampling/createMessage', params: {} });
    expect(sent.at(-1)).toMatchObject({ id: 'q', error: {} });
    says({ id: 2, result: {} });
    expect(b.told.at(-1)).toEqual({ kind: 'contested', isContested: false });
    says({ id: 'q', method: 'sampling/createMessage', params: {} });
    expect(b.got).toMatchObject([{ id: 'q' }]);
  });
});

describe('what a shared program says', () => {
  test('progress and log messages reach only the worker whose call they are of', () => {
    const { a, b, ask, says } = shared();
    ask(a, 2, 'tools/call');
    says({ method: 'notifications/progress', params: { progressToken: 2, progress: 1 } });
    says({ method: 'notifications/message', params: { level: 'info', data: 'of a' } });
    ask(b, 3, 'tools/call');
    says({ method: 'notifications/message', params: { level: 'info', data: 'of whom' } });
    expect(methodsOf(a.got)).toEqual(['notifications/progress', 'notifications/message']);
    expect(b.got).toEqual([]);
    expect(logOf(a, b)).toMatchObject([{ level: 'debug', message: 'of whom' }]);
  });

  test('log messages of no call are in the log once, at the level that a link gives them', () => {
    const { a, b, ask, says } = shared();
    const levels = ['debug', 'warning', 'critical'];
    for (const level of levels) says({ method: 'notifications/message', params: { level, data: { level } } });
    ask(a, 2, 'tools/call');
    ask(b, 3, 'tools/call');
    for (const level of levels) says({ method: 'notifications/message', params: { level, data: level } });
    expect([...a.got, ...b.got]).toEqual([]);
    expect(logOf(a, b)).toMatchObject([
      { level: 'debug', message: '{"level":"debug"}' },
      { level: 'warn', message: '{"level":"warning"}' },
      { level: 'error', message: '{"level":"critical"}' },
      { level: 'debug', message: 'debug' },
      { level: 'warn', message: 'warning' },
      { level: 'error', message: 'critical' },
    ]);
  });

  test('no more of a log message is told than a worker reads', () => {
    const { a, says } = shared();
    says({ method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(upstreamLimits.frameBytes) } });
    const [entry] = logOf(a);
    expect(entry?.message).toMatch(/^x+$/);
    expect(JSON.stringify(entry).length).toBeLessThan(upstreamLimits.framePieceBytes);
  });

  test('it is read no further while a worker cannot take more', () => {
    const { program, a, b, flow } = shared();
    program.hold(a);
    program.hold(b);
    program.release(a);
    expect(flow).toEqual(['pause']);
    program.detach(b);
    expect(flow).toEqual(['pause', 'resume']);
    program.hold(a);
    program.end(new HubError('upstream_unavailable', 'It was started again.'));
    expect(flow).toEqual(['pause', 'resume', 'pause', 'resume']);
  });

  test('what it says to all, all hear', () => {
    const { a, b, says } = shared();
    says({ method: 'notifications/tools/list_changed' });
    expect([...a.got, ...b.got]).toHaveLength(2);
  });
});

describe('a shared program', () => {
  test('writes the most that any of them wants, and tells of resources until none does', () => {
    const { program, a, b, ask, sent } = shared();
    ask(a, 2, 'logging/setLevel', { level: 'debug' });
    ask(b, 3, 'logging/setLevel', { level: 'error' });
    expect(sent.map(({ params }) => params)).toEqual([{ level: 'debug' }, { level: 'debug' }]);
    for (const [one, id] of [
      [a, 4],
      [b, 5],
    ] as const)
      ask(one, id, 'resources/subscribe', { uri: 'file:///x' });
    ask(a, 6, 'resources/unsubscribe', { uri: 'file:///x' });
    expect(a.got).toMatchObject([{ id: 6, result: {} }]);
    expect(methodsOf(sent)).not.toContain('resources/unsubscribe');
    program.detach(b);
    expect(sent.at(-1)).toMatchObject({ method: 'resources/unsubscribe', params: { uri: 'file:///x' } });
  });

  test('what a worker had under way is cancelled when it is gone, and what it was asked is refused', () => {
    const { program, a, b, ask, says, sent } = shared();
    ask(a, 2, 'tools/call');
    says(question('q'));
    program.detach(a);
    expect(sent.slice(1)).toMatchObject([
      { method: 'notifications/cancelled', params: { requestId: 2 } },
      { id: 'q', error: {} },
    ]);
    // It may go on all the same: its late answer reaches no worker, and its questions are for no other client.
    ask(b, 3, 'tools/call');
    says(question('q2'));
    expect(sent.at(-1)).toMatchObject({ id: 'q2', error: {} });
    expect(says({ id: 2, result: {} })).toBe(true);
    expect([...a.got, ...b.got]).toMatchObject([{ id: 'q' }]);
  });

  test('its end is told to all, and to those who come later', () => {
    const { program, a, b, dies } = shared();
    dies(new HubError('upstream_unavailable', 'It ended.', { output: 'last words' }));
    const late = attachment();
    program.attach(late);
    for (const one of [a, b, late])
      expect(one.told.at(-1)).toMatchObject({ kind: 'closed', error: { message: 'It ended.', output: 'last words' } });
  });

  test('its last log entries go to the worker that was the last to have it, or that is told to wait for them', async () => {
    const left = shared();
    left.program.detach(left.a);
    left.program.detach(left.b);
    left.ended.log = () => left.program.log({ kind: 'log', level: 'info', message: 'last words' });
    await left.program.stop();
    expect([logOf(left.a), logOf(left.b)]).toMatchObject([[], [{ message: 'last words' }]]);
    const over = shared();
    over.ended.log = () => over.program.log({ kind: 'log', level: 'info', message: 'last words' });
    over.program.end(new HubError('upstream_unavailable', 'It was started again.'));
    await over.program.stop();
    expect(over.a.told.slice(-3)).toMatchObject([
      { kind: 'closed', logs: true },
      { kind: 'log', message: 'last words' },
      { kind: 'ended' },
    ]);
    expect(over.b.told.at(-1)).not.toHaveProperty('logs');
  });
});
