import { setTimeout as sleep } from 'node:timers/promises';
import { isObject, resultText, type RpcMessage } from '../core/protocol/rpc.ts';
import type { Views } from '../core/access/view.ts';
import { type Announcer, type ChangedList, changedMethod } from './announcer.ts';
import { mcpLimits } from './limits.ts';
import { metaKeys } from '../core/protocol/stateless.ts';
import type { Streams } from './stream.ts';
import { withSubscription } from './subscribe.ts';
import type { Subscriptions } from './subscriptions.ts';
import { refuseStream, type RequestContext } from './request-context.ts';

const filters = {
  toolsListChanged: 'tools',
  promptsListChanged: 'prompts',
  resourcesListChanged: 'resources',
} as const satisfies Record<string, ChangedList>;

export interface ListenOptions {
  readonly views: Views;
  readonly announcer: Announcer;
  readonly streams: Streams;
  readonly subscriptions: Subscriptions;
}

/**
 * `subscriptions/listen` of the stateless revision: the response is a stream of the changes that were asked for, each
 * marked with the id of the request, until the client leaves. It begins with what of the filter is honoured, and ends
 * with the result when it is the hub that ends it.
 */
export function listen(context: RequestContext, message: RpcMessage, id: string, options: ListenOptions): void {
  if (options.streams.full) return refuseStream(context);
  const { res, headers, principal, scope } = context;
  const params = isObject(message.params) ? message.params : {};
  const wanted = isObject(params['notifications']) ? params['notifications'] : {};
  const honoured = (Object.keys(filters) as (keyof typeof filters)[]).filter((name) => wanted[name] === true);
  const lists = new Set<ChangedList>(honoured.map((name) => filters[name]));
  const meta = `"_meta":{${JSON.stringify(metaKeys.subscriptionId)}:${id}}`;
  const farewell = resultText(id, `{"resultType":"complete",${meta}}`);
  const stream = options.streams.open(
    res,
    headers,
    () => {
      stopListening();
      resources.end();
    },
    farewell,
  );
  const early: string[] = [];
  let acknowledged = false;
  // Nothing may precede the acknowledgement, and nothing may be lost.
  const say = (text: string): void => {
    if (acknowledged) stream.send(text);
    else if (early.length < mcpLimits.subscriptionsPerSession) early.push(text);
  };
  const stopListening = options.announcer.add({
    principal,
    scope,
    seen: options.views.get(principal, scope),
    tell(kinds) {
      for (const kind of kinds) {
        if (lists.has(kind)) say(`{"jsonrpc":"2.0","method":"${changedMethod[kind]}","params":{${meta}}}`);
      }
    },
    groupGone: () => stream.end(),
  });
  const resources = subscribeAll(context, wanted['resourceSubscriptions'], options.subscriptions, (text) =>
    say(withSubscription(text, id)),
  );
  const acknowledge = (uris: readonly string[] | undefined): void => {
    const filter = Object.fromEntries(honoured.map((name) => [name, true]));
    const notifications = JSON.stringify(uris ? { ...filter, resourceSubscriptions: uris } : filter);
    stream.send(
      `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":${notifications},${meta}}}`,
    );
    acknowledged = true;
    for (const text of early.splice(0)) stream.send(text);
  };
  if (resources.agreed) void resources.agreed.then(acknowledge);
  else acknowledge(undefined);
}

interface Subscribed {
  /**
   * The resources whose changes servers agreed to report, or did not answer about in time; undefined when none was
   * asked for. Never rejects.
   */
  readonly agreed: Promise<readonly string[]> | undefined;
  end(): void;
}

/**
 * Subscribes to each of the resources where that is possible; the others are left out. A slow server does not delay the
 * rest.
 */
function subscribeAll(
  { principal, scope, clientHeaders }: RequestContext,
  asked: unknown,
  subscriptions: Subscriptions,
  tell: (text: string) => void,
): Subscribed {
  if (!Array.isArray(asked)) return { agreed: undefined, end: () => undefined };
  const uris = new Set(asked.filter((uri) => typeof uri === 'string').slice(0, mcpLimits.subscriptionsPerSession));
  const refused = new Set<string>();
  const releases: (() => void)[] = [];
  let ended = false;
  const subscriber = { principal, scope, session: '', clientHeaders, tell };
  const adding = [...uris].map(async (uri) => {
    try {
      const release = await subscriptions.add(subscriber, uri);
      if (ended) release();
      else releases.push(release);
    } catch {
      // It does not exist, is not visible, or its changes are not reported: left out of the acknowledgment in all three
      // cases (2026-07-28, Acknowledgment).
      refused.add(uri);
    }
  });
  const done = Promise.race([Promise.all(adding), sleep(mcpLimits.subscribeWaitMs, undefined, { ref: false })]);
  return {
    agreed: done.then(() => [...uris].filter((uri) => !refused.has(uri))),
    end() {
      ended = true;
      for (const release of releases.splice(0)) release();
    },
  };
}
