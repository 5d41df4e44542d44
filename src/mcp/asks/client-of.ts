import { type Abilities, abilitiesOf, capabilitiesText, noAbilities } from '../../core/protocol/asks.ts';
import { memberText } from '../../core/json/text.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { metaKeys } from '../../core/protocol/stateless.ts';
import type { Target } from '../../core/access/view.ts';
import type { ClientRequest } from '../request.ts';

/** What the client of a request can be asked: as its session has it, or as the request says itself. Whoever calls over REST can be asked nothing. */
export function abilitiesFor({ session, stateless, message }: ClientRequest): Abilities {
  if (session) return session.facts.abilities;
  const meta = stateless && isObject(message.params) ? message.params['_meta'] : undefined;
  return isObject(meta) ? abilitiesOf(meta[metaKeys.clientCapabilities]) : noAbilities;
}

/**
 * The tool that a request calls, where its client may be asked something meanwhile, and the name of that client; otherwise undefined. A call that makes a task is none: the task is
 * where its call went, and says itself what is asked for it.
 */
export function askableCall(
  request: ClientRequest,
  target: Target,
): { readonly tool: string; readonly asker: string | undefined } | undefined {
  const { method, message, session } = request;
  if (method !== 'tools/call' || !/[fus]/.test(abilitiesFor(request))) return undefined;
  if (isObject(message.params) && message.params['task'] !== undefined) return undefined;
  return { tool: target.key, asker: session?.facts.sid };
}

/** The capabilities that a stateless server hears of, as JSON text: those of the client that calls, in its own words where it has said them with the call. */
export function capabilitiesFor(request: ClientRequest): string | undefined {
  if (request.session) return capabilitiesText(request.session.facts.abilities);
  if (!request.stateless) return undefined;
  const meta = memberText(request.params ?? '{}', '_meta') ?? '{}';
  return memberText(meta, metaKeys.clientCapabilities);
}
