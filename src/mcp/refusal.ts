import { HubError } from '../core/errors.ts';
import { errorResponseText, isObject, rpcErrors, toRpcError } from '../core/protocol/rpc.ts';
import type { ClientRequest } from './request.ts';

/**
 * The response to a request that the hub refuses, as JSON text: the same for the same failure, wherever it is found
 * out.
 */
export function refusalText(request: ClientRequest, error: unknown): string {
  const { code, message, data } = toRpcError(error);
  return errorResponseText(
    request.id,
    notFoundCode(request, error) ?? code,
    message,
    data ?? missingUri(request, error),
  );
}

/** Before 2026-07-28 a resource that does not exist has a code of its own. */
function notFoundCode(request: ClientRequest, error: unknown): number | undefined {
  const aboutResource = !request.stateless && resourceMethods.has(request.method);
  return aboutResource && error instanceof HubError && error.code === 'not_found'
    ? rpcErrors.resourceNotFound
    : undefined;
}

const resourceMethods: ReadonlySet<string> = new Set([
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
]);

/** Which resource it is that is not there (every revision, Resources, Error handling). */
function missingUri({ method, message }: ClientRequest, error: unknown): { uri: unknown } | undefined {
  const isMissing = resourceMethods.has(method) && error instanceof HubError && error.code === 'not_found';
  return isMissing && isObject(message.params) ? { uri: message.params['uri'] } : undefined;
}
