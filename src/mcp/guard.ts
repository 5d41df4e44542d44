import { remembering } from '../core/remembering.ts';
import type { HttpRequest } from '../wire/http.ts';

export interface GuardOptions {
  /** True when the hub listens on loopback only: then a foreign `Host` is DNS rebinding. */
  readonly loopback: boolean;
  /** Host names (without port) accepted besides; when given, no other is accepted even beyond loopback. */
  readonly allowedHosts: readonly string[];
  /** Origins accepted besides the hub's own. */
  readonly allowedOrigins: readonly string[];
}

/**
 * Says why a request must be refused with 403 for its `Host` or `Origin` (CONTRACT §2; MCP, Transports, security warning), or undefined. Programs send no
 * `Origin`; a browser does, and then it has to be our own page or one the operator named.
 */
export function refusedByGuard(req: HttpRequest, options: GuardOptions): string | undefined {
  const host = req.headers.host ?? '';
  const name = nameOf(host);
  const named = options.allowedHosts.some(
    (allowed) => allowed.toLowerCase() === name || allowed.toLowerCase() === host.toLowerCase(),
  );
  // Whatever keeps a container alive asks under the address it has there, and `/health` tells nobody's secrets.
  const isProbe = req.url === '/health' && !options.loopback;
  if (!named && !isProbe && (options.loopback ? !isLoopbackName(name) : options.allowedHosts.length > 0)) {
    return `Host "${host.slice(0, 100)}" is not allowed. Add it to ALLOWED_HOSTS if it is yours.`;
  }
  const { origin } = req.headers;
  if (origin === undefined || options.allowedOrigins.includes(origin)) return undefined;
  const originHost = hostOfOrigin(origin);
  const own =
    originHost !== undefined &&
    (originHost === host.toLowerCase() || (options.loopback && isLoopbackName(hostName(originHost))));
  return own ? undefined : `Origin "${origin.slice(0, 100)}" is not allowed. Add it to ALLOWED_ORIGINS if it is yours.`;
}

/** The CORS headers for a request of an origin the operator named; none for others. */
export function corsHeaders(req: HttpRequest, allowedOrigins: readonly string[]): Record<string, string> {
  const { origin } = req.headers;
  if (origin === undefined || !allowedOrigins.includes(origin)) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'mcp-session-id, mcp-protocol-version, www-authenticate',
    vary: 'Origin',
  };
}

/**
 * What a preflight is answered with, besides `corsHeaders`: whatever headers the page wants to send. Which ones there are is not for a list to know:
 * `Mcp-Param-*` are as many as tools have arguments, and `routing.bearerAuthHeaderName` is the operator's.
 */
export function preflightHeaders(req: HttpRequest): Record<string, string> {
  const wanted = req.headers['access-control-request-headers'];
  return {
    'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
    ...(wanted !== undefined && { 'access-control-allow-headers': wanted }),
    'access-control-max-age': '600',
    vary: 'Origin, Access-Control-Request-Headers',
  };
}

/** True for addresses that only this machine can reach. */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '::1' || name.endsWith('.localhost') || /^127(\.\d{1,3}){3}$/.test(name);
}

const nameOf = remembering(hostName);

function hostName(host: string): string {
  const bracketed = /^\[([^\]]*)\](:\d+)?$/.exec(host);
  return (bracketed?.[1] ?? host.replace(/:\d+$/, '')).toLowerCase();
}

function hostOfOrigin(origin: string): string | undefined {
  try {
    return new URL(origin).host.toLowerCase();
  } catch {
    return undefined;
  }
}
