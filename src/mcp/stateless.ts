import type { IncomingHttpHeaders } from 'node:http';
import { isObject, type RpcMessage, rpcErrors } from '../core/protocol/rpc.ts';
import { headerText, namedBy } from '../core/protocol/stateless.ts';
import { metaKeys, sessionRevisions, statelessRevision } from './revisions.ts';

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

/**
 * The HTTP status that goes with an error a server answered with (2026-07-28, Streamable HTTP): what the client did
 * wrong with the protocol is not 200.
 */
export function statelessStatus(code: unknown): number {
  if (code === rpcErrors.methodNotFound) return 404;
  return clientMistakes.has(code) ? 400 : 200;
}

const clientMistakes: ReadonlySet<unknown> = new Set([
  rpcErrors.headerMismatch,
  rpcErrors.missingClientCapability,
  rpcErrors.unsupportedProtocolVersion,
]);

/** A header does not repeat the body. */
export function mismatch(message: string): StatelessRefusal {
  return { code: rpcErrors.headerMismatch, message: `Header mismatch: ${message}` };
}

function metaOf(message: RpcMessage): Record<string, unknown> | undefined {
  const meta = isObject(message.params) ? message.params['_meta'] : undefined;
  return isObject(meta) ? meta : undefined;
}
