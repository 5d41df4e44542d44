import { inRanges, parseCidr } from '../address.ts';
import { cameFrom } from './came-from.ts';
import { memoizeLast } from '../memoize-last.ts';

// Who counts as being on this machine (CONTRACT §7). The socket alone does not tell: behind a proxy on the same machine
// every client comes from loopback.

/** What the environment says about where the hub can be reached. */
export interface Place {
  /** `HOST`, IPv6 without brackets. */
  readonly host: string;
  /** `INSTALL_BASE_URL`. */
  readonly installBaseUrl: string | undefined;
  /** `ALLOWED_HOSTS`: names, with a port or without. */
  readonly allowedHosts: readonly string[];
}

/** What of a request tells where it came from. */
export interface Sent {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** Where requests come from. Both answers may change with the settings. */
export interface Outside {
  /**
   * True when the hub listens beyond loopback, or is said to have an address there: then every request may be of
   * others, whatever it looks like.
   */
  readonly exposed: () => boolean;
  /** True for each request to an exposed hub, and for one that did not begin on this machine. */
  readonly reaches: (request: Sent) => boolean;
}

/** `settingsBaseUrl`: `install.baseUrl` of the settings in force. */
export function createOutside(place: Place, settingsBaseUrl: () => string | undefined): Outside {
  const always =
    !isLoopbackName(place.host) ||
    place.allowedHosts.some((allowed) => !isLoopbackName(hostName(allowed))) ||
    (place.installBaseUrl !== undefined && !isLoopbackUrl(place.installBaseUrl));
  const leadsBeyond = memoizeLast((url) => !isLoopbackUrl(url));
  const exposed = (): boolean => {
    if (always) return true;
    const url = settingsBaseUrl();
    return url !== undefined && leadsBeyond(url);
  };
  return { exposed, reaches: (request) => exposed() || isFromOutside(request) };
}

/**
 * True for a request that did not come from this machine, or that something passed on (a proxy names itself or its
 * client), whatever `TRUST_PROXY` says.
 */
export function isFromOutside(request: Sent): boolean {
  const { headers } = request;
  if (
    headers['x-forwarded-for'] !== undefined ||
    headers['forwarded'] !== undefined ||
    headers['x-real-ip'] !== undefined ||
    headers['via'] !== undefined
  )
    return true;
  // Without an address the connection is gone, or is of a kind that the hub does not listen on.
  const remoteAddress = cameFrom(request);
  return remoteAddress === undefined || !isLoopbackAddress(remoteAddress);
}

const loopback = ['127.0.0.0/8', '::1'].flatMap((text) => parseCidr(text) ?? []);
/** Of a peer, also in the IPv6 form of IPv4. Requests mostly come from where the one before came from. */
const isLoopbackAddress = memoizeLast((address) => inRanges(address, loopback));

/** True for names that only this machine has for itself. IPv6 without brackets. */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '::1' || name.endsWith('.localhost') || /^127(\.\d{1,3}){3}$/.test(name);
}

/** The same for the host of an http:// or https:// address. */
export function isLoopbackUrl(url: string): boolean {
  return isLoopbackName(hostName(new URL(url).hostname));
}

/** The name in a `Host` header, lower case, without port and brackets. */
export function hostName(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(host);
  return (bracketed?.[1] ?? host.replace(/:\d+$/, '')).toLowerCase();
}

/**
 * A `Host` header with an IPv6 address, with the address as URLs have it (RFC 5952) and without a zone, which none has.
 * The port stays. What is no such header is returned as it is.
 */
export function canonicalHost(host: string): string {
  const [, address, port = ''] = /^\[([\da-f:.]+)(?:%[\w.~-]+)?\](:\d+)?$/i.exec(host) ?? [];
  const url = `http://[${address}]`;
  return address !== undefined && URL.canParse(url) ? `${new URL(url).hostname}${port}` : host;
}
