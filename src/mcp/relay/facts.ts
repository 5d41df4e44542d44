import { isObject } from '../../core/protocol/rpc.ts';
import { namedBy, type RequestFacts } from '../../core/protocol/stateless.ts';
import type { Target } from '../../core/access/view.ts';
import { capabilitiesFor } from '../server-requests/client-of.ts';
import { wantedLevel } from '../log-levels.ts';
import type { ClientRequest } from '../request.ts';

/** What a stateless server is to know of a request besides what is in it. */
export function factsOf(request: ClientRequest, { key }: Target): RequestFacts {
  const { method, message } = request;
  const args = method === 'tools/call' && isObject(message.params) ? message.params['arguments'] : undefined;
  const named = namedBy.has(method) && { name: key };
  return { capabilities: capabilitiesFor(request), logLevel: wantedLevel(request), ...named, args };
}
