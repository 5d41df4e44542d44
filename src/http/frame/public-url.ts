import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { TrustProxy } from '../../env/values.ts';
import { type Arrived, fromTrustedProxy } from './client-address.ts';

/** How a client reaches the hub. */
export interface PublicUrl {
  /** Scheme, host and port. */
  origin(req: Arrived): string;
  /** What comes before `/mcp`, `/api` and the rest: `BASE_PATH`, after whatever path `INSTALL_BASE_URL` has. Empty, or like `/hub`. */
  readonly prefix: string;
}

export interface PublicUrlOptions {
  /** `INSTALL_BASE_URL`: the address from outside, without `BASE_PATH`. It wins over everything a request says. */
  readonly installBaseUrl: string | undefined;
  readonly basePath: string;
  readonly trustProxy: TrustProxy;
}

/** Without `INSTALL_BASE_URL` it is the `Host` the client named, or what a trusted proxy says in `X-Forwarded-Proto` and `X-Forwarded-Host`. */
export function createPublicUrl({ installBaseUrl, basePath, trustProxy }: PublicUrlOptions): PublicUrl {
  const install = installBaseUrl === undefined ? undefined : new URL(installBaseUrl);
  const forwarded = fromTrustedProxy(trustProxy);
  return {
    prefix: `${install?.pathname.replace(/\/+$/, '') ?? ''}${basePath}`,
    origin(req) {
      if (install) return install.origin;
      const said = forwarded(req) ? (name: string) => first(req.headers[name]) : () => undefined;
      const scheme = said('x-forwarded-proto')?.toLowerCase() === 'https' ? 'https' : 'http';
      return `${scheme}://${hostIn(said('x-forwarded-host')) ?? hostIn(req.headers.host) ?? 'localhost'}`;
    },
  };
}

/** The address by which the one who asks reaches the hub, prefix included. */
export function hubUrl(publicUrl: PublicUrl): (c: Context) => string {
  return (c) => `${publicUrl.origin((c.env as HttpBindings).incoming)}${publicUrl.prefix}`;
}

/** The first of several values is the proxy nearest to the client. */
function first(header: string | string[] | undefined): string | undefined {
  return [header ?? []].flat().join(',').split(',')[0]?.trim();
}

/** The text if it is a host, with a port or without. */
function hostIn(text: string | undefined): string | undefined {
  return text !== undefined && /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(text) ? text : undefined;
}
