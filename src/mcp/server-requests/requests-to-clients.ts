import { randomUUID } from 'node:crypto';
import { type HubId, idAt, newHubId } from '../../core/hub-id.ts';
import { missingFor, type ServerRequest, unsupportedRefusal } from '../../core/protocol/server-requests.ts';
import { editObject, memberText } from '../../core/json/text.ts';
import { isObject, type RpcMessage, rpcErrors } from '../../core/protocol/rpc.ts';
import { mcpLimits } from '../limits.ts';
import type { Reply } from '../reply.ts';
import type { LiveSession } from '../sessions.ts';

/**
 * Servers' requests to clients of the session era, from the moment one is sent until it is answered, withdrawn or too
 * late.
 */
export interface RequestsToClients {
  /**
   * Sends a server request to the client of a session: on the stream of its call if the answer may be a stream, else on
   * an open stream; refuses it where there is none.
   */
  put(ask: ServerRequest, session: LiveSession, reply: Reply | undefined): void;
  /**
   * A client's response: it counts when it comes from the session that was asked, and once. All other responses are
   * ignored.
   */
  answered(sid: string, message: RpcMessage, text: string): void;
  /** A client's `notifications/progress`. */
  progressed(sid: string, message: RpcMessage, text: string): void;
  /** How many wait for an answer. */
  readonly size: number;
}

interface Open {
  readonly ask: ServerRequest;
  readonly timer: NodeJS.Timeout;
  /** The server's own progress token, as JSON text. */
  readonly token: string | undefined;
}

export function createRequestsToClients(askMs: number = mcpLimits.askMs, hub: HubId = newHubId()): RequestsToClients {
  /** By session, then by the id that the client was given. */
  const bySession = new Map<string, Map<string, Open>>();

  function take(sid: string, id: unknown): Open | undefined {
    const own = bySession.get(sid);
    const open = typeof id === 'string' ? own?.get(id) : undefined;
    if (!own || !open) return undefined;
    own.delete(id as string);
    if (own.size === 0) bySession.delete(sid);
    clearTimeout(open.timer);
    return open;
  }

  function put(ask: ServerRequest, session: LiveSession, reply: Reply | undefined): void {
    const { sid, abilities } = session.facts;
    if (missingFor(ask, abilities)) return ask.refuse(unsupportedRefusal(ask, abilities));
    const own = bySession.get(sid) ?? new Map<string, Open>();
    if (own.size >= mcpLimits.serverRequestsPerSession)
      return ask.refuse({ code: rpcErrors.internal, message: 'Too many questions wait for this client already.' });
    // It cannot be guessed and is never used twice: a session outlives the hub's process. It leads the answer here.
    const id = idAt(hub, randomUUID());
    const meta = memberText(ask.paramsText ?? '{}', '_meta') ?? '{}';
    const token = memberText(meta, 'progressToken');
    const send = (text: string): boolean => (reply?.ask?.(text) ?? false) || session.send(text);
    const withdraw = (reason: string): void => {
      if (take(sid, id)) send(cancelledText(id, reason));
    };
    ask.withdrawn = withdraw;
    const timer = setTimeout(() => {
      withdraw('not answered in time');
      ask.refuse({ code: rpcErrors.internal, message: `The client did not answer within ${askMs / 1_000} s.` });
    }, askMs).unref();
    own.set(id, { ask, timer, token });
    bySession.set(sid, own);
    if (send(requestText(id, ask, token === undefined ? undefined : meta))) return;
    take(sid, id);
    ask.refuse({ code: rpcErrors.internal, message: 'The client has no stream open on which it could be asked.' });
  }

  return {
    put,
    answered(sid, message, text) {
      const member = message.result === undefined ? 'error' : 'result';
      const answer = memberText(text, member);
      if (answer !== undefined) take(sid, message.id)?.ask.answer(member, answer);
    },
    progressed(sid, message, text) {
      const token = isObject(message.params) ? message.params['progressToken'] : undefined;
      const open = typeof token === 'string' ? bySession.get(sid)?.get(token) : undefined;
      if (open?.token === undefined) return;
      open.ask.progressed(editObject(memberText(text, 'params') ?? '{}', { progressToken: open.token }));
    },
    get size() {
      let size = 0;
      for (const own of bySession.values()) size += own.size;
      return size;
    },
  };
}

/**
 * The server request as the client gets it. Its progress token, if it has one, becomes the request's id, so that the
 * tokens of two servers are never the same.
 */
function requestText(id: string, { method, paramsText }: ServerRequest, meta: string | undefined): string {
  const quoted = JSON.stringify(id);
  const params = meta && editObject(paramsText ?? '{}', { _meta: editObject(meta, { progressToken: quoted }) });
  const tail = (params ?? paramsText) === undefined ? '' : `,"params":${params ?? paramsText}`;
  return `{"jsonrpc":"2.0","id":${quoted},"method":"${method}"${tail}}`;
}

function cancelledText(id: string, reason: string): string {
  return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${JSON.stringify({ requestId: id, reason })}}`;
}
