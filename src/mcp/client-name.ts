import { isObject } from '../core/protocol/rpc.ts';
import { mcpLimits } from './limits.ts';
import type { ClientRequest } from './request.ts';
import { clientInfoOf } from './stateless.ts';

/** What the client of a request calls itself; undefined where it has not said so, and for calls over REST. */
export function clientNameFor({ client, session, stateless, message }: ClientRequest): string | undefined {
  if (client !== undefined) return client;
  if (session) return session.facts.client;
  return stateless ? clientName(clientInfoOf(message)) : undefined;
}

/** The name in a `clientInfo`, as plain text. */
export function clientName(info: unknown): string | undefined {
  return plain(isObject(info) ? info['name'] : undefined) || undefined;
}

/** A text of a stranger without what is not seen, or turns the order of what is around it, and cut. */
export function plain(text: unknown): string {
  if (typeof text !== 'string') return '';
  const cut = text.slice(0, 4 * mcpLimits.arrivalTextChars).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '');
  return Array.from(cut.trim()).slice(0, mcpLimits.arrivalTextChars).join('');
}
