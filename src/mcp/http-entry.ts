import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ByteBudget } from '../core/byte-budget.ts';
import type { Outside } from '../core/access/outside.ts';
import { needsCredential, userOf } from '../core/access/rules.ts';
import { errorTable, errorText, HubError } from '../core/errors.ts';
import { thenMaybe } from '../core/then-maybe.ts';
import { anonymous, type Principal } from '../core/access/principal.ts';
import { memoizeLast } from '../core/memoize-last.ts';
import { errorResponseText, rpcErrors } from '../core/protocol/rpc.ts';
import { decoded, type Scope, scopeOf } from '../core/access/scope.ts';
import type { Settings } from '../core/settings/types.ts';
import type { HttpRequest, HttpResponse } from '../wire/http.ts';
import { type EndpointOptions, refuseUnexpected, serveMcp } from './endpoint.ts';
import { corsHeaders, type Guard, preflightHeaders } from './guard.ts';
import { createLegacySse } from './legacy-sse.ts';
import { mcpLimits } from './limits.ts';
import { type BodyLimit, refuse, type RequestContext } from './request-context.ts';

/**
 * Who a request's credential belongs to: a principal, `none` when it brings none, `bad` when what it brings is not
 * accepted.
 */
export type Identified = Principal | 'none' | 'bad';

export interface HttpEntryOptions extends EndpointOptions {
  /** `''` or `/prefix`. */
  readonly basePath: string;
  readonly guard: Guard;
  /** `ALLOWED_ORIGINS`: what is told to browsers of other pages. */
  readonly allowedOrigins: readonly string[];
  /** Whether a request may come from others than this machine. */
  readonly outside: Pick<Outside, 'reaches'>;
  readonly settings: () => Settings;
  readonly identify: (headers: HttpRequest['headers']) => Identified | Promise<Identified>;
  /** The client's address, also behind trusted proxies. */
  readonly address: (req: HttpRequest) => string | undefined;
  /** Called for each credential that is not accepted. */
  readonly badCredential: (address: string | undefined) => void;
  /** The memory for bodies of requests. */
  readonly bodies: ByteBudget;
  /** First parts of paths that are no user's, with any rest. */
  readonly taken: ReadonlySet<string>;
  /** Whether the client came over https. */
  readonly isHttps: (req: HttpRequest) => boolean;
  /** Where the metadata of the endpoint is that a request without a good credential asked for (RFC 9728 §5.1). */
  readonly metadataUrl: (req: HttpRequest) => string;
  /** Every path that is not an MCP endpoint: health, REST, dashboard. */
  readonly other: (req: IncomingMessage, res: ServerResponse) => void | Promise<void>;
  /** The body that tells a foreign host or page, on such a path, why it is refused. */
  readonly foreign: (request: { method: string; path: string }, why: string) => string;
}

/** Browsers come over https for a year from then on (RFC 6797). The hub does not decide this for subdomains. */
const hsts = 'max-age=31536000';

const needsToken = 'This endpoint needs an access token.';

const noQuery = new URLSearchParams();

interface Route {
  readonly kind: 'mcp' | 'sse' | 'messages';
  /** Undefined for a path that cannot be decoded. */
  readonly scope: Scope | undefined;
  /** Whose endpoint it is (`/ann/mcp`); undefined for an endpoint of all users. */
  readonly user?: string;
}

export interface HttpEntry {
  /** For every request. */
  readonly enter: (req: IncomingMessage, res: ServerResponse) => void;
  /** For one to an MCP endpoint, which may come from elsewhere than node:http. */
  readonly enterMcp: (req: HttpRequest, res: HttpResponse) => void;
  /** Whether a URL is an MCP endpoint's. */
  readonly isMcp: (url: string) => boolean;
}

/**
 * The entry of all HTTP requests: guards every route against foreign hosts and pages, finds out who asks for what, and
 * passes the request on (DESIGN, a call).
 */
export function createHttpEntry(options: HttpEntryOptions): HttpEntry {
  const closed = (scope: Scope): HubError | undefined => closedScope(scope, options.settings());
  const legacySse = createLegacySse(`${options.basePath}/messages`, { ...options, closed });

  async function enter(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = pathOf(req.url);
    const route = routeOf(path, options);
    if (hostsOf(req) > 1) return refuseHosts(res, route !== undefined);
    if (route) return enterMcp(req, res, route);
    const refused = options.guard.refused(req, false);
    if (refused !== undefined)
      return refuseForeign(res, options.foreign({ method: req.method ?? 'GET', path }, refused));
    const headers = corsHeaders(req, options.allowedOrigins);
    if (isPreflight(req)) return answerPreflight(req, res, headers);
    for (const name of Object.keys(headers)) res.setHeader(name, headers[name] ?? '');
    return options.other(req, res);
  }

  function enterMcp(req: HttpRequest, res: HttpResponse, route: Route): void | Promise<void> {
    const refused = options.guard.refused(req, true);
    if (refused !== undefined) return refuseForeign(res, errorResponseText('null', rpcErrors.invalidRequest, refused));
    const headers = corsHeaders(req, options.allowedOrigins);
    if (isPreflight(req)) return answerPreflight(req, res, headers);
    const query = queryOf(req.url);
    const { scope } = route;
    if (!scope)
      return refuse({ res, headers }, 400, rpcErrors.invalidRequest, 'The path is not valid percent-encoding.');
    const address = options.address(req);
    return thenMaybe(options.identify(req.headers), (who) => {
      // What is begun now would not be told that its client has left.
      if (res.destroyed) return;
      if (who === 'bad') options.badCredential(address);
      const at = { req, res, headers, scope };
      const principal = admit(who, route, at);
      if (!principal) return;
      const stillAdmitted = (): boolean | Promise<boolean> =>
        thenMaybe(options.identify(req.headers), (now) => admit(now, route, at) !== undefined);
      const bodyLimit = () => bodyLimitOf(principal, options);
      const senderNow = principal.kind === 'anonymous' ? () => stillAnonymous(req, options) : undefined;
      // Written out: V8 lets what such an object holds outlive the young generation when it is spread and then added
      // to.
      return serve(route, { req, res, headers, scope, principal, address, query, bodyLimit, stillAdmitted, senderNow });
    });
  }

  /** Whose request it is; undefined when it was refused and answered. */
  function admit(
    who: Identified,
    route: Route,
    { req, res, headers, scope }: Pick<RequestContext, 'req' | 'res' | 'headers' | 'scope'>,
  ): Principal | undefined {
    const principal = admitted(who, req, options);
    const owned = route.user !== undefined;
    if (!principal || (owned && principal.kind === 'anonymous')) {
      unauthorized({ res, headers }, options.metadataUrl(req), whyNot(who, owned));
      return undefined;
    }
    if (owned && userOf(options.settings(), principal)?.username !== route.user) {
      notTheirs({ res, headers });
      return undefined;
    }
    const why = route.kind === 'messages' ? undefined : closed(scope);
    if (!why) return principal;
    refuse({ res, headers }, why.status, why.rpcCode, why.message);
    return undefined;
  }

  function serve(route: Route, context: RequestContext): void | Promise<void> {
    if (route.kind === 'messages') return legacySse.message(context);
    return route.kind === 'mcp' ? serveMcp(context, options) : legacySse.open(context);
  }

  /** No error leaves this function, whether it is thrown now or later. */
  function answered(answer: () => void | Promise<void>, req: HttpRequest, res: HttpResponse): void {
    const failed = (error: unknown): void => {
      if (!(error instanceof HubError)) options.log.error('request failed', { path: req.url, error: errorText(error) });
      refuseUnexpected({ res, headers: {} }, error);
    };
    try {
      if (options.isHttps(req)) res.setHeader('Strict-Transport-Security', hsts);
      const answering = answer();
      if (answering) answering.catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  const mcpRoute = memoizeLast((url) => routeOf(pathOf(url), options));
  return {
    enter(req, res) {
      // A request sent ahead, before the answer to the one before it (pipelining), waits for its turn: until then Node
      // would not tell that its client left.
      if (res.socket) answered(() => enter(req, res), req, res);
      else res.once('socket', () => answered(() => enter(req, res), req, res));
    },
    enterMcp(req, res) {
      const route = mcpRoute(req.url ?? '/');
      if (route) answered(() => enterMcp(req, res, route), req, res);
    },
    isMcp: (url) => mcpRoute(url) !== undefined,
  };
}

function pathOf(url = '/'): string {
  const queryAt = url.indexOf('?');
  return queryAt === -1 ? url : url.slice(0, queryAt);
}

function queryOf(url = '/'): URLSearchParams {
  const queryAt = url.indexOf('?');
  return queryAt === -1 ? noQuery : new URLSearchParams(url.slice(queryAt + 1));
}

function isPreflight({ method, headers }: HttpRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

function answerPreflight(req: HttpRequest, res: HttpResponse, headers: Record<string, string>): void {
  res.writeHead(204, { ...headers, ...(headers['vary'] !== undefined && preflightHeaders(req)) });
  res.end();
}

/** True for the path of an MCP endpoint, as it is without `BASE_PATH`. */
export function isMcpPath(path: string, taken: ReadonlySet<string>): boolean {
  const route = routeOf(path, { basePath: '', taken });
  return route?.scope !== undefined;
}

/** Whether the MCP endpoint of a URL refuses every request now. */
export function isClosed(url: string, at: Pick<HttpEntryOptions, 'basePath' | 'taken' | 'settings'>): boolean {
  const scope = routeOf(pathOf(url), at)?.scope;
  return scope !== undefined && closedScope(scope, at.settings()) !== undefined;
}

function routeOf(path: string, { basePath, taken }: Pick<HttpEntryOptions, 'basePath' | 'taken'>): Route | undefined {
  if (!path.startsWith(basePath)) return undefined;
  const rest = path.slice(basePath.length);
  if (rest === '/mcp' || rest.startsWith('/mcp/')) return { kind: 'mcp', scope: scopeOf(rest.slice('/mcp'.length)) };
  if (rest === '/sse' || rest.startsWith('/sse/')) return { kind: 'sse', scope: scopeOf(rest.slice('/sse'.length)) };
  return rest === '/messages' ? { kind: 'messages', scope: { kind: 'all' } } : userRoute(rest, taken);
}

/**
 * The endpoints that MCPHub has for each user: `/ann/mcp`, `/ann/mcp/dev`, `/ann/sse`. Here they are the same as
 * without the name, for that user alone: who asks is known by the credential, never by the path.
 */
function userRoute(path: string, taken: HttpEntryOptions['taken']): Route | undefined {
  const [, name = '', kind, rest = ''] = /^\/([^/]+)\/(mcp|sse)((?:\/.*)?)$/s.exec(path) ?? [];
  if ((kind !== 'mcp' && kind !== 'sse') || taken.has(name)) return undefined;
  const user = decoded(name);
  return user === undefined ? undefined : { kind, scope: scopeOf(rest), user };
}

/** Who may come in (CONTRACT §2): a bad credential never, none only where anonymous access is allowed. */
function admitted(
  who: Identified,
  req: HttpRequest,
  { settings, outside }: Pick<HttpEntryOptions, 'settings' | 'outside'>,
): Principal | undefined {
  if (who === 'bad') return undefined;
  if (who !== 'none') return who;
  return needsCredential(settings(), outside.reaches(req)) ? undefined : anonymous;
}

/** Of one who came without a credential. Throws HubError `unauthenticated` where one is asked for by now. */
function stillAnonymous(req: HttpRequest, options: Pick<HttpEntryOptions, 'settings' | 'outside'>): Principal {
  const principal = admitted('none', req, options);
  if (!principal) throw new HubError('unauthenticated', `${needsToken} Send "Authorization: Bearer <token>".`);
  return principal;
}

function bodyLimitOf(
  principal: Principal,
  { settings, bodies }: Pick<HttpEntryOptions, 'settings' | 'bodies'>,
): BodyLimit {
  const maxBytes = settings().system.routing.jsonBodyBytes ?? mcpLimits.requestBodyBytes;
  return { maxBytes, budget: bodies, isKnown: principal.kind !== 'anonymous' };
}

/** Endpoints that are switched off, or not there yet. */
function closedScope(scope: Scope, settings: Settings): HubError | undefined {
  if (scope.kind === 'all' && !settings.system.routing.enableGlobalRoute) {
    return new HubError(
      'forbidden',
      'The endpoint of all servers is switched off (routing.enableGlobalRoute). Name a group or a server.',
    );
  }
  return undefined;
}

function unauthorized(
  context: Pick<RequestContext, 'res' | 'headers'>,
  metadata: string,
  why: { error: string; description: string },
): void {
  const challenge = `Bearer ${why.error}error_description="${why.description}", resource_metadata="${metadata}"`;
  const { status, rpc } = errorTable.unauthenticated;
  refuse(context, status, rpc, `${why.description} Send "Authorization: Bearer <token>".`, {
    headers: { 'www-authenticate': challenge },
  });
}

function whyNot(who: Identified, owned: boolean): { error: string; description: string } {
  if (who === 'bad') return { error: 'error="invalid_token", ', description: 'The access token is not valid.' };
  const description = owned ? 'The endpoint of a user needs the access token of that user.' : needsToken;
  return { error: '', description };
}

/** The same whether there is a user of that name or not. */
function notTheirs(context: Pick<RequestContext, 'res' | 'headers'>): void {
  const why = new HubError('forbidden', 'This endpoint is for the user it is named after. Leave the name out.');
  refuse(context, why.status, why.rpcCode, why.message);
}

/**
 * By the raw headers, which are there anyway: Node's table of repeated ones would be kept as long as the request, half
 * a kilobyte of each open stream.
 */
function hostsOf({ rawHeaders }: IncomingMessage): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (/^host$/i.test(rawHeaders[i] ?? '')) hosts++;
  return hosts;
}

/**
 * A proxy, for example, that reads another one of several hosts than the hub does would let in what the hub must
 * refuse, or the other way round (RFC 9112 §3.2).
 */
function refuseHosts(res: HttpResponse, mcp: boolean): void {
  const message = 'The request has more than one Host header.';
  const text = mcp
    ? errorResponseText('null', rpcErrors.invalidRequest, message)
    : JSON.stringify({ success: false, message });
  refuseForeign(res, text, 400);
}

function refuseForeign(res: HttpResponse, text: string, status = 403): void {
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  res.end(text);
}
