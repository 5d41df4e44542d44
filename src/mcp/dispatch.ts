import { errorText, HubError } from '../core/errors.ts';
import type { Principal } from '../core/principal.ts';
import { errorResponseText, isObject, resultText, rpcErrors, toRpcError } from '../core/rpc.ts';
import { addressedMethods } from './address.ts';
import { answerList, cacheHints, listOf } from './lists.ts';
import { setLevel } from './log-level.ts';
import { relay, type RelayOptions } from './relay.ts';
import type { ClientRequest } from './request.ts';
import { metaKeys, sessionRevisions, statelessRevision } from './revisions.ts';
import { type SmartOptions, smartCall } from './smart.ts';

/** A tool call over HTTP that no server has seen. */
export interface RefusedCall {
  readonly principal: Principal;
  readonly address: string | undefined;
  /** As text, like `dev`. */
  readonly scope: string;
  /** As the caller named them: there may be no such thing. */
  readonly server: string;
  readonly tool: string;
  readonly ms: number;
  /** What the caller was told. */
  readonly error: string;
  /** The header of W3C trace context, whatever is in it. */
  readonly traceparent: string | undefined;
}

export interface DispatchOptions extends RelayOptions {
  /** Takes note of a call that was refused. */
  readonly refused?: (call: RefusedCall) => void;
  readonly version: string;
  /** Undefined where the hub has no search: smart endpoints then have no tools that can be called. */
  readonly smart?: SmartOptions;
}

/** Answers one request, now or later, through its reply. Never throws. */
export function dispatch(request: ClientRequest, options: DispatchOptions): void {
  try {
    handle(request, options);
  } catch (error) {
    refuse(request, error, options);
  }
}

function refuse(request: ClientRequest, error: unknown, { log }: DispatchOptions): void {
  if (!(error instanceof HubError)) log.error('request failed', { method: request.method, error: errorText(error) });
  if (request.reply.refused) return request.reply.refused(error);
  const { code, message, data } = toRpcError(error);
  request.reply.answer(
    errorResponseText(
      request.id,
      notFoundCode(request, error) ?? code,
      message,
      data ?? missingResource(request, error),
    ),
    statusOf(request, error),
  );
}

function handle(request: ClientRequest, options: DispatchOptions): void {
  const list = listOf.get(request.method);
  if (list) return answerList(request, list.kind, list.member);
  if (request.view.smart && options.smart && request.method === 'tools/call') {
    const call = smartCall(request, request.view.smart, options.smart);
    if (call instanceof Promise) return void call.catch((error: unknown) => refuse(request, error, options));
    return call && relay(call, options);
  }
  if (addressedMethods.has(request.method)) return relay(request, options);
  if (request.method === 'server/discover') {
    return request.reply.answer(resultText(request.id, discoverResult(request, options.version)));
  }
  if (request.method === 'logging/setLevel' && !request.stateless) {
    setLevel(request);
    return request.reply.answer(resultText(request.id, '{}'));
  }
  if (request.method === 'ping' && !request.stateless) return request.reply.answer(resultText(request.id, '{}'));
  const text = errorResponseText(
    request.id,
    rpcErrors.methodNotFound,
    `Method not found: ${request.method.slice(0, 100)}`,
  );
  // 2026-07-28, Streamable HTTP: an unknown method is 404 there, and 200 with an error before.
  request.reply.answer(text, request.stateless ? 404 : 200);
}

/** Which resource does not exist (2026-07-28, Resources, Error handling). */
function missingResource({ method, message: { params } }: ClientRequest, error: unknown): object | undefined {
  if (method !== 'resources/read' || !(error instanceof HubError) || error.code !== 'not_found') return undefined;
  return isObject(params) ? { uri: params['uri'] } : undefined;
}

/** Before 2026-07-28 a resource that does not exist has a code of its own. */
function notFoundCode(request: ClientRequest, error: unknown): number | undefined {
  const legacyRead = !request.stateless && request.method === 'resources/read';
  return legacyRead && error instanceof HubError && error.code === 'not_found' ? rpcErrors.resourceNotFound : undefined;
}

function statusOf(request: ClientRequest, error: unknown): number {
  return request.stateless && error instanceof HubError && error.code === 'invalid_input' ? 400 : 200;
}

/** The capabilities of every endpoint. What is listed here works. */
const capabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true },
  completions: {},
  logging: {},
};

/** The result of `initialize`, as JSON text. An endpoint of one server speaks with that server's name and instructions. */
export function initializeResult(view: ClientRequest['view'], revision: string, version: string): string {
  const instructions = view.single?.instructions;
  const tail = instructions === undefined ? '' : `,"instructions":${JSON.stringify(instructions)}`;
  return `{"protocolVersion":"${revision}","capabilities":${JSON.stringify(capabilities)},"serverInfo":${serverInfo(view, version)}${tail}}`;
}

/** The result of `server/discover` (2026-07-28, Discovery), as JSON text. */
function discoverResult(request: ClientRequest, version: string): string {
  const instructions = request.view.single?.instructions;
  const tail = instructions === undefined ? '' : `,"instructions":${JSON.stringify(instructions)}`;
  const versions = JSON.stringify([statelessRevision, ...sessionRevisions]);
  const meta = `"_meta":{${JSON.stringify(metaKeys.serverInfo)}:${serverInfo(request.view, version)}}`;
  return `{"supportedVersions":${versions},"capabilities":${JSON.stringify(capabilities)}${tail},"resultType":"complete",${cacheHints},${meta}}`;
}

function serverInfo(view: ClientRequest['view'], version: string): string {
  return view.single?.info ?? JSON.stringify({ name: 'toolhub', title: 'Tool Hub', version });
}
