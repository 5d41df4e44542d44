import { isObject } from '../../core/protocol/rpc.ts';
import { inputRequired } from './suspended-calls.ts';

/**
 * The server cannot go on before the user has opened an address (2025-11-25, Elicitation, URL Elicitation Required
 * Error).
 */
export const urlElicitationRequired = -32042;

/** The elicitations that such an error lists. */
export function elicitationsOf(error: Record<string, unknown>): Record<string, unknown>[] {
  const { data } = error;
  const listed = isObject(data) ? data['elicitations'] : undefined;
  return Array.isArray(listed) ? listed.filter(isObject) : [];
}

/**
 * The same in the form of 2026-07-28, where it is not an error: the client sends its user there, and makes the call
 * again.
 */
export function urlsRequired(error: Record<string, unknown>): string {
  const requests = elicitationsOf(error).map(({ message, url }, i) => {
    const request = { method: 'elicitation/create', params: { mode: 'url', message, url } };
    return [`elicitation-${i + 1}`, JSON.stringify(request)] as const;
  });
  return inputRequired(requests, undefined);
}
