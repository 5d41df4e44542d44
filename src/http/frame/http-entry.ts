import type { IncomingMessage, ServerResponse } from 'node:http';
import { setCameFrom } from '../../core/access/came-from.ts';
import { errorText, HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { corsHeaders, type Guard, preflightHeaders } from './guard.ts';
import { passHeader } from '../../replicas/pass.ts';
import type { Replicas } from '../../replicas/replicas.ts';
import type { HttpRequest, HttpResponse } from '../../wire/http.ts';

/** What answers one part of all paths: the MCP endpoints, or everything else. */
export interface Section<Req extends HttpRequest, Res extends HttpResponse> {
  /** Answers a request that was let in, with these headers (CORS) beside its own. */
  readonly handle: (req: Req, res: Res, headers: Record<string, string>) => void | Promise<void>;
  /** The body that tells why a request is not let in, as JSON text. */
  readonly refusal: (req: Req, why: string) => string;
  /** Answers a request whose `handle` threw. The answer may have begun. */
  readonly failed: (res: Res, error: unknown) => void;
}

export interface HttpEntryOptions {
  readonly guard: Guard;
  /** `ALLOWED_ORIGINS`: what is told to browsers of other pages. */
  readonly allowedOrigins: readonly string[];
  /** Whether the client came over https. */
  readonly isHttps: (req: HttpRequest) => boolean;
  readonly mcp: Section<HttpRequest, HttpResponse> & {
    /** Whether a URL is an MCP endpoint's. */
    readonly isMcp: (url: string) => boolean;
  };
  /** Health, REST, dashboard. */
  readonly other: Section<IncomingMessage, ServerResponse>;
  /** Other hubs on the same database, which may pass requests on. */
  readonly replicas?: Pick<Replicas, 'checkPass'> | undefined;
  readonly log: Logger;
}

export interface HttpEntry {
  /** For every request of node:http. */
  readonly enter: (req: IncomingMessage, res: ServerResponse) => void;
  /** For one to an MCP endpoint that the fast path has read. */
  readonly enterMcp: (req: HttpRequest, res: HttpResponse) => void;
  readonly isMcp: (url: string) => boolean;
}

/** A client that sends it, or a hub that is not one of ours. */
const badPass = `The header ${passHeader} is for hubs that share a database, and this one is not valid. Leave it out.`;

/** Browsers come over https for a year from then on (RFC 6797). The hub does not decide this for subdomains. */
const hsts = 'max-age=31536000';

/**
 * The entry of all HTTP requests: keeps foreign hosts and pages out, answers preflights, and passes the rest on to what
 * answers the path.
 */
export function createHttpEntry(options: HttpEntryOptions): HttpEntry {
  const { guard, allowedOrigins, isHttps, mcp, other, replicas, log } = options;

  function admit<Req extends HttpRequest, Res extends HttpResponse>(
    req: Req,
    res: Res,
    section: Section<Req, Res>,
  ): void | Promise<void> {
    // A proxy, for example, that reads another one of several hosts than the hub does would let in what the hub must
    // refuse, or the other way round (RFC 9112 §3.2); so with credentials. The fast path takes no such request.
    const repeated = 'rawHeaders' in req ? repeatedHeader(req) : undefined;
    if (repeated !== undefined)
      return refuse(res, section.refusal(req, `The request has more than one ${repeated} header.`), 400);
    if (req.headers[passHeader] !== undefined) {
      const pass = replicas?.checkPass(req);
      if (!pass) return refuse(res, section.refusal(req, badPass), 403);
      setCameFrom(req, pass.address);
    }
    const refused = guard.refused(req, section === mcp);
    if (refused !== undefined) return refuse(res, section.refusal(req, refused), 403);
    const headers = corsHeaders(req, allowedOrigins);
    return isPreflight(req) ? answerPreflight(req, res, headers) : section.handle(req, res, headers);
  }

  /** No error leaves this function, whether it is thrown now or later. */
  function answer<Req extends HttpRequest, Res extends HttpResponse>(
    req: Req,
    res: Res,
    section: Section<Req, Res>,
  ): void {
    const failed = (error: unknown): void => {
      if (!(error instanceof HubError)) log.error('request failed', { path: req.url, error: errorText(error) });
      section.failed(res, error);
    };
    try {
      if (isHttps(req)) res.setHeader('Strict-Transport-Security', hsts);
      const answering = admit(req, res, section);
      if (answering) answering.catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  const enter = (req: IncomingMessage, res: ServerResponse): void =>
    mcp.isMcp(req.url ?? '/') ? answer(req, res, mcp) : answer(req, res, other);

  return {
    enter(req, res) {
      // A request sent ahead, before the answer to the one before it (pipelining), waits for its turn: until then Node
      // would not tell that its client left.
      if (res.socket) enter(req, res);
      else res.once('socket', () => enter(req, res));
    },
    enterMcp: (req, res) => answer(req, res, mcp),
    isMcp: mcp.isMcp,
  };
}

function isPreflight({ method, headers }: HttpRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

function answerPreflight(req: HttpRequest, res: HttpResponse, headers: Record<string, string>): void {
  res.writeHead(204, { ...headers, ...(headers['vary'] !== undefined && preflightHeaders(req)) });
  res.end();
}

/**
 * By the raw headers, which are there anyway: Node's table of repeated ones would be kept as long as the request, half
 * a kilobyte of each open stream.
 */
function repeatedHeader({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): string | undefined {
  let hosts = 0;
  let credentials = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === 4 && /^host$/i.test(name)) hosts++;
    else if (name.length === 13 && /^authorization$/i.test(name)) credentials++;
  }
  return hosts > 1 ? 'Host' : credentials > 1 ? 'Authorization' : undefined;
}

function refuse(res: HttpResponse, text: string, status: number): void {
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  res.end(text);
}
