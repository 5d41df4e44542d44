import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { isLoopbackUrl } from '../../core/access/outside.ts';
import type { TrustProxy } from '../../env/values.ts';
import { type Arrived, fromTrustedProxy } from './client-address.ts';

/** How a client reaches the hub. */
export interface PublicUrl {
  /** Scheme, host and port. */
  origin(req: Arrived): string;
  /** Whether the client came over https. */
  isHttps(req: Arrived): boolean;
  /**
   * What comes before `/mcp`, `/api` and the rest: `BASE_PATH`, after whatever path `INSTALL_BASE_URL` has. Empty, or
   * like `/hub`.
   */
  readonly prefix: string;
  /**
   * The address to write down for others, prefix included: what the settings say in `install.baseUrl` goes before what
   * the request does.
   */
  hub(req: Arrived): string;
}

export interface PublicUrlOptions {
  /** `INSTALL_BASE_URL`: the address from outside, without `BASE_PATH`. It wins over everything a request says. */
  readonly installBaseUrl: string | undefined;
  /** `install.baseUrl` of the settings, likewise without `BASE_PATH`. */
  readonly settingsBaseUrl: () => string | undefined;
  readonly basePath: string;
  readonly trustProxy: TrustProxy;
}

/**
 * Without `INSTALL_BASE_URL` it is the `Host` the client named, or what a trusted proxy says in `X-Forwarded-Proto` and
 * `X-Forwarded-Host`.
 */
export function createPublicUrl(options: PublicUrlOptions): PublicUrl {
  const { installBaseUrl, settingsBaseUrl, basePath, trustProxy } = options;
  const install = installBaseUrl === undefined ? undefined : new URL(installBaseUrl);
  const prefix = `${install?.pathname.replace(/\/+$/, '') ?? ''}${basePath}`;
  const forwarded = fromTrustedProxy(trustProxy);
  const hostOf = forwardedHost(trustProxy);
  const isHttps = (req: Arrived): boolean => {
    if (install) return install.protocol === 'https:';
    const scheme = req.headers['x-forwarded-proto'];
    return scheme !== undefined && forwarded(req) && first(scheme)?.toLowerCase() === 'https';
  };
  const origin = (req: Arrived): string => {
    if (install) return install.origin;
    const host = hostOf(req) ?? hostIn(req.headers.host) ?? 'localhost';
    return `${isHttps(req) ? 'https' : 'http'}://${host}`;
  };
  return {
    prefix,
    origin,
    isHttps,
    hub(req) {
      const chosen = install ? undefined : settingsBaseUrl();
      // Every file of MCPHub has `http://localhost:3000` there, which no operator chose and which only works on the
      // hub's own machine.
      return chosen !== undefined && !isLoopbackUrl(chosen) ? `${chosen}${basePath}` : `${origin(req)}${prefix}`;
    },
  };
}

/**
 * The host that a client named to a trusted proxy (`X-Forwarded-Host`); undefined where none says it, or says no host.
 */
export function forwardedHost(trustProxy: TrustProxy): (req: Arrived) => string | undefined {
  const forwarded = fromTrustedProxy(trustProxy);
  return (req) => {
    const said = req.headers['x-forwarded-host'];
    return said !== undefined && forwarded(req) ? hostIn(first(said)) : undefined;
  };
}

/** The address to write down for the one who asks. */
export function hubUrl(publicUrl: PublicUrl): (c: Context) => string {
  return (c) => publicUrl.hub((c.env as HttpBindings).incoming);
}

/** The first of several values is the proxy nearest to the client. */
function first(header: string | string[] | undefined): string | undefined {
  return [header ?? []].flat().join(',').split(',')[0]?.trim();
}

/** The text if it is a host, with a port or without. */
function hostIn(text: string | undefined): string | undefined {
  return text !== undefined && /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(text) ? text : undefined;
}
