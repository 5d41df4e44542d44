import { HubError } from '../core/errors.ts';
import type { Target, View, Views } from '../core/access/view.ts';
import { ownServer } from '../core/own-items.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { matchesTemplate } from '../core/protocol/uri-template.ts';
import { toldToCaller, unknownTarget } from './failure.ts';
import { mcpLimits } from './limits.ts';
import type { RelayConnection, RelayConnections } from './relay/options.ts';
import { requestKey } from './relay/relayed-call.ts';
import { type ClientRequest, stateOwner, viewNow } from './request.ts';
import type { Cancellable } from './sessions.ts';

export interface ListingOptions {
  readonly views: Views;
  readonly connections: Pick<RelayConnections, 'connection'>;
  /** See `Pool.listed`. */
  readonly listed: (server: string, waitMs: number) => Promise<void>;
}

/** What a request waits for. */
interface Awaited {
  readonly servers: readonly string[];
  /** Where the name that the request has leads; undefined where it may lead to any of the servers, or to none. */
  readonly target: Target | undefined;
  /** What it names is known: should a server not be there in time, the request itself finds out. */
  readonly isKnown: boolean;
}

/**
 * Calls `next` with what a request sees once the server it names is listed; undefined where there is nothing to wait
 * for. Until `next` has returned the request can be cancelled in its session. A server that users use with credentials
 * of their own is listed with those of the first user who sets them (CONTRACT §8): until then no name of its tools is
 * known, and all who may use it are told to set theirs. One that a change of the settings starts may offer other tools
 * than it did. A URI that no list has may be of any of those. Rejects with HubError `credentials_required`,
 * `oauth_required`, `not_found`, or `upstream_unavailable` for a server that is not listed in time.
 */
export function listingFirst(
  request: ClientRequest,
  options: ListingOptions,
  next: (view: View) => void,
): Promise<void> | undefined {
  const { unlisted, restarting } = request.view;
  if (!unlisted && !restarting) return undefined;
  const awaited = awaitedBy(request, request.view);
  if (!awaited) return undefined;
  const { principal, clientHeaders } = request;
  const asker = { principal, clientHeaders, session: stateOwner(request) };
  const { target, isKnown } = awaited;
  const connection = target && !isKnown ? options.connections.connection(target.server, asker) : undefined;
  return listing(request, awaited, connection, options, next);
}

async function listing(
  request: ClientRequest,
  { servers, target, isKnown }: Awaited,
  connection: Pick<RelayConnection, 'status'> | undefined,
  { views, listed }: ListingOptions,
  next: (view: View) => void,
): Promise<void> {
  const wait = cancellable(request);
  const all = servers.map((server) => listed(server, mcpLimits.waitForConnectionMs));
  const isNeeded = target && !isKnown;
  try {
    await Promise.race([isNeeded ? Promise.all(all) : Promise.allSettled(all), wait.cancelled]).catch(
      (error: unknown) => {
        throw target ? toldOfServer(error, target.server, connection) : error;
      },
    );
    const view = await viewNow(request, views);
    wait.mustGoOn();
    if (isNeeded && awaitedBy(request, view)?.isKnown === false) throw unknownTarget(request);
    next(view);
  } finally {
    // Not before: a session with nothing under way is released, and what begins then would not be found in it.
    wait.end();
  }
}

/** `connection` is undefined where it was made after the request had come. */
export function toldOfServer(error: unknown, server: string, connection?: Pick<RelayConnection, 'status'>): unknown {
  const { kind, phase } = connection?.status ?? { kind: 'disconnected' };
  return error instanceof HubError ? toldToCaller(error, server, kind, phase) : error;
}

/** Rejects when the client leaves, or no longer wants the answer. */
function cancellable(request: ClientRequest) {
  const { reply, session } = request;
  const id = requestKey(request);
  let why: HubError | undefined;
  let call: Cancellable = { cancel: () => undefined };
  const cancelled = new Promise<never>((_, reject) => {
    call = {
      cancel(reason) {
        why = new HubError('cancelled', `Request cancelled: ${reason}`);
        reject(why);
      },
    };
  });
  cancelled.catch(() => undefined);
  const gone = (): void => call.cancel('client disconnected');
  reply.gone = gone;
  session?.inFlight.set(id, call);
  return {
    cancelled,
    /** For what comes after the wait. Throws HubError `cancelled`. */
    mustGoOn(): void {
      if (why) throw why;
    },
    end(): void {
      if (reply.gone === gone) reply.gone = undefined;
      session?.settle({ call, id });
    },
  };
}

function awaitedBy(request: ClientRequest, view: View): Awaited | undefined {
  const {
    method,
    message,
    view: { smart },
  } = request;
  const params = isObject(message.params) ? message.params : {};
  const given = isObject(params['arguments']) ? params['arguments'] : {};
  switch (method) {
    case 'tools/call': {
      if (!smart) return forName(params['name'], view, 'tool');
      // The tools of smart routing itself are always there.
      const isAbout = params['name'] === 'call_tool' || params['name'] === 'describe_tool';
      return isAbout ? forName(given['toolName'], view, 'tool') : undefined;
    }
    case 'prompts/get':
      return forName(params['name'], view, 'prompt');
    case 'resources/read':
    case 'resources/subscribe':
      return forUri(params['uri'], view);
    case 'completion/complete': {
      const ref = isObject(params['ref']) ? params['ref'] : {};
      return ref['type'] === 'ref/prompt' ? forName(ref['name'], view, 'prompt') : forUri(ref['uri'], view);
    }
  }
  return undefined;
}

function forName(name: unknown, view: View, kind: 'tool' | 'prompt'): Awaited | undefined {
  if (typeof name !== 'string') return undefined;
  const known = view[kind](name);
  const target = known ?? view.unlisted?.(name);
  if (!target || (known && !view.restarting?.has(known.server))) return undefined;
  return { servers: [target.server], target, isKnown: known !== undefined };
}

function forUri(uri: unknown, view: View): Awaited | undefined {
  const { restarting } = view;
  if (typeof uri !== 'string' || !restarting) return undefined;
  const target = view.template(uri) ?? view.resource(uri);
  if (!target || !isListed(view, target)) return { servers: [...restarting], target: undefined, isKnown: false };
  return restarting.has(target.server) ? { servers: [target.server], target, isKnown: true } : undefined;
}

/** Whether a list names a resource, or has a template of it: otherwise where it leads is the best guess. */
function isListed({ lists: { resources, templates } }: View, { server, key }: Target): boolean {
  const isIts = (one: Target): boolean => one.server === server && one.key === key;
  return (
    server === ownServer ||
    resources.targets.some(isIts) ||
    templates.targets.some((one) => isIts(one) || (one.server === server && matchesTemplate(one.key, key)))
  );
}
