// Which routes of the API are special, and in what way. Nothing here needs the API itself, which is loaded later than
// what refuses requests on their way to it.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ErrorCode } from '../../core/errors.ts';
import type { Section } from './http-entry.ts';

/** Paths below `/api`. */
export type Routes = readonly (readonly [methods: readonly string[], path: RegExp])[];

export const login: Routes[number] = [['POST'], /^\/auth\/login$/];
/** Where browsers log in at a provider, and providers end sessions. */
export const oidc: Routes = [
  [['GET'], /^\/auth\/oidc\/[^/]+\/(?:start|callback)$/],
  [['POST'], /^\/auth\/oidc\/[^/]+\/backchannel-logout$/],
];
export const logStream: Routes[number] = [['GET'], /^\/logs\/stream$/];

/**
 * First parts of paths of the management API, which stay closed even if a group or server has that name. Such a group
 * or server is reached by its id, or by the routes without a scope.
 */
const managed =
  '(?!(?:activities|auth|cloud|cost|credentials|docs|groups|logs|market|mcp|mcpb|oauth|openapi|prompts|registry|resources|servers|settings|smart-routing|templates|users)/)';

/** OpenAPI-style execution and the documents that describe it. Their failures are `{error, message}`. */
export const openApi: Routes = [
  [['GET'], /^\/tools\/[^/]+\/[^/]+$/],
  [['POST'], /^\/tools\/(?!call\/)[^/]+\/[^/]+$/],
  [['GET', 'POST'], new RegExp(`^/${managed}[^/]+/tools/[^/]+/[^/]+$`)],
  [['GET', 'HEAD'], new RegExp(`^/(?:${managed}[^/]+/)?openapi\\.(?:json|yaml)$`)],
];

/**
 * What may be called without a credential (SPEC, Authentication, 4; CONTRACT §2): the routes themselves decide what
 * anonymous may see.
 */
export const openRoutes: Routes = [login, ...oidc, [['GET', 'HEAD'], /^\/docs(?:\/openapi\.json)?$/], ...openApi];

/** Where programs that speak OAuth send requests. Failures there are `{error, error_description}` (CONTRACT §3). */
const oauthEndpoint = /^\/oauth\/(?:token|register|revoke)\/?$/;

/** What OAuth calls the failures that come before the API sees a request (RFC 6749 §4.1.2.1). */
const oauthNames = {
  forbidden: 'access_denied',
  misconfigured: 'server_error',
  not_ready: 'temporarily_unavailable',
} as const satisfies Partial<Record<ErrorCode, string>>;

/** The body of a failure of OAuth: the description has the characters of RFC 6749 §5.2 alone. */
export function oauthFailure(error: string, message: string): { error: string; error_description: string } {
  const description = message.replaceAll('"', "'").replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?');
  return { error, error_description: description };
}

interface Failure {
  readonly code: keyof typeof oauthNames;
  readonly message: string;
}

/** Whether a request is for one of these routes. `path` is below `/api`. */
export function matches(routes: Routes, { method, path }: Asked): boolean {
  return routes.some(([methods, pattern]) => methods.includes(method) && pattern.test(path));
}

/**
 * The methods that a path of `openApi` takes, for a request with another: what any caller may be told, as the path
 * alone says it. Undefined for every other request, and where a login decides.
 */
export function methodsInstead({ method, path }: Asked): readonly string[] | undefined {
  const methods = openApi.flatMap(([some, pattern]) => (pattern.test(path) ? some : []));
  const isOther = methods.length > 0 && !methods.includes(method) && !path.startsWith('/tools/call/');
  return isOther ? methods : undefined;
}

interface Asked {
  readonly method: string;
  readonly path: string;
}

/** Whether a route below `/api` may be called without a credential. */
export function isOpen(asked: Asked): boolean {
  return matches(openRoutes, asked);
}

/** What the token of a client is good for that has the scope `mcp` alone. */
export const toolCalls: Routes = [...openApi, [['POST'], /^\/tools\/call\/[^/]+$/]];

const changing = ['POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * What no client does for its user, whatever its token is good for: what gives, changes or ends accounts, passwords,
 * keys, logins and consents. It would outlive the consent.
 */
export const inPerson: Routes = [[changing, /^\/(?:auth|users|credentials|mcp-settings\/import)(?:\/|$)/]];

/**
 * The body of a failure that comes before the API sees the request, in the form of the route it was for. `path` is the
 * whole path.
 */
export function failureText(mount: string, { method, path }: Asked, { code, message }: Failure): string {
  // As the routes see it: without `.` and `..`, and without a slash at its end.
  const address = `http://hub${path}`;
  const pathname = URL.canParse(address) ? new URL(address).pathname : path;
  if (oauthEndpoint.test(pathname)) return JSON.stringify(oauthFailure(oauthNames[code], message));
  const below = pathname.startsWith(mount) ? pathname.slice(mount.length).replace(/\/$/, '') : '';
  const bare = matches(openApi, { method, path: below });
  return JSON.stringify(bare ? { error: code, message } : { success: false, message });
}

/** What a user may do who has to set up a second factor first: that, and what is needed to log in and out. */
export const settingUpFactor: Routes = [
  [['GET'], /^\/auth\/user$/],
  [['POST'], /^\/auth\/(?:logout|reauthenticate|password-check|change-password)$/],
  [['GET', 'POST', 'DELETE'], /^\/auth\/second-factor(?:\/|$)/],
  [['GET'], /^\/docs(?:\/openapi\.json)?$/],
];

/** What `READONLY` allows: reading, calling tools, coming and going. */
export const harmless: Routes = [
  ...openRoutes,
  [['GET', 'HEAD'], /^/],
  [['POST'], /^\/tools\/call\/[^/]+$/],
  [['POST'], /^\/mcp\/[^/]+\/prompts\/[^/]+$/],
  [['POST'], /^\/resources\/read$/],
  [['POST'], /^\/smart-routing\/search$/],
  [['POST'], /^\/policies\/simulate$/],
  [['POST'], /^\/guards\/[^/]+\/try$/],
  [['POST'], /^\/auth\/(?:logout|reauthenticate|password-check)$/],
  [['DELETE'], /^\/auth\/sessions(?:\/[^/]+)?$/],
  [['DELETE'], /^\/users\/[^/]+\/sessions$/],
];

/**
 * Everything that is not an MCP endpoint. `answer` is asked for with each request, which waits for it; those that
 * `probe` answers do not.
 */
export function otherPaths(
  basePath: string,
  answer: () => Promise<RequestListener>,
  probe: (req: IncomingMessage, res: ServerResponse) => boolean,
): Section<IncomingMessage, ServerResponse> {
  const refusal = (
    { method = 'GET', url = '/' }: IncomingMessage,
    message: string,
    code: Failure['code'] = 'forbidden',
  ) => failureText(`${basePath}/api`, { method, path: url.split('?', 1)[0] ?? '' }, { code, message });
  return {
    async handle(req, res, headers) {
      for (const name of Object.keys(headers)) res.setHeader(name, headers[name] ?? '');
      if (!probe(req, res)) (await answer())(req, res);
    },
    refusal: (req, why) => refusal(req, why),
    failed(res) {
      // An answer that broke off in the middle can only be cut.
      if (res.headersSent) return void res.destroy();
      const text = refusal(res.req, 'Internal error', 'misconfigured');
      res.writeHead(500, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
      res.end(text);
    },
  };
}
