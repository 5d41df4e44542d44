import { HubError } from '../core/errors.ts';
import { type Sentence, saying } from '../core/sentences.ts';
import { errorResponseText, isObject, rpcErrors, toRpcError } from '../core/protocol/rpc.ts';
import type { ClientRequest } from './request.ts';

/**
 * What a caller is told when a server could not answer. The reason may quote the last output of a program, an address
 * inside the network, or the answer of a proxy: it is in the log and in the state of the server, for those who manage
 * it. `status` is that of the connection, `phase` how far its start is.
 */
export function toldToCaller(error: HubError, server: string, status: string, phase?: string): HubError {
  const isLost = error.isLost && lostCodes.has(error.code) && status !== 'stopped';
  const text = isLost
    ? ({ code: 'server_lost', values: { server } } as const)
    : (error.told ?? words(error, server, status, phase));
  if (text === undefined || text === error.message) return error;
  const { data } = error;
  const code = isLost ? 'upstream_unavailable' : error.code;
  // Not to be tried again unasked: the server may have carried it out.
  const retryAfterMs = isLost ? undefined : error.retryAfterMs;
  const options = {
    cause: error,
    isLost,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(data && { data }),
  };
  return typeof text === 'string' ? new HubError(code, text, options) : saying(code, text.code, text.values, options);
}

/** How a connection that ended, and a stream that ended without the answer, are told. */
const lostCodes: ReadonlySet<string> = new Set(['upstream_unavailable', 'upstream_failed']);

/** What a tool says that reports failure: the first text of its result (`isError`). Undefined where it has none. */
export function failureText({ content }: Readonly<Record<string, unknown>>): string | undefined {
  const texts = Array.isArray(content) ? content.map((part) => (isObject(part) ? part['text'] : undefined)) : [];
  return texts.find((text) => typeof text === 'string' && text.trim() !== '') as string | undefined;
}

/** The same of a result that is too large to be looked through. */
export const largeFailure = 'The tool reported failure, in a result that is too large to be quoted here.';

/**
 * What a caller is told of a server that is not connected: why, where every caller may know it, and when the hub tries
 * again.
 */
export function notConnected(
  server: string,
  unreachable: string | undefined,
  retryAfterMs: number | undefined,
): string {
  const what = unreachable === undefined ? `${server} is not connected.` : `${server} is not connected: ${unreachable}`;
  if (retryAfterMs !== undefined) return `${what} Next attempt in ${Math.ceil(retryAfterMs / 1_000)} s.`;
  return unreachable === undefined ? `${what} Try again in a moment.` : what;
}

/** Undefined for the hub's own errors about the call: a timeout, a size, a cancellation. */
function words(
  { code, retryAfterMs, unreachable }: HubError,
  name: string,
  status: string,
  phase: string | undefined,
): string | Sentence | undefined {
  const server = `Server "${name}"`;
  const values = { server: name };
  switch (code) {
    case 'upstream_unavailable':
      if (status === 'connecting' && phase === 'installing') return { code: 'server_installing', values };
      if (status === 'connecting') return { code: 'server_connecting', values };
      // Deleted, switched off or configured otherwise: this connection is not used again.
      if (status === 'stopped')
        return `${server} was stopped while the call was on its way: it was changed or taken away. List what there is again.`;
      if (status === 'connected')
        return unreachable === undefined
          ? `${server} cannot take the call now. Try again in a moment.`
          : `${server} cannot be reached: ${unreachable}`;
      return notConnected(server, unreachable, retryAfterMs);
    case 'upstream_failed':
      return { code: 'server_faulty', values };
    case 'forbidden':
    case 'misconfigured':
      return `${server} cannot be called the way it is set up. Its owner and admins see why in the log.`;
    default:
      return undefined;
  }
}

/** One text for what does not exist and for what may not be seen. */
export function unknownTarget(request: ClientRequest): HubError {
  const params = isObject(request.message.params) ? request.message.params : {};
  const ref = isObject(params['ref']) ? params['ref'] : params;
  const name = ref['name'] ?? ref['uri'];
  const what = targetWords.get(request.method) ?? 'reference';
  return new HubError('not_found', `Unknown ${what}: ${typeof name === 'string' ? name.slice(0, 300) : '?'}`);
}

const targetWords: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'tool'],
  ['prompts/get', 'prompt'],
  ['resources/read', 'resource'],
  ['skills/get', 'skill'],
  ['skills/list', 'server'],
  ['resources/directory/read', 'folder'],
]);

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

/** An answer that is too large to be kept for a client that does not read. */
export function noRoom(): HubError {
  const text = 'Too many large answers wait for clients that do not read them. Try again in a moment.';
  return new HubError('upstream_unavailable', text, { retryAfterMs: 5_000 });
}
