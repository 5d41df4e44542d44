import type { Principal } from '../core/access/principal.ts';
import { errorResponseText, rpcErrors } from '../core/protocol/rpc.ts';
import type { Scope } from '../core/access/scope.ts';
import type { BodyLimit } from './body.ts';
import type { HttpRequest, HttpResponse } from '../wire/http.ts';

/** One HTTP request to an MCP endpoint, with what the door found out about it. */
export interface Visit {
  readonly req: HttpRequest;
  readonly res: HttpResponse;
  readonly principal: Principal;
  readonly scope: Scope;
  /** Where the request came from, as far as it is known. */
  readonly address: string | undefined;
  /** CORS and the like: goes out with whatever is answered. */
  readonly headers: Record<string, string>;
  readonly query: URLSearchParams;
  /** What the body may take. */
  readonly bodyLimit: () => BodyLimit;
  /** Whether the door would still let the request in, once its body is there, which may be minutes later. False: it was refused and answered. */
  readonly stillAdmitted: () => boolean | Promise<boolean>;
  /** See `ClientRequest`. */
  readonly senderNow: (() => Principal) | undefined;
}

/** There is no room for another stream. */
export function refuseStream(visit: Visit): void {
  const headers = { 'retry-after': '10' };
  refuse(visit, 429, rpcErrors.invalidRequest, 'Too many streams are open already.', { headers });
}

/** Answers with a JSON-RPC error that belongs to no request, or to the one whose id text is given. A body not read yet is read away by the server. */
export function refuse(
  visit: Pick<Visit, 'res' | 'headers'>,
  status: number,
  code: number,
  message: string,
  extra: { id?: string | undefined; headers?: Record<string, string> } = {},
): void {
  const { res } = visit;
  if (res.headersSent || res.destroyed) return;
  const text = errorResponseText(extra.id ?? 'null', code, message);
  res.writeHead(status, {
    ...visit.headers,
    ...extra.headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  res.end(text);
}
