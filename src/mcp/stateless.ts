import type { IncomingHttpHeaders } from 'node:http';
import { memberText } from '../core/json/text.ts';
import { type ParamHeader, paramHeaders, paramHeaderValues } from '../core/arguments/headers.ts';
import { isObject, type RpcMessage, rpcErrors } from '../core/protocol/rpc.ts';
import { headerText, metaKeys, namedBy, statelessRevision } from '../core/protocol/stateless.ts';
import type { Target, View, ViewList } from '../core/access/view.ts';
import { sessionRevisions } from '../core/protocol/revisions.ts';

/** What the client says of itself. */
export function clientInfoOf(message: RpcMessage): unknown {
  return metaOf(message)?.[metaKeys.clientInfo];
}

/** A refusal of the stateless revision: HTTP 400 with one of its own error codes. */
export interface StatelessRefusal {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** True when a message claims the stateless era: by its `_meta`, or by a version header no session-era revision has. */
export function isStateless(message: RpcMessage, headers: IncomingHttpHeaders): boolean {
  if (metaOf(message)?.[metaKeys.protocolVersion] !== undefined) return true;
  const header = headers['mcp-protocol-version'];
  if (header === statelessRevision) return message.method !== 'initialize';
  return header === undefined && message.method === 'server/discover';
}

/**
 * Checks a stateless request's envelope against its headers (2026-07-28, Streamable HTTP, Request headers); undefined
 * when all is well.
 */
export function checkStateless(message: RpcMessage, headers: IncomingHttpHeaders): StatelessRefusal | undefined {
  const meta = metaOf(message);
  const version = meta?.[metaKeys.protocolVersion];
  const header = headers['mcp-protocol-version'];
  if (typeof version !== 'string') {
    return { code: rpcErrors.invalidParams, message: `params._meta["${metaKeys.protocolVersion}"] is missing.` };
  }
  if (header !== undefined && header !== version) {
    return mismatch(`MCP-Protocol-Version is "${String(header)}", the body says "${version}".`);
  }
  if (version !== statelessRevision) {
    const supported = [statelessRevision, ...sessionRevisions];
    return {
      code: rpcErrors.unsupportedProtocolVersion,
      message: `Unsupported protocol version: ${version.slice(0, 50)}`,
      data: { supported, requested: version },
    };
  }
  if (header === undefined) return mismatch('The MCP-Protocol-Version header is missing.');
  if (!isObject(meta?.[metaKeys.clientCapabilities])) {
    return { code: rpcErrors.invalidParams, message: `params._meta["${metaKeys.clientCapabilities}"] is missing.` };
  }
  return checkMirrors(message, headers);
}

/** `Mcp-Method` and `Mcp-Name` mirror the body, so that gateways on the way can route without reading it. */
function checkMirrors(message: RpcMessage, headers: IncomingHttpHeaders): StatelessRefusal | undefined {
  if (headerText(headers['mcp-method']) !== message.method) {
    return mismatch(`Mcp-Method must be "${String(message.method)}".`);
  }
  const member = typeof message.method === 'string' ? namedBy.get(message.method) : undefined;
  const params = isObject(message.params) ? message.params : {};
  if (member !== undefined && headerText(headers['mcp-name']) !== params[member]) {
    return mismatch(`Mcp-Name must be params.${member}.`);
  }
  return undefined;
}

/** A header does not repeat the body. */
export function mismatch(message: string): StatelessRefusal {
  return { code: rpcErrors.headerMismatch, message: `Header mismatch: ${message}` };
}

function metaOf(message: RpcMessage): Record<string, unknown> | undefined {
  const meta = isObject(message.params) ? message.params['_meta'] : undefined;
  return isObject(meta) ? meta : undefined;
}

/**
 * Says which `Mcp-Param-*` header of a tool call does not repeat its argument (2026-07-28, Streamable HTTP, Server
 * Behavior for Custom Headers); undefined when all do. Headers that the tool's schema does not name are not checked.
 */
export function wrongParamHeader(message: RpcMessage, headers: IncomingHttpHeaders, view: View): string | undefined {
  const params = isObject(message.params) ? message.params : {};
  const { name } = params;
  if (message.method !== 'tools/call' || typeof name !== 'string' || view.smart?.isPinned(name) === false)
    return undefined;
  const target = view.tool(name);
  const named = target && namedIn(view.smart?.tools ?? view.lists.tools).get(target);
  return named?.find((param) => !isRepeated(param, headers[param.header], params['arguments']))?.header;
}

function isRepeated(param: ParamHeader, header: string | string[] | undefined, args: unknown): boolean {
  const [, expected] = paramHeaderValues([param], args);
  if (expected === undefined || header === undefined) return expected === header;
  const [sent, meant] = [headerText(header), headerText(expected)];
  if (sent === undefined || sent === meant) return sent !== undefined;
  // `42.0` and `42` are the same integer.
  return param.type === 'integer' && /^-?\d+(\.0+)?$/.test(sent) && Number(sent) === Number(meant);
}

const known = new WeakMap<ViewList, ReadonlyMap<Target, readonly ParamHeader[]>>();

/** The tools of a list that name headers: looked for once, and hardly any does. */
function namedIn(list: ViewList): ReadonlyMap<Target, readonly ParamHeader[]> {
  const before = known.get(list);
  if (before) return before;
  const found = new Map<Target, readonly ParamHeader[]>();
  for (const [i, text] of list.texts.entries()) {
    const target = list.targets[i];
    if (!target || !text.includes('x-mcp-header')) continue;
    const schema: unknown = JSON.parse(memberText(text, 'inputSchema') ?? 'null');
    const named = paramHeaders(schema);
    if (named.kind === 'headers') found.set(target, named.headers);
  }
  known.set(list, found);
  return found;
}
