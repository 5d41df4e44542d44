import { expect, test } from 'vitest';
import type { TracedCall, TracedRequest } from '../core/tracing.ts';
import type { RecordedSpan } from './spans.ts';
import { createTracing } from './tracing.ts';

const usual: TracedRequest = {
  method: 'tools/call',
  target: 'one',
  id: '1',
  sessionId: 's',
  revision: '2025-11-25',
  parent: undefined,
  within: undefined,
};
const called: TracedCall = { server: 'a', method: 'tools/call', target: 'one', revision: '2025-11-25' };

/** What a span of each says, in a hub that has seen the usual ones before. */
function spans(request: Partial<TracedRequest>, call: Partial<TracedCall> = {}) {
  const ended: RecordedSpan[] = [];
  const traces = {
    ended: (span: RecordedSpan) => void ended.push(span),
    sampling: () => true,
    propagates: true,
  };
  const transport = (server: string) => (server === 'a' ? 'pipe' : 'tcp');
  const tracing = createTracing({ traces, operations: undefined, transport });
  for (const [asked, target] of [
    [usual, called] as const,
    [
      { ...usual, ...request },
      { ...called, ...call },
    ] as const,
  ]) {
    const trace = tracing.request(asked);
    trace.call(target).end();
    trace.end();
  }
  return ended.slice(2).map(({ form: { name, kind, attributes }, own }) => {
    return { name, kind, attributes: { ...attributes, ...own } };
  });
}

const [ofCall, ofRequest] = spans({});

test.each<[Partial<TracedRequest>, object]>([
  [{ target: 'two' }, { 'gen_ai.tool.name': 'two' }],
  [{ revision: '2026-07-28' }, { 'mcp.protocol.version': '2026-07-28' }],
  [{ id: '"x"' }, { 'jsonrpc.request.id': 'x' }],
  [{ sessionId: 't' }, { 'mcp.session.id': 't' }],
])('the span of a request with %o says so, after one that is else alike', (request, more) => {
  expect(spans(request)[1]?.attributes).toEqual({ ...ofRequest?.attributes, ...more });
});

test.each<[Partial<TracedCall>, object]>([
  [{ server: 'b' }, { 'toolhub.server.name': 'b', 'network.transport': 'tcp', 'network.protocol.name': 'http' }],
  [{ target: 'two' }, { 'gen_ai.tool.name': 'two' }],
  [{ revision: '2026-07-28' }, { 'mcp.protocol.version': '2026-07-28' }],
])('the span of a call with %o says so, after one that is else alike', (call, more) => {
  expect(spans({}, call)[0]?.attributes).toEqual({ ...ofCall?.attributes, ...more });
});

test('a request of another method, without a session, and with a revision that is none', () => {
  const other = { method: 'ping', target: undefined, sessionId: undefined, revision: 'x'.repeat(1_000) };
  expect(spans(other)[1]).toEqual({
    name: 'ping',
    kind: 1,
    attributes: {
      'mcp.method.name': 'ping',
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
      'jsonrpc.request.id': '1',
    },
  });
});
