import { HubError } from '../core/errors.ts';
import type { Target, View, Views } from '../core/access/view.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { toldToCaller, unknownTarget } from './failure.ts';
import { mcpLimits } from './limits.ts';
import type { RelayConnections } from './relay/options.ts';
import { requestKey } from './relay/relayed-call.ts';
import { type ClientRequest, stateOwner, viewNow } from './request.ts';
import type { Cancellable } from './sessions.ts';

export interface ListingOptions {
  readonly views: Views;
  readonly connections: Pick<RelayConnections, 'connection'>;
  /** See `Pool.listed`. */
  readonly listed: (server: string, waitMs: number) => Promise<void>;
}

/**
 * What a request sees once the server it names is listed; undefined where there is nothing to wait for. A server that
 * users use with credentials of their own is listed with those of the first user who sets them (CONTRACT §8): until
 * then no name of its tools is known, and all who may use it are told to set theirs. Throws HubError
 * `credentials_required`, `oauth_required`, or `not_found`.
 */
export function listingFirst(request: ClientRequest, options: ListingOptions): Promise<View> | undefined {
  if (!request.view.unlisted) return undefined;
  const target = unlistedTarget(request, request.view);
  if (!target) return undefined;
  const { principal, clientHeaders } = request;
  const asker = { principal, clientHeaders, session: stateOwner(request) };
  const connection = options.connections.connection(target.server, asker);
  if (!connection) throw unknownTarget(request);
  return listing(request, target, connection, options);
}

async function listing(
  request: ClientRequest,
  { server }: Target,
  { status }: { readonly status: { readonly kind: string; readonly phase?: string } },
  { views, listed }: ListingOptions,
): Promise<View> {
  const wait = cancellable(request);
  try {
    await Promise.race([listed(server, mcpLimits.waitForConnectionMs), wait.cancelled]);
  } catch (error) {
    throw error instanceof HubError ? toldToCaller(error, server, status.kind, status.phase) : error;
  } finally {
    wait.end();
  }
  const view = await viewNow(request, views);
  if (unlistedTarget(request, view)) throw unknownTarget(request);
  return view;
}

/** Rejects when the client leaves, or no longer wants the answer. */
function cancellable(request: ClientRequest) {
  const { reply, session } = request;
  const id = requestKey(request);
  let call: Cancellable = { cancel: () => undefined };
  const cancelled = new Promise<never>((_, reject) => {
    call = { cancel: (reason) => reject(new HubError('cancelled', `Request cancelled: ${reason}`)) };
  });
  cancelled.catch(() => undefined);
  reply.gone = () => call.cancel('client disconnected');
  session?.inFlight.set(id, call);
  return {
    cancelled,
    end(): void {
      reply.gone = undefined;
      session?.settle({ call, id });
    },
  };
}

function unlistedTarget({ method, message, view: { smart } }: ClientRequest, view: View): Target | undefined {
  const params = isObject(message.params) ? message.params : {};
  const given = isObject(params['arguments']) ? params['arguments'] : {};
  const isSmart = smart !== undefined && method === 'tools/call';
  // The tools of smart routing itself are always there.
  if (isSmart && params['name'] !== 'call_tool') return undefined;
  const name = isSmart ? given['toolName'] : params['name'];
  if (typeof name !== 'string') return undefined;
  if (method === 'tools/call') return view.tool(name) ? undefined : view.unlisted?.(name);
  if (method === 'prompts/get') return view.prompt(name) ? undefined : view.unlisted?.(name);
  return undefined;
}
