import {
  type ClientCapabilities,
  capabilitiesOf,
  capabilitiesText,
  noCapabilities,
} from '../../core/protocol/server-requests.ts';
import { memberText } from '../../core/json/text.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { metaKeys } from '../../core/protocol/stateless.ts';
import type { ClientRequest } from '../request.ts';

/**
 * What the client of a request can be asked: as its session has it, or as the request says itself. A caller over REST
 * cannot be asked anything.
 */
export function abilitiesFor({ session, stateless, message }: ClientRequest): ClientCapabilities {
  if (session) return session.facts.abilities;
  const meta = stateless && isObject(message.params) ? message.params['_meta'] : undefined;
  return isObject(meta) ? capabilitiesOf(meta[metaKeys.clientCapabilities]) : noCapabilities;
}

/**
 * The capabilities that a stateless server is told, as JSON text: those of the client that calls, as its own text where
 * it sent them with the call.
 */
export function capabilitiesFor(request: ClientRequest): string | undefined {
  if (request.session) return capabilitiesText(request.session.facts.abilities);
  if (!request.stateless) return undefined;
  const meta = memberText(request.params ?? '{}', '_meta') ?? '{}';
  return memberText(meta, metaKeys.clientCapabilities);
}
