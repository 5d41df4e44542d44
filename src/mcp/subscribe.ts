import { HubError } from '../core/errors.ts';
import { editObject, memberText } from '../core/json/text.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { mcpLimits } from './limits.ts';
import { type ClientRequest, stateOwner } from './request.ts';
import { metaKeys } from '../core/protocol/stateless.ts';
import type { LiveSession } from './sessions.ts';
import type { Subscriptions } from './subscriptions.ts';

/**
 * `resources/subscribe` of a session: once for each resource, however often it is asked. Throws HubError
 * `invalid_input` without a session, because only a session can be told of changes; `too_many`; and what
 * `Subscriptions.add` throws.
 */
export async function subscribe(request: ClientRequest, subscriptions: Subscriptions): Promise<void> {
  const uri = uriOf(request);
  const { session, principal, scope, clientHeaders } = request;
  if (!session) throw new HubError('invalid_input', 'Subscriptions need a session: initialize first.');
  const name = holdName(uri);
  if (session.holds.has(name)) return;
  if (session.holds.size >= mcpLimits.subscriptionsPerSession) {
    throw new HubError('too_many', `A session may subscribe to ${mcpLimits.subscriptionsPerSession} resources.`);
  }
  // Taken before the server is asked: a second request meanwhile must not ask again, and an end must not be missed.
  let ended = false;
  session.holds.set(name, () => (ended = true));
  try {
    const subscriber = {
      principal,
      scope,
      session: stateOwner(request),
      clientHeaders,
      tell: (text: string) => void session.send(forSession(text)),
    };
    const release = await subscriptions.add(subscriber, uri);
    if (ended) release();
    else session.holds.set(name, release);
  } catch (error) {
    session.holds.delete(name);
    throw error;
  } finally {
    session.settle({});
  }
}

/** `resources/unsubscribe`: what is not subscribed to need not be ended. Throws HubError `invalid_input`. */
export function unsubscribe(request: ClientRequest): void {
  const { session } = request;
  const name = holdName(uriOf(request));
  if (!session) return;
  release(session, name);
  session.settle({});
}

function release({ holds }: LiveSession, name: string): void {
  const end = holds.get(name);
  holds.delete(name);
  end?.();
}

function holdName(uri: string): string {
  return `resource ${uri}`;
}

function uriOf({ method, message }: ClientRequest): string {
  const uri = isObject(message.params) ? message.params['uri'] : undefined;
  if (typeof uri !== 'string') throw new HubError('invalid_input', `${method} needs params.uri, a string.`);
  return uri;
}

/** Without the id of the hub's own subscription at the server. */
function forSession(text: string): string {
  return withSubscription(text, null);
}

/**
 * A notification marked with a client's subscription, given as JSON text, in place of the hub's own; `null`: with none.
 */
export function withSubscription(text: string, id: string | null): string {
  const params = memberText(text, 'params') ?? '{}';
  const meta = memberText(params, '_meta');
  if (meta === undefined && id === null) return text;
  const own = editObject(meta ?? '{}', { [metaKeys.subscriptionId]: id });
  return editObject(text, { params: editObject(params, { _meta: own === '{}' ? null : own }) });
}
