import { expect, test } from 'vitest';
import type { TracedRequest, Tracing } from '../core/tracing.ts';
import type { ClientRequest } from './request.ts';
import { traced } from './traced.ts';

/** What a trace is told of a request in a session of this revision. */
function told(revision: string): TracedRequest | undefined {
  let asked: TracedRequest | undefined;
  const tracing = {
    request(one: TracedRequest) {
      asked = one;
      return {};
    },
  } as unknown as Tracing;
  const session = { facts: { sid: 'a session', revision } };
  const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const request = { method: 'ping', message, text: '', id: '1', session, clientHeaders: {}, view: {}, reply: {} };
  traced(request as unknown as ClientRequest, tracing);
  return asked;
}

test('the id of a session of HTTP+SSE, with which one can send messages in it, is in no trace', () => {
  expect(told('2025-11-25')).toMatchObject({ sessionId: 'a session' });
  expect(told('2024-11-05')).toMatchObject({ revision: '2024-11-05', sessionId: undefined });
});
