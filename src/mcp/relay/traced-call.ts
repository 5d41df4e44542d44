import type { Target } from '../../core/access/view.ts';
import { isObject, type RpcMessage } from '../../core/protocol/rpc.ts';
import type { ServerRequest } from '../../core/protocol/server-requests.ts';
import type { RequestFacts } from '../../core/protocol/stateless.ts';
import type { CallTrace, Failure } from '../../core/tracing.ts';
import type { ClientRequest } from '../request.ts';
import type { RelayConnection } from './options.ts';

/** Begins the server's part of a request; undefined where requests are not traced. */
export function callTrace(
  { method, trace }: ClientRequest,
  { server, key }: Target,
  offer: RelayConnection['offer'],
): CallTrace | undefined {
  // The address of a resource may hold what a caller wrote.
  const target = named.has(method) ? key : undefined;
  return trace?.call({ server, method, target, revision: offer?.about.protocolVersion });
}

const named: ReadonlySet<string> = new Set(['tools/call', 'prompts/get']);

/** What a server is to know of the request, with its trace. */
export function withTrace(facts: RequestFacts | undefined, trace: CallTrace | undefined): RequestFacts | undefined {
  if (!trace?.handedOn) return facts;
  return facts ? { ...facts, trace: trace.handedOn } : { trace: trace.handedOn };
}

/** The request of a server in its trace, which ends as the request does. */
export function tracedAsk(ask: ServerRequest, trace: CallTrace): ServerRequest {
  const part = trace.asks(ask.method);
  return {
    ...ask,
    answer(member, text) {
      part.end(member === 'error' ? { type: '_OTHER' } : undefined);
      ask.answer(member, text);
    },
    refuse(refusal) {
      part.end({ type: String(refusal.code), code: refusal.code });
      ask.refuse(refusal);
    },
    // The code that takes the request sets this on the traced one; the link calls it on its own.
    get withdrawn() {
      return ask.withdrawn;
    },
    set withdrawn(withdrawn) {
      ask.withdrawn =
        withdrawn &&
        ((reason) => {
          part.end({ type: 'cancelled' });
          withdrawn(reason);
        });
    },
  };
}

/** How a server's answer failed; undefined when it did not. */
export function answerFailure({ result, error }: Pick<RpcMessage, 'result' | 'error'>): Failure | undefined {
  if (isObject(result)) return result['isError'] === true ? { type: 'tool_error' } : undefined;
  if (!isObject(error)) return { type: '_OTHER' };
  const { code } = error;
  return typeof code === 'number' && Number.isSafeInteger(code) ? { type: String(code), code } : { type: '_OTHER' };
}
