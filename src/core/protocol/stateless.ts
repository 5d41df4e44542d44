import type { TraceContext } from '../tracing.ts';
import { isObject } from './rpc.ts';

/**
 * What both sides of the hub need of the stateless revision: it has no handshake, each request says everything itself
 * (2026-07-28, Basic, Versioning).
 */
export const statelessRevision = '2026-07-28';

/** The names under which a request says it, in `params._meta`, and a result in `_meta`. */
export const metaKeys = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const;

/** Whether a result asks the client something (2026-07-28, Multi Round-Trip Requests). */
export function isInputRequired(result: unknown): boolean {
  return isObject(result) && result['resultType'] === 'input_required';
}

/** What is known of a request besides its params. A server of the session era sees nothing of it. */
export interface RequestFacts {
  /**
   * What the client of this very request can do, as the JSON text of an object. Absent: nothing, so the server asks
   * nothing.
   */
  readonly capabilities?: string | undefined;
  /** From which severity on the client wants log messages about it; absent: none. */
  readonly logLevel?: string | undefined;
  /** The server's own name of what is asked for (`Mcp-Name`): `params.name`, or `params.uri`. */
  readonly name?: string | undefined;
  /** The parsed `params.arguments` of a tool call, of which some may travel in headers as well. */
  readonly args?: unknown;
  /** What goes on of the trace of the request, in headers too where there are any. */
  readonly trace?: TraceContext | undefined;
}

/**
 * The member of `params` that `Mcp-Name` repeats, by method (2026-07-28, Streamable HTTP, Standard request headers; the
 * tasks extension).
 */
export const namedBy: ReadonlyMap<string, 'name' | 'uri' | 'taskId'> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/**
 * A text as the value of `Mcp-Name` or `Mcp-Param-*`: what is not plain ASCII, or could be mistaken, travels as
 * `=?base64?…?=` (Value encoding).
 */
export function headerValue(text: string): string {
  const plain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return plain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** The text that a header value stands for; undefined for what no client may send. */
export function headerText(value: string | string[] | undefined): string | undefined {
  if (typeof value !== 'string') return undefined;
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (encoded === undefined) return value;
  return base64.test(encoded) ? Buffer.from(encoded, 'base64').toString('utf8') : undefined;
}

const base64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/;
