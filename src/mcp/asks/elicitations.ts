import { limits } from '../../core/limits.ts';
import { isObject, type RpcMessage } from '../../core/protocol/rpc.ts';
import type { Sessions } from '../sessions.ts';

/**
 * Whose the elicitations by URL are. They end outside of the protocol, and a server may say so when the call is long over, with nothing but the elicitation's id
 * (2025-11-25, Elicitation, Completion notifications).
 */
export interface Elicitations {
  /** This session was sent to an address under this id. */
  note(server: string, elicitationId: unknown, sid: string): void;
  /** `notifications/elicitation/complete`: told to the session it is about, once, and to no other. */
  completed(server: string, message: RpcMessage, text: string, sessions: Pick<Sessions, 'byId'>): void;
}

export function createElicitations(): Elicitations {
  /** The oldest first. */
  const sids = new Map<string, string>();
  return {
    note(server, elicitationId, sid) {
      if (typeof elicitationId !== 'string' || elicitationId.length > limits.elicitationIdChars) return;
      const oldest = sids.keys().next().value;
      if (sids.size >= limits.elicitations && oldest !== undefined) sids.delete(oldest);
      sids.set(keyOf(server, elicitationId), sid);
    },
    completed(server, message, text, sessions) {
      const key = keyOf(server, isObject(message.params) ? message.params['elicitationId'] : undefined);
      const sid = sids.get(key);
      sids.delete(key);
      if (sid !== undefined) sessions.byId(sid)?.send(text);
    },
  };
}

function keyOf(server: string, elicitationId: unknown): string {
  return JSON.stringify([server, elicitationId]);
}
