import { isObject, resultText, type RpcMessage } from '../core/rpc.ts';
import type { Views } from '../core/view.ts';
import { type Announcer, type ChangedList, changedMethod } from './announcer.ts';
import { metaKeys } from './revisions.ts';
import type { Streams } from './stream.ts';
import { refuseStream, type Visit } from './visit.ts';

const filters = {
  toolsListChanged: 'tools',
  promptsListChanged: 'prompts',
  resourcesListChanged: 'resources',
} as const satisfies Record<string, ChangedList>;

/**
 * `subscriptions/listen` of the stateless revision: the response is a stream of the changes that were asked for, each marked with the id of the request, until
 * the client leaves. It begins with what of the filter is honoured, and ends with the result when it is the hub that ends it.
 */
export function listen(
  visit: Visit,
  message: RpcMessage,
  id: string,
  options: { views: Views; announcer: Announcer; streams: Streams },
): void {
  if (options.streams.full) return refuseStream(visit);
  const { res, headers, principal, scope } = visit;
  const params = isObject(message.params) ? message.params : {};
  const wanted = isObject(params['notifications']) ? params['notifications'] : {};
  const honoured = (Object.keys(filters) as (keyof typeof filters)[]).filter((name) => wanted[name] === true);
  const lists = new Set<ChangedList>(honoured.map((name) => filters[name]));
  const meta = `"_meta":{${JSON.stringify(metaKeys.subscriptionId)}:${id}}`;
  const farewell = resultText(id, `{"resultType":"complete",${meta}}`);
  const stream = options.streams.open(res, headers, () => stopListening(), farewell);
  const stopListening = options.announcer.add({
    principal,
    scope,
    seen: options.views.get(principal, scope),
    tell(kinds) {
      for (const kind of kinds) {
        if (lists.has(kind)) stream.send(`{"jsonrpc":"2.0","method":"${changedMethod[kind]}","params":{${meta}}}`);
      }
    },
  });
  const acknowledged = JSON.stringify(Object.fromEntries(honoured.map((name) => [name, true])));
  stream.send(
    `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":${acknowledged},${meta}}}`,
  );
}
