import { describe, expect, test } from 'vitest';
import { HubError } from '../../../core/errors.ts';
import type { RpcMessage } from '../../../core/protocol/rpc.ts';
import type { ChannelEvents } from '../channel.ts';
import { type Attachment, SharedProgram } from './shared-program.ts';
import type { ToldByHost } from './told.ts';

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
    large: () => undefined,
  };
}

/** A program with two workers, and what it is sent. */
function shared() {
  const program = new SharedProgram('s');
  const sent: RpcMessage[] = [];
  let events: ChannelEvents | undefined;
  program.start((own) => {
    events = own;
    return {
      send: (text) => void sent.push(JSON.parse(text) as RpcMessage),
      abandon() {},
      ready() {},
      forgetSession() {},
      close: () => Promise.resolve(),
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
    ask: (from: Attachment, id: number, method: string, params: object = {}) =>
      program.sent(from, `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}`),
    notify: (from: Attachment, method: string, params: object = {}) =>
      program.sent(from, `{"jsonrpc":"2.0","method":"${method}","params":${JSON.stringify(params)}}`),
    says: (message: object) =>
      events?.message({ jsonrpc: '2.0', ...message }, JSON.stringify({ jsonrpc: '2.0', ...message })),
    dies: (error: HubError) => events?.closed(error),
  };
}

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
    for (const [one, id] of [
      [a, 2],
      [b, 3],
      [late, 5],
    ] as const)
      expect(one.got).toMatchObject([{ id, result: { protocolVersion: '2025-11-25' } }]);
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

  test('a question goes to the worker whose calls alone it can belong to', () => {
    const { program, a, b, ask, says, sent } = shared();
    ask(b, 3, 'tools/list');
    ask(a, 2, 'tools/call');
    says({ id: 'q1', method: 'elicitation/create', params: {} });
    expect(a.got).toMatchObject([{ id: 'q1' }]);
    // Only who was asked may answer.
    program.sent(b, '{"jsonrpc":"2.0","id":"q1","result":{"from":"b"}}');
    program.sent(a, '{"jsonrpc":"2.0","id":"q1","result":{"from":"a"}}');
    expect(sent.slice(2)).toEqual([{ jsonrpc: '2.0', id: 'q1', result: { from: 'a' } }]);
    ask(b, 5, 'tools/call');
    says({ id: 'q2', method: 'elicitation/create', params: {} });
    expect(sent.at(-1)).toMatchObject({ id: 'q2', error: { message: expect.stringContaining('several calls') } });
    expect([...a.got, ...b.got]).toHaveLength(1);
    expect(says({ id: 'p', method: 'ping' })).toBe(true);
    expect(sent.at(-1)).toMatchObject({ id: 'p', result: {} });
  });

  test('a call that one worker gave up keeps questions from the others until it is answered', () => {
    const { a, b, ask, notify, says, sent } = shared();
    ask(a, 2, 'tools/call');
    notify(a, 'notifications/cancelled', { requestId: 2 });
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
    expect([...a.told, ...b.told].filter(({ kind }) => kind === 'log')).toMatchObject([{ message: '"of whom"' }]);
  });

  test('what it says to all, all hear', () => {
    const { a, b, says } = shared();
    says({ method: 'notifications/tools/list_changed' });
    expect([...a.got, ...b.got]).toHaveLength(2);
  });

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
    says({ id: 'q', method: 'elicitation/create', params: {} });
    program.detach(a);
    expect(sent.slice(1)).toMatchObject([
      { method: 'notifications/cancelled', params: { requestId: 2 } },
      { id: 'q', error: {} },
    ]);
    // It may go on all the same: its late answer reaches no worker, and its questions are for no other client.
    ask(b, 3, 'tools/call');
    says({ id: 'q2', method: 'elicitation/create', params: {} });
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
});
