import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client';
import { isPublicAddress } from '../../core/address.ts';
import { HubError } from '../../core/errors.ts';
import { connectionError } from '../channels/http-errors.ts';
import { upstreamLimits } from '../limits.ts';
import type { AddressPolicy } from '../channels/safe-address.ts';

/** An authorization server as far as a sign-in to one MCP server needs to know it. */
export interface Authority {
  readonly issuer: string;
  readonly metadata: AuthorizationServerMetadata;
  readonly resource: string | undefined;
  /** What to ask for, separated by blanks. */
  readonly scope: string | undefined;
}

/** As the official client's functions want it. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface FetchOptions {
  /** Where it may connect to; see `policyBeside`. */
  readonly policy: AddressPolicy;
  readonly userAgent: string;
  /** In place of `upstreamLimits.oauthRequestMs` and `tokenAnswerBytes`. */
  readonly requestMs?: number;
  readonly answerBytes?: number;
}

/**
 * Runs `work` with a fetch for what servers say about signing in: allowed addresses only,
 * a bound for the time of each request, small bodies, no cookies, and redirects left to the caller (the official
 * client follows those within an origin). It throws HubError and nothing else.
 */
export async function withFetch<T>(options: FetchOptions, work: (fetch: Fetch) => Promise<T>): Promise<T> {
  // The HTTP client is loaded for the first sign-in.
  const [{ request }, { guardedAgent }] = await Promise.all([import('undici'), import('../channels/safe-address.ts')]);
  const { requestMs = upstreamLimits.oauthRequestMs, answerBytes = upstreamLimits.tokenAnswerBytes } = options;
  const agent = guardedAgent(options.policy, { connect: { timeout: requestMs } });
  const fetch: Fetch = async (address, init = {}) => {
    const url = new URL(address);
    const where = url.origin + url.pathname;
    if (url.protocol !== 'https:' && url.protocol !== 'http:')
      throw new HubError('upstream_failed', `${where} is no web address.`);
    const method = init.method === 'POST' ? 'POST' : 'GET';
    const headers = { ...Object.fromEntries(new Headers(init.headers)), 'user-agent': options.userAgent };
    const body = init.body === undefined || init.body === null ? null : String(init.body as string | URLSearchParams);
    const signal = AbortSignal.timeout(requestMs);
    try {
      const answer = await request(url, { dispatcher: agent, method, headers, body, signal });
      const received = new Headers();
      for (const [name, value] of Object.entries(answer.headers)) received.set(name, [value ?? ''].flat().join(', '));
      const text = await limited(answer.body, where, answerBytes);
      const bodyless = answer.statusCode === 204 || answer.statusCode === 205 || answer.statusCode === 304;
      return new Response(bodyless ? null : text, { status: answer.statusCode, headers: received });
    } catch (error) {
      if (signal.aborted) throw new HubError('timeout', `${where} did not answer within ${requestMs / 1_000} s.`);
      throw connectionError(where, error);
    }
  };
  try {
    return await work(fetch);
  } finally {
    await agent.destroy();
  }
}

async function limited(body: AsyncIterable<Uint8Array>, where: string, most: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > most) throw new HubError('upstream_failed', `${where} answers far too much.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/**
 * The policy for addresses that a server merely names. An admin's server may be in a private network, and then what it
 * names may be too; a server on the internet must not send the hub there, whether an admin or another user added it, so
 * another owner is no advice.
 */
export async function policyBeside(server: URL, policy: AddressPolicy): Promise<AddressPolicy> {
  const host = server.hostname.replace(/^\[|\]$/g, '');
  // A name that cannot be looked up is told by the connection that fails.
  const found = isIP(host) === 0 ? await lookup(host, { all: true }).catch(() => []) : [{ address: host }];
  const isPublic = found.length > 0 && found.every(({ address }) => isPublicAddress(address));
  return isPublic ? { ...policy, allowPrivateAddresses: false, advice: besideAdvice } : policy;
}

const besideAdvice =
  'A server on the internet sends the hub to no private network, unless "systemConfig.network.allowedCidrs" has its address range.';

/** The `cause` of a HubError that an authorization server gave a reason for (RFC 6749 §5.2). */
export class OAuthFailure extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.name = 'OAuthFailure';
    this.code = code;
  }
}

/** The reason an authorization server gave, if that is what failed. */
export function failureCode(error: unknown): string | undefined {
  return error instanceof Error && error.cause instanceof OAuthFailure ? error.cause.code : undefined;
}

/** A text that does not have the form of an error code is not repeated: it comes from a server that is not trusted. */
export function isFailureCode(text: string): boolean {
  return /^[a-z][a-z0-9_]{1,39}$/.test(text);
}
