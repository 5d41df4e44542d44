import type { ToolArguments } from '../../../core/arguments/tool.ts';
import { asLost, HubError } from '../../../core/errors.ts';
import { memberText } from '../../../core/json/text.ts';
import type { Logger } from '../../../core/logger.ts';
import {
  errorResponseText,
  isObject,
  resultText,
  rpcErrors,
  type RpcMessage,
  toRpcError,
} from '../../../core/protocol/rpc.ts';
import { upstreamLimits } from '../../limits.ts';
import { type Api, sendAuthorized } from './api.ts';
import type { CredentialSource } from './credentials.ts';
import { wasCut } from '../http-errors.ts';
import type { Answer, Credentials, HttpClient } from './http.ts';
import { buildRequest } from './request.ts';
import { refusedResult, resultOf } from './result.ts';

/** What it takes to answer requests in place of a tool server. */
export interface Serving {
  readonly name: string;
  readonly api: Api;
  readonly http: HttpClient;
  readonly credentials: CredentialSource;
  readonly toolArguments: ToolArguments;
  readonly maxMessageBytes: number;
  readonly log: Logger;
}

/** A request as JSON text, and the headers that go out with it: names and values in turn. */
export interface Asked {
  readonly text: string;
  readonly headers: readonly string[];
}

/** Session-era revisions: what this server says is the same in all of them. */
const revisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

const refusedAddress =
  'The API was not called: it is at an address that this server may not connect to. Its owner and admins see more in the log.';

/** Failures of a call that its caller can correct: they are the result of the tool. */
const mendable = new Set(['invalid_input', 'forbidden', 'too_large']);

/**
 * The answer to one request, both as JSON-RPC text. Throws HubError when the API could not be reached or did not
 * answer.
 */
export async function answerTo(serving: Serving, { text, headers }: Asked, signal: AbortSignal): Promise<string> {
  const { method, params } = JSON.parse(text) as RpcMessage;
  const id = memberText(text, 'id') ?? 'null';
  try {
    switch (method) {
      case 'initialize':
        return resultText(id, JSON.stringify(greeting(serving, params)));
      case 'ping':
        return resultText(id, '{}');
      case 'tools/list':
        return resultText(id, page(serving.api, params));
      case 'tools/call':
        return await call(serving, id, { text: memberText(text, 'params') ?? '{}', headers }, signal);
      default:
        return errorResponseText(id, rpcErrors.methodNotFound, `Method not found: ${String(method)}`);
    }
  } catch (error) {
    if (!(error instanceof HubError) || error.code !== 'not_found') throw error;
    const { code, message } = toRpcError(error);
    return errorResponseText(id, code, message);
  }
}

function greeting({ name, api: { title, version, description } }: Serving, params: unknown): unknown {
  const asked = isObject(params) ? revisions.find((revision) => revision === params['protocolVersion']) : undefined;
  return {
    protocolVersion: asked ?? revisions[0],
    capabilities: { tools: {} },
    serverInfo: { name, title, version },
    ...(description !== undefined && { instructions: description }),
  };
}

function page({ tools: pages }: Api, params: unknown): string {
  const cursor = isObject(params) ? params['cursor'] : undefined;
  const index = cursor === undefined ? 0 : Number(cursor);
  const tools = pages.page(index);
  if (tools === undefined) throw new HubError('not_found', 'This cursor is not one of this list.');
  return `{"tools":[${tools}]${index + 1 < pages.count ? `,"nextCursor":"${index + 1}"` : ''}}`;
}

/** `text` is that of the params. */
async function call(
  serving: Serving,
  id: string,
  { text: params, headers }: Asked,
  signal: AbortSignal,
): Promise<string> {
  const { api, http, credentials, toolArguments, maxMessageBytes, log } = serving;
  const tool: unknown = JSON.parse(memberText(params, 'name') ?? 'null');
  const called = typeof tool === 'string' ? api.operation(tool) : undefined;
  if (called === undefined) throw new HubError('not_found', `Unknown tool: ${String(tool).slice(0, 200)}`);
  const given = memberText(params, 'arguments') ?? '{}';
  try {
    if (!given.startsWith('{')) throw new HubError('invalid_input', 'The arguments of a tool must be an object.');
    const { operation, tool: listed } = called;
    const built = buildRequest(operation, given, {
      supplied: credentials.supplied,
      toolArguments,
      tool: listed,
    });
    // A parameter of the document with such a name is the caller's.
    const request = { ...built, headers: { ...pairs(headers), ...built.headers } };
    const common = { request, maxBytes: maxMessageBytes, redirects: upstreamLimits.openapiRedirects, signal };
    const send = (chosen: Credentials) => sent(operation.method, http.send({ ...common, credentials: chosen }));
    const answer = await sendAuthorized(credentials, signal, send);
    const reply = resultText(
      id,
      resultOf(operation.method, answer, (shown) => credentials.hide(shown)),
    );
    if (Buffer.byteLength(reply) <= maxMessageBytes) return reply;
    throw new HubError('too_large', `The answer makes a message of more than ${maxMessageBytes} bytes. Ask for less.`);
  } catch (error) {
    if (!(error instanceof HubError) || !mendable.has(error.code)) throw error;
    if (error.code !== 'forbidden') return resultText(id, refusedResult(error.message));
    // It names a host inside the network, which is not for every caller.
    log.warn('call refused', { tool: String(tool), error: error.message });
    return resultText(id, refusedResult(refusedAddress));
  }
}

/** Methods whose requests change nothing (RFC 9110, 9.2.1): whether one was carried out does not matter. */
const safe = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** The answer to the call itself; a connection that ended before it came leaves open what became of the call. */
async function sent(method: string, answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    const isLost = error instanceof HubError && !safe.has(method) && wasCut(error.cause);
    throw isLost ? asLost(error) : error;
  }
}

function pairs(headers: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (let i = 0; i + 1 < headers.length; i += 2) found[headers[i] ?? ''] = headers[i + 1] ?? '';
  return found;
}
