import type { ByteBudget } from '../core/byte-budget.ts';
import type { ClientRequest } from './request.ts';
import type { Principal } from '../core/access/principal.ts';
import { errorResponseText, rpcErrors } from '../core/protocol/rpc.ts';
import type { Scope } from '../core/access/scope.ts';
import type { HttpRequest, HttpResponse } from '../wire/http.ts';

/** One HTTP request to an MCP endpoint, with what the HTTP entry found out about it. */
export interface RequestContext {
  readonly req: HttpRequest;
  readonly res: HttpResponse;
  readonly principal: Principal;
  readonly scope: Scope;
  /** Where the request came from, as far as it is known. */
  readonly address: string | undefined;
  /** See `ClientRequest`. */
  readonly clientHeaders: HttpRequest['headers'];
  /** CORS and the like: sent with every answer. */
  readonly headers: Record<string, string>;
  readonly query: URLSearchParams;
  /** What the body may take. */
  readonly bodyLimit: () => BodyLimit;
  /**
   * Whether the HTTP entry would still let the request in when its body has arrived, which may be minutes later. False:
   * it was refused and answered.
   */
  readonly stillAdmitted: () => boolean | Promise<boolean>;
  /** See `ClientRequest`. */
  readonly senderNow: ClientRequest['senderNow'];
}

/** What a body may take. */
export interface BodyLimit {
  readonly maxBytes: number;
  /** Where the memory for it comes from. */
  readonly budget: ByteBudget;
  /** Whether its sender is known by a credential. */
  readonly isKnown: boolean;
}

/** Refuses a stream: the limit is reached. */
export function refuseStream(context: RequestContext): void {
  const headers = { 'retry-after': '10' };
  refuse(context, 429, rpcErrors.invalidRequest, 'Too many streams are open already.', { headers });
}

/**
 * Answers with a JSON-RPC error that belongs to no request, or to the one whose id text is given. A body not read yet
 * is read away by the server.
 */
export function refuse(
  context: Pick<RequestContext, 'res' | 'headers'>,
  status: number,
  code: number,
  message: string,
  extra: { id?: string | undefined; headers?: Record<string, string> } = {},
): void {
  const { res } = context;
  if (res.headersSent || res.destroyed) return;
  const text = errorResponseText(extra.id ?? 'null', code, message);
  res.writeHead(status, {
    ...context.headers,
    ...extra.headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  res.end(text);
}
