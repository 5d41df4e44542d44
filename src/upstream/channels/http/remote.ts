import { Pool } from 'undici';
import { HubError } from '../../../core/errors.ts';
import { reasonWords } from '../../../core/reasons.ts';
import type { Logger } from '../../../core/logger.ts';
import type { Credential } from '../credential.ts';
import { upstreamLimits } from '../../limits.ts';
import { type AddressPolicy, guardedConnector } from '../safe-address.ts';

export interface RemoteOptions {
  readonly name: string;
  /** `http:` or `https:`; a user and password in it become basic authentication. */
  readonly url: string;
  /** What the operator wrote for this server, `${VAR}` already expanded. */
  readonly headers: Readonly<Record<string, string>>;
  readonly maxMessageBytes: number;
  readonly connectTimeoutMs: number;
  /** Where connections may go; absent: anywhere. */
  readonly addresses?: AddressPolicy;
  /** For a server that people sign in to; not used when `headers` or the url bring a credential. */
  readonly credential?: Credential | undefined;
  /** The log of `server:<name>`. */
  readonly log: Logger;
  readonly userAgent: string;
}

/** A server's address with the connections to it. */
export interface Remote {
  readonly url: URL;
  /** The address as it may be shown: without credentials and query, which often hold a key. */
  readonly where: string;
  /** Path and query that requests go to; a redirect within the origin changes it. */
  path: string;
  /** Name, value, name, value …: the operator's, as sent with every request. */
  readonly headers: readonly string[];
  readonly credential: Credential | undefined;
  readonly pool: Pool;
}

/**
 * Opens nothing yet: connections are made when needed. Throws HubError `invalid_input` for an address or header that
 * cannot be used.
 */
export function remote(options: RemoteOptions): Remote {
  const { name, url: address, headers, connectTimeoutMs, userAgent, log } = options;
  const { addresses = anywhere, credential } = options;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new HubError('invalid_input', `Cannot connect server "${name}": its url is not an http or https address.`);
  }
  const pool = new Pool(url.origin, {
    connections: upstreamLimits.upstreamConnections,
    pipelining: 1,
    connect: guardedConnector(addresses, { timeout: connectTimeoutMs }),
    // A call may take minutes; the code that made the request keeps its deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const own = ownHeaders(name, url, headers, userAgent, log);
  return {
    url,
    where: url.origin + url.pathname,
    path: url.pathname + url.search,
    headers: own,
    credential: own.includes('authorization') ? undefined : credential,
    pool,
  };
}

/** Headers of a request that is sent now, with the credential of the moment. */
export function authorized({ credential }: Remote, headers: string[]): string[] {
  const authorization = credential?.header();
  return authorization === undefined ? headers : [...headers, 'authorization', authorization];
}

const anywhere: AddressPolicy = { allowPrivateAddresses: true, allowedCidrs: [] };

/** Set by the transport itself. */
const reserved = new Set([
  'accept',
  'content-type',
  'content-length',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'last-event-id',
  'host',
]);
/** About one connection, which is not the operator's business (RFC 9110 §7.6.1). */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'proxy-connection',
]);

function ownHeaders(
  server: string,
  url: URL,
  configured: Readonly<Record<string, string>>,
  userAgent: string,
  log: Logger,
): string[] {
  const headers = new Map<string, string>([['user-agent', userAgent]]);
  if (url.username !== '' || url.password !== '') {
    const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers.set('authorization', `Basic ${Buffer.from(user).toString('base64')}`);
  }
  for (const [written, value] of Object.entries(configured)) {
    const name = written.toLowerCase();
    if (reserved.has(name) || hopByHop.has(name)) {
      log.warn(`The header "${written}" of server "${server}" is left out: the transport sets it.`);
      continue;
    }
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name) || !isHeaderValue(value)) {
      throw new HubError(
        'invalid_input',
        `Cannot connect server "${server}": its header "${written}" has characters that headers cannot have.`,
      );
    }
    headers.set(name, value.trim());
  }
  return [...headers].flat();
}

/** Visible characters, blanks and tabs within Latin-1 (RFC 9110 §5.5). */
function isHeaderValue(value: string): boolean {
  return /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value.trim());
}

/**
 * Where a redirect leads, as path and query within the same origin. Throws HubError when it leads elsewhere: the
 * operator's headers must not follow.
 */
export function redirectPath(remote: Remote, status: number, location: string | undefined): string {
  const from = remote.url.origin + remote.path;
  const target = location !== undefined && URL.canParse(location, from) ? new URL(location, from) : undefined;
  if (!target)
    throw new HubError('upstream_failed', `${remote.where} answered ${status} without a usable new address.`);
  if (target.origin !== remote.url.origin) {
    const reason = {
      code: 'redirected' as const,
      values: { where: remote.where, target: `${target.origin}${target.pathname}` },
    };
    const { text, advice } = reasonWords(reason);
    throw new HubError('upstream_failed', `${text} ${advice}`, { reason });
  }
  return target.pathname + target.search;
}
