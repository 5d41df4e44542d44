import type { ByteBudget } from '../core/byte-budget.ts';
import type { Outside } from '../core/access/outside.ts';
import { needsCredential, userOf } from '../core/access/identity.ts';
import { closedScope } from '../core/access/rules.ts';
import { errorTable, HubError } from '../core/errors.ts';
import { thenMaybe } from '../core/then-maybe.ts';
import { anonymous, type Principal } from '../core/access/principal.ts';
import { anyEndpoint } from '../core/access/endpoint.ts';
import { memoizeLast } from '../core/memoize-last.ts';
import { errorResponseText, rpcErrors } from '../core/protocol/rpc.ts';
import { decoded, type Scope, scopeOf } from '../core/access/scope.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { HttpRequest, HttpResponse } from '../wire/http.ts';
import { type EndpointOptions, refuseUnexpected, serveMcp } from './endpoint.ts';
import { createLegacySse } from './legacy-sse.ts';
import { mcpLimits } from './limits.ts';
import { type BodyLimit, refuse, type RequestContext } from './request-context.ts';

/**
 * Who a request's credential belongs to: a principal, `none` when it brings none, `bad` when what it brings is not
 * accepted.
 */
export type Identified = Principal | 'none' | 'bad';

export interface McpEntryOptions extends EndpointOptions {
  /** `''` or `/prefix`. */
  readonly basePath: string;
  /** Whether a request may come from others than this machine. */
  readonly outside: Pick<Outside, 'reaches'>;
  readonly settings: () => Settings;
  /** `endpoint` as `endpointOf` gives it. */
  readonly identify: (
    req: Pick<HttpRequest, 'headers' | 'socket'>,
    address: string | undefined,
    endpoint: string,
  ) => Identified | Promise<Identified>;
  /** The client's address, also behind trusted proxies. */
  readonly address: (req: HttpRequest) => string | undefined;
  /** Called for each credential that is not accepted. */
  readonly badCredential: (address: string | undefined) => void;
  /** The memory for bodies of requests. */
  readonly bodies: ByteBudget;
  /** First parts of paths that are no user's, with any rest. */
  readonly taken: ReadonlySet<string>;
  /** Where the metadata of the endpoint is that a request without a good credential asked for (RFC 9728 §5.1). */
  readonly metadataUrl: (req: HttpRequest) => string;
}

const needsToken = 'This endpoint needs an access token.';

const noQuery = new URLSearchParams();

/** What is known of a request before it is known who makes it. */
type Asked = Pick<RequestContext, 'req' | 'res' | 'headers' | 'scope' | 'address'>;

interface Route {
  readonly kind: 'mcp' | 'sse' | 'messages';
  /** Undefined for a path that cannot be decoded. */
  readonly scope: Scope | undefined;
  readonly endpoint: string;
  /** Whose endpoint it is (`/ann/mcp`); undefined for an endpoint of all users. */
  readonly user?: string;
}

export interface McpEntry {
  /** Whether a URL is an MCP endpoint's. */
  readonly isMcp: (url: string) => boolean;
  /** Answers a request to one that was let in, with these headers (CORS) beside its own. */
  readonly handle: (req: HttpRequest, res: HttpResponse, headers: Record<string, string>) => void | Promise<void>;
  /** The body that tells why a request is not let in, as JSON text. */
  readonly refusal: (req: HttpRequest, why: string) => string;
  /** Answers a request whose `handle` threw. The answer may have begun. */
  readonly failed: (res: HttpResponse, error: unknown) => void;
}

/** The entry of all requests to MCP endpoints: finds out who asks for what, and passes the request on. */
export function createMcpEntry(options: McpEntryOptions): McpEntry {
  const closed = (scope: Scope): HubError | undefined => closedScope(options.settings(), scope);
  const legacySse = createLegacySse(`${options.basePath}/messages`, { ...options, closed });
  const routeAt = memoizeLast((url) => routeOf(pathOf(url), options));

  function handle(req: HttpRequest, res: HttpResponse, headers: Record<string, string>): void | Promise<void> {
    const route = routeAt(req.url ?? '/');
    if (!route) throw new Error('This is no MCP endpoint.');
    const { scope } = route;
    if (!scope)
      return refuse({ res, headers }, 400, rpcErrors.invalidRequest, 'The path is not valid percent-encoding.');
    const at: Asked = { req, res, headers, scope, address: options.address(req) };
    const who = options.identify(req, at.address, route.endpoint);
    return who instanceof Promise ? who.then((late) => enter(late, route, at)) : enter(who, route, at);
  }

  /** Goes on once it is known who asks. */
  function enter(who: Identified, route: Route, at: Asked): void | Promise<void> {
    const { req, res, headers, scope, address } = at;
    const { endpoint } = route;
    // What is begun now would not be told that its client has left.
    if (res.destroyed) return;
    if (who === 'bad') options.badCredential(address);
    const principal = admit(who, route, at);
    if (!principal) return;
    const stillAdmitted = (): boolean | Promise<boolean> =>
      thenMaybe(options.identify(req, address, endpoint), (now) => admit(now, route, at) !== undefined);
    const bodyLimit = () => bodyLimitOf(principal, options);
    const senderNow = (): Principal | Promise<Principal> =>
      thenMaybe(options.identify(req, address, endpoint), (now) => stillAdmittedAs(now, req, options));
    // Written out: V8 lets what such an object holds outlive the young generation when it is spread and then added
    // to.
    return serve(route, {
      req,
      res,
      headers,
      clientHeaders: req.headers,
      scope,
      principal,
      address,
      query: queryOf(req.url),
      bodyLimit,
      stillAdmitted,
      senderNow,
    });
  }

  /** Whose request it is; undefined when it was refused and answered. */
  function admit(who: Identified, route: Route, { req, res, headers, scope }: Asked): Principal | undefined {
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

  return {
    isMcp: (url) => routeAt(url) !== undefined,
    handle,
    refusal: (_, why) => errorResponseText('null', rpcErrors.invalidRequest, why),
    failed: (res, error) => refuseUnexpected({ res, headers: {} }, error),
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

/** True for the path of an MCP endpoint, as it is without `BASE_PATH`. */
export function isMcpPath(path: string, taken: ReadonlySet<string>): boolean {
  const route = routeOf(path, { basePath: '', taken });
  return route?.scope !== undefined;
}

/** Whether the MCP endpoint of a URL refuses every request now. */
export function isClosed(url: string, at: Pick<McpEntryOptions, 'basePath' | 'taken' | 'settings'>): boolean {
  const scope = routeOf(pathOf(url), at)?.scope;
  return scope !== undefined && closedScope(at.settings(), scope) !== undefined;
}

/** What the token of a client has to be for, at the MCP endpoint of a URL: its path without `BASE_PATH`. */
export function endpointOf(url: string, { basePath }: Pick<McpEntryOptions, 'basePath'>): string {
  return endpointPath(pathOf(url).slice(basePath.length));
}

/** In one spelling, which a token names. */
export function endpointPath(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  const bare = end === path.length ? path : path.slice(0, end);
  return /^(?:\/[\w$.~-]+)*$/.test(bare) ? bare : canonical(bare);
}

function canonical(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  return `/${parts.map((part) => encodeURIComponent(decoded(part) ?? part)).join('/')}`.replaceAll('%24', '$');
}

function routeOf(path: string, { basePath, taken }: Pick<McpEntryOptions, 'basePath' | 'taken'>): Route | undefined {
  if (!path.startsWith(basePath)) return undefined;
  const rest = path.slice(basePath.length);
  const route = (kind: 'mcp' | 'sse'): Route => ({ kind, scope: scopeOf(rest.slice(4)), endpoint: endpointPath(rest) });
  if (rest === '/mcp' || rest.startsWith('/mcp/')) return route('mcp');
  if (rest === '/sse' || rest.startsWith('/sse/')) return route('sse');
  // Messages of the legacy transport belong to a stream, at whose endpoint the token was looked at.
  if (rest === '/messages') return { kind: 'messages', scope: { kind: 'all' }, endpoint: anyEndpoint };
  return userRoute(rest, taken);
}

/**
 * The endpoints that MCPHub has for each user: `/ann/mcp`, `/ann/mcp/dev`, `/ann/sse`. Here they are the same as
 * without the name, for that user alone: who asks is known by the credential, never by the path.
 */
function userRoute(path: string, taken: McpEntryOptions['taken']): Route | undefined {
  const [, name = '', kind, rest = ''] = /^\/([^/]+)\/(mcp|sse)((?:\/.*)?)$/s.exec(path) ?? [];
  if ((kind !== 'mcp' && kind !== 'sse') || taken.has(name)) return undefined;
  const user = decoded(name);
  return user === undefined ? undefined : { kind, scope: scopeOf(rest), endpoint: endpointPath(path), user };
}

/** Who may come in (CONTRACT §2): a bad credential never, none only where anonymous access is allowed. */
function admitted(
  who: Identified,
  req: HttpRequest,
  { settings, outside }: Pick<McpEntryOptions, 'settings' | 'outside'>,
): Principal | undefined {
  if (who === 'bad') return undefined;
  if (who !== 'none') return who;
  return needsCredential(settings(), outside.reaches(req)) ? undefined : anonymous;
}

/** Throws HubError `unauthenticated` for a request that would not be let in any more. */
function stillAdmittedAs(
  who: Identified,
  req: HttpRequest,
  options: Pick<McpEntryOptions, 'settings' | 'outside'>,
): Principal {
  const principal = admitted(who, req, options);
  if (principal) return principal;
  const { description } = whyNot(who, false);
  throw new HubError('unauthenticated', `${description} Send "Authorization: Bearer <token>".`);
}

function bodyLimitOf(
  principal: Principal,
  { settings, bodies }: Pick<McpEntryOptions, 'settings' | 'bodies'>,
): BodyLimit {
  const maxBytes = settings().system.routing.jsonBodyBytes ?? mcpLimits.requestBodyBytes;
  return { maxBytes, budget: bodies, isKnown: principal.kind !== 'anonymous' };
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
