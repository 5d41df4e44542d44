import { HubError } from '../errors.ts';

/** A JSON-RPC id as clients may send it (the MCP schema forbids null for requests). */
export type RpcId = string | number;

/** A parsed JSON-RPC message whose members were not looked at further. */
export interface RpcMessage {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

export const rpcErrors = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** MCP before 2026-07-28: no such resource. */
  resourceNotFound: -32002,
  /** 2026-07-28, Errors. */
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedProtocolVersion: -32022,
} as const;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isRpcId(value: unknown): value is RpcId {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));
}

/** A response with a result given as JSON text. `id` is JSON text too, as the client wrote it. */
export function resultText(id: string, result: string): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
}

/** An error response. `id` is JSON text (`null` when the request's id could not be read). */
export function errorResponseText(id: string, code: number, message: string, data?: unknown): string {
  const error = data === undefined ? { code, message } : { code, message, data };
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(error)}}`;
}

/** The JSON-RPC error object for whatever was thrown; what is not a HubError says nothing of its insides. */
export function toRpcError(error: unknown): { code: number; message: string; data?: unknown } {
  if (error instanceof HubError) {
    const { code, problems, authorizationUrl, credentialsUrl, retryAfterMs } = error;
    const data = {
      ...(problems.length > 0 && { problems }),
      ...(authorizationUrl !== undefined && { authorizationUrl }),
      ...(credentialsUrl !== undefined && { reason: code, url: credentialsUrl }),
      ...(error.data && { reason: code, ...error.data }),
      ...(code === 'limit_exceeded' && { retryAfterMs }),
    };
    return { code: error.rpcCode, message: error.message, ...(Object.keys(data).length > 0 && { data }) };
  }
  return { code: rpcErrors.internal, message: 'Internal error' };
}
