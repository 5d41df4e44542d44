import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { cameFrom } from '../../core/access/came-from.ts';
import { inRanges, parseCidr } from '../../core/address.ts';
import type { Logger } from '../../core/logger.ts';
import { networkOf } from '../../core/network.ts';
import type { TrustProxy } from '../../env/values.ts';

/** What is known of where a request came from. */
export type Arrived = Pick<IncomingMessage, 'headers'> & {
  readonly socket: { readonly remoteAddress?: string | undefined };
};

/**
 * The address of the client behind a request, for limits and records. `X-Forwarded-For` is read from the right, as each
 * proxy appends the address it got the request from, and only for as long as the one who appended is trusted
 * (`TRUST_PROXY`): everything further left may be invented. `unknown` for a connection that is gone already.
 */
export function clientAddress(trust: TrustProxy, log: Logger): (req: Arrived) => string {
  const trusted = trustOf(trust);
  let told = false;

  // Most requests come from where the one before came from.
  let lastText = '';
  let lastPeer: string | undefined;

  return (req) => {
    const { headers } = req;
    const text = cameFrom(req) ?? '';
    if (text !== lastText) [lastText, lastPeer] = [text, bare(text)];
    const peer = lastPeer;
    if (peer === undefined) return 'unknown';
    const header = headers['x-forwarded-for'] ?? '';
    const forwarded = typeof header === 'string' ? header : header.join(',');
    if (forwarded === '') return peer;
    if (trust.kind === 'auto' && !told && !trusted(peer, 0)) {
      // Behind a proxy that is not configured, all its users share one limit of failed logins.
      told = true;
      log.warn('X-Forwarded-For is ignored. If it comes from your proxy, set TRUST_PROXY to the address.', { peer });
    }
    let client = peer;
    for (const [hop, entry] of forwarded.split(',').toReversed().entries()) {
      const next = trusted(client, hop) ? bare(entry.trim()) : undefined;
      if (next === undefined) break;
      client = next;
    }
    return client;
  };
}

/** Whether what sent us the request is a trusted proxy, whose other `X-Forwarded-*` are to be believed too. */
export function fromTrustedProxy(trust: TrustProxy): (req: Arrived) => boolean {
  const trusted = trustOf(trust);
  return (req) => {
    const peer = bare(cameFrom(req) ?? '');
    return peer !== undefined && trusted(peer, 0);
  };
}

/**
 * The client that the bound of connections per address counts an address for; undefined for a proxy that is trusted and
 * for this machine itself, which stand for many clients.
 */
export function clientOf(trust: TrustProxy): (address: string) => string | undefined {
  const trusted = trustOf(trust);
  const isLocal = within(['loopback']);
  return (address) => {
    const peer = bare(address);
    return peer === undefined || isLocal(peer, 0) || trusted(peer, 0) ? undefined : networkOf(peer);
  };
}

type Trusted = (address: string, hop: number) => boolean;

/** As Express names them. */
const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

function trustOf(trust: TrustProxy): Trusted {
  switch (trust.kind) {
    // A client on another machine can come from loopback only through a program on this machine.
    case 'auto':
      return within(['loopback']);
    case 'none':
      return () => false;
    case 'all':
      return () => true;
    case 'hops':
      return (_, hop) => hop < trust.hops;
    case 'addresses':
      return within(trust.addresses);
  }
}

function within(addresses: readonly string[]): Trusted {
  const ranges = addresses.flatMap((address) => named[address] ?? [address]).flatMap((text) => parseCidr(text) ?? []);
  return (address) => inRanges(address, ranges);
}

/** An address without port, brackets and the IPv6 form of IPv4; undefined for anything else. */
function bare(text: string): string | undefined {
  const host = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = host.replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(address) === 0 ? undefined : address;
}
