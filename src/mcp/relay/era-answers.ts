import type { Target } from '../../core/access/view.ts';
import { LargeText } from '../../core/json/large-text.ts';
import { editObject } from '../../core/json/text.ts';
import type { LargeAnswer } from '../../core/protocol/large-answer.ts';
import { isObject, rpcErrors } from '../../core/protocol/rpc.ts';
import { mcpLimits } from '../limits.ts';
import type { RelayOptions } from './options.ts';
import type { ClientRequest } from '../request.ts';

// Changes the answer of a server for a client of another revision of MCP. All texts are JSON.

/**
 * A result with what the stateless revision wants in every one, and an older server does not know of (2026-07-28,
 * Results).
 */
export function resultFor(
  request: ClientRequest,
  target: Target,
  serverRequests: RelayOptions['serverRequests'],
  parsed: unknown,
  result: string,
): string {
  if (!request.stateless || !isObject(parsed)) return result;
  if (parsed['resultType'] !== undefined) return withBoundState(request, target, serverRequests, parsed, result);
  const isRead = request.method === 'resources/read';
  const hints = isRead && parsed['ttlMs'] === undefined ? { ttlMs: '0', cacheScope: '"private"' } : {};
  return editObject(result, { resultType: '"complete"', ...hints });
}

/** The same for a large result; undefined when the result needs more than one added member in front. */
export function largeResultFor(request: ClientRequest, answer: LargeAnswer): LargeText | undefined {
  if (answer.resultMember('resultType') !== undefined) return undefined;
  const { result } = answer;
  const [first] = result.pieces;
  if (!request.stateless) return result;
  const isRead = request.method === 'resources/read' && answer.resultMember('ttlMs') === undefined;
  if (first?.[0] !== openBrace || (isRead && answer.resultMember('cacheScope') !== undefined)) return undefined;
  const hints = isRead ? ',"ttlMs":0,"cacheScope":"private"' : '';
  const front = Buffer.from(`{"resultType":"complete"${hints},`);
  return new LargeText([front, ...result.slice(1, result.bytes).pieces]);
}

const openBrace = 0x7b;

/**
 * A server's own state is valid only for the principal that was given it: the server may not know which users it serves
 * through the hub.
 */
function withBoundState(
  request: ClientRequest,
  target: Target,
  { states }: RelayOptions['serverRequests'],
  { resultType, requestState: state }: Record<string, unknown>,
  result: string,
): string {
  if (resultType !== 'input_required' || typeof state !== 'string') return result;
  const sealed = states.seal(request, target, { kind: 'server', state }, mcpLimits.requestStateMs);
  return editObject(result, { requestState: JSON.stringify(sealed) });
}

/**
 * An error; a resource that does not exist is `-32002` before 2026-07-28 and `-32602`, with the URI, since.
 * `isStateless`: the server.
 */
export function errorFor(
  { stateless, method }: ClientRequest,
  isStateless: boolean,
  text: string,
  { code, data }: Record<string, unknown>,
): string {
  if (stateless && code === rpcErrors.resourceNotFound)
    return editObject(text, { code: String(rpcErrors.invalidParams) });
  const isMissing = method === 'resources/read' && code === rpcErrors.invalidParams && isObject(data);
  // The error of a server of the client's own era is passed on unchanged.
  if (stateless || !isStateless || !isMissing || typeof data['uri'] !== 'string') return text;
  return editObject(text, { code: String(rpcErrors.resourceNotFound) });
}
