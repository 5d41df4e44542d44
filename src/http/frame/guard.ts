import { isIP } from 'node:net';
import { canonicalHost, hostName, isLoopbackUrl } from '../../core/access/outside.ts';
import { memoizeLast } from '../../core/memoize-last.ts';
import type { HttpRequest } from '../../wire/http.ts';
import type { TrustProxy } from '../../env/values.ts';
import type { Arrived } from './client-address.ts';
import { forwardedHost } from './public-url.ts';

export interface GuardOptions {
  /** `ALLOWED_HOSTS`: names, with a port where only that one is meant. */
  readonly allowedHosts: readonly string[];
  /** `ALLOWED_ORIGINS`: origins accepted besides the hub's own. */
  readonly allowedOrigins: readonly string[];
  /** `INSTALL_BASE_URL`. */
  readonly installBaseUrl: string | undefined;
  /** `install.baseUrl` of the settings in force. */
  readonly settingsBaseUrl: () => string | undefined;
  /** What the machine is called. */
  readonly machineName: string;
  /** Whether others than this machine can reach the hub. */
  readonly exposed: () => boolean;
  /** From where `X-Forwarded-Host` is believed. */
  readonly trustProxy: TrustProxy;
}

/** Keeps web pages out that are not the hub's own (CONTRACT §7; MCP, Transports, security warning). */
export interface Guard {
  /**
   * Why a request must be refused with 403 for its `Host` or `Origin`; undefined when it may go on. `mcp`: it is for an
   * MCP endpoint.
   */
  readonly refused: (req: Arrived, mcp: boolean) => string | undefined;
  /** True for the origin of the hub's own pages, as a browser writes it that knows the hub as `host`. */
  readonly isOwn: (origin: string, host: string) => boolean;
}

export function createGuard(options: GuardOptions): Guard {
  const { allowedOrigins, exposed, installBaseUrl } = options;
  const names = new Set([
    ...options.allowedHosts.map((allowed) => allowed.toLowerCase()),
    ...namesOf(options.machineName),
  ]);
  if (installBaseUrl !== undefined) names.add(hostName(new URL(installBaseUrl).hostname));
  const forwarded = forwardedHost(options.trustProxy);
  const originOf = memoizeLast((url) => new URL(url).origin);
  const nameOf = memoizeLast((url) => hostName(new URL(url).hostname));
  const isPossible = memoizeLast(isPossibleHost);
  const isKnown = memoizeLast(
    (host) => isForAnyHub(host) || names.has(hostName(host)) || names.has(host.toLowerCase()),
  );

  function isAllowedHost(host: string): boolean {
    if (isKnown(host)) return true;
    const url = options.settingsBaseUrl();
    return url !== undefined && nameOf(url) === hostName(host);
  }

  function isOwn(origin: string, host: string): boolean {
    if (isOriginOf(origin, host)) return true;
    if (installBaseUrl !== undefined && new URL(installBaseUrl).origin === origin) return true;
    const url = options.settingsBaseUrl();
    // Every settings file of MCPHub has http://localhost:3000 there: a default, not a choice of the operator.
    return url !== undefined && originOf(url) === origin && !isLoopbackUrl(url);
  }

  function hostRefusal(header: string, host: string): string | undefined {
    const isMalformed = !isPossible(host);
    if (!isMalformed && isAllowedHost(host)) return undefined;
    const named = `${header} "${host.slice(0, 100)}"`;
    return isMalformed
      ? `${named} is malformed: it is no host of a URL. Ports end at 65535.`
      : `${named} is not allowed. Add it to ALLOWED_HOSTS if it is yours.`;
  }

  return {
    isOwn,
    refused(req, mcp) {
      const { host = '', origin } = req.headers;
      // Addresses that the hub writes down have it, as they have `Host`; INSTALL_BASE_URL goes before both.
      const passedOn = installBaseUrl === undefined ? forwarded(req) : undefined;
      const why = hostRefusal('Host', host) ?? (passedOn && hostRefusal('X-Forwarded-Host', passedOn));
      if (why !== undefined) return why;
      // Programs send no `Origin`; a browser does, and then it has to be our own page or one the operator named.
      if (origin === undefined || allowedOrigins.includes(origin) || isOwn(origin, host)) return undefined;
      if (mcp && isLoopbackOrigin(origin) && !exposed()) return undefined;
      return `Origin "${origin.slice(0, 100)}" is not allowed. Add it to ALLOWED_ORIGINS if it is yours.`;
    },
  };
}

/**
 * True for a `Host` that no foreign page can have: an address, `localhost`, a name without a dot as networks of
 * containers have them, and the longer names that Kubernetes gives its services. Public DNS has none of these, so an
 * attacker cannot make one point to this machine.
 */
function isForAnyHub(host: string): boolean {
  const [, bracketed, name = ''] = /^(?:\[([\da-f:.]+(?:%[\w.~-]+)?)\]|([\w.-]+))(?::\d{1,5})?$/i.exec(host) ?? [];
  if (bracketed !== undefined) return isIP(bracketed) === 6;
  return isIP(name) === 4 || /^[\w-]+$/.test(name) || serviceName.test(name);
}

/**
 * False for what no URL has as its host: a port beyond 65535, or a name that URLs read as the number of an address
 * (`0x7f`). What cannot be an address on the hub's other routes is none on this one.
 */
function isPossibleHost(host: string): boolean {
  const url = `http://${canonicalHost(host)}`;
  return URL.canParse(url) && hostName(new URL(url).hostname) === hostName(canonicalHost(host));
}

/**
 * `<name>.<namespace>.svc`, alone or below `cluster.local` or another domain that is not in public DNS (RFC 6762, and
 * `internal` of ICANN).
 */
const serviceName = /^[a-z\d-]+\.[a-z\d-]+\.svc(?:\.(?:[a-z\d-]+\.)*(?:local|internal))?$/i;

/** What a machine is called, and that name as it is announced in a local network (mDNS). */
function namesOf(machine: string): string[] {
  const name = machine.toLowerCase();
  return name === '' ? [] : [name, `${name.split('.')[0] ?? name}.local`];
}

/**
 * Whether a page at this origin was got from this `Host`. Both leave the port out where it is the one of the scheme, or
 * do not.
 */
function isOriginOf(origin: string, host: string): boolean {
  const [, scheme, rest] = /^(https?):\/\/([^/?#@\s]+)$/i.exec(origin) ?? [];
  if (scheme === undefined || rest === undefined) return false;
  if (rest === host) return true;
  const [own, asked] = [`${scheme}://${rest}`, `${scheme}://${host}`];
  return URL.canParse(own) && URL.canParse(asked) && new URL(own).host === new URL(asked).host;
}

function isLoopbackOrigin(origin: string): boolean {
  return /^https?:\/\/[^/?#@\s]+$/i.test(origin) && URL.canParse(origin) && isLoopbackUrl(origin);
}

/**
 * The CORS headers for a request of an origin the operator named; none for others, loopback origins that MCP endpoints
 * let in included (decisions/0050).
 */
export function corsHeaders(req: HttpRequest, allowedOrigins: readonly string[]): Record<string, string> {
  const { origin } = req.headers;
  if (origin === undefined || !allowedOrigins.includes(origin)) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'mcp-session-id, mcp-protocol-version, www-authenticate, retry-after',
    vary: 'Origin',
  };
}

/**
 * What a preflight is answered with, besides `corsHeaders`: all headers that the page wants to send. A fixed list is
 * not possible: `Mcp-Param-*` are as many as tools have arguments, and `routing.bearerAuthHeaderName` is the
 * operator's.
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
