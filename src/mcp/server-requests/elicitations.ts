import type { Views } from '../../core/access/view.ts';
import { isObject, type RpcMessage } from '../../core/protocol/rpc.ts';
import { mcpLimits } from '../limits.ts';
import type { Sessions } from '../sessions.ts';

/**
 * Which session each elicitation by URL belongs to. They end outside of the protocol, and a server may report that long
 * after the call, with nothing but the elicitation's id (2025-11-25, Elicitation, Completion notifications).
 */
export interface Elicitations {
  /** This session was sent to an address under this id. */
  note(server: string, elicitationId: unknown, sid: string): void;
  /**
   * `notifications/elicitation/complete`: told to the session it is about, once, and to no other; and to none that does
   * not see the server any more.
   */
  completed(
    server: string,
    message: RpcMessage,
    text: string,
    at: { readonly sessions: Pick<Sessions, 'byId'>; readonly views: Views },
  ): void;
}

export function createElicitations(): Elicitations {
  /** The oldest first. */
  const sids = new Map<string, string>();
  return {
    note(server, elicitationId, sid) {
      if (typeof elicitationId !== 'string' || elicitationId.length > mcpLimits.elicitationIdChars) return;
      const oldest = sids.keys().next().value;
      if (sids.size >= mcpLimits.elicitations && oldest !== undefined) sids.delete(oldest);
      sids.set(keyOf(server, elicitationId), sid);
    },
    completed(server, message, text, { sessions, views }) {
      const key = keyOf(server, isObject(message.params) ? message.params['elicitationId'] : undefined);
      const sid = sids.get(key);
      sids.delete(key);
      const session = sid === undefined ? undefined : sessions.byId(sid);
      if (!session) return;
      const { principal, scope } = session.facts;
      if (views.get(principal, scope).servers.includes(server)) session.send(text);
    },
  };
}

function keyOf(server: string, elicitationId: unknown): string {
  return JSON.stringify([server, elicitationId]);
}

/**
 * The code of the error that says that the server cannot go on before the user has opened an address (2025-11-25,
 * Elicitation, URL Elicitation Required Error).
 */
export const urlElicitationRequired = -32042;

/** The elicitations that such an error lists. */
export function elicitationsOf(error: Record<string, unknown>): Record<string, unknown>[] {
  const { data } = error;
  const listed = isObject(data) ? data['elicitations'] : undefined;
  return Array.isArray(listed) ? listed.filter(isObject) : [];
}
