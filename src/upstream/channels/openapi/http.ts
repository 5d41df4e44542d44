import { STATUS_CODES } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

import { request } from 'undici';

import { errorText, HubError } from '../../../core/errors.ts';
import { claim, giveBack } from '../../../core/json/large-buffers.ts';
import { connectionError } from '../http-errors.ts';
import { upstreamLimits } from '../../limits.ts';
import { type AddressPolicy, guardedAgent } from '../safe-address.ts';
import type { CookieJar } from './cookies.ts';
import type { Request } from './request.ts';

/** A complete answer of a REST API. Header names are lower case. */
export interface Answer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  /** Where it came from, redirects followed. */
  readonly url: URL;
}

/**
 * What the operator adds to a request. Header names are lower case; the pairs of a query are not encoded yet, those of
 * a cookie are.
 */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
  readonly cookies: readonly string[];
}

/** A request on its way: credentials go to the origin of its URL and to no other. */
export interface Call {
  readonly request: Request;
  readonly credentials: Credentials;
  readonly maxBytes: number;
  readonly redirects: number;
  readonly signal: AbortSignal;
}

/** Sends requests to allowed addresses only. `close` ends those under way. */
export interface HttpClient {
  /**
   * Throws HubError: `forbidden` for an address that is not allowed, `too_large`, `upstream_unavailable` when no
   * connection came about, `upstream_failed` when it broke or a redirect cannot be followed, and whatever the signal
   * was aborted with.
   */
  send(call: Call): Promise<Answer>;
  close(): Promise<void>;
}

/** Opens a client with its own connections. `cookies`: what answers set goes back with the next requests. */
export function openHttp(policy: AddressPolicy, userAgent: string, cookies?: CookieJar): HttpClient {
  const agent = guardedAgent(policy, {
    connections: upstreamLimits.openapiConnections,
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  async function send(call: Call): Promise<Answer> {
    let hop: Hop = { method: call.request.method, url: call.request.url, body: call.request.body, trusted: true };
    for (let redirects = 0; ; redirects++) {
      const answer = await exchange(hop, call);
      const next = redirects < call.redirects ? redirected(hop, answer) : undefined;
      if (next === undefined) return answer;
      hop = next;
    }
  }

  async function exchange(hop: Hop, call: Call): Promise<Answer> {
    const headers = headersOf(hop, call, { userAgent, cookies });
    const url = hop.trusted ? withQuery(hop.url, call.credentials.query) : hop.url;
    try {
      const { signal } = call;
      signal.throwIfAborted();
      const method = hop.method as 'GET';
      const answer = await request(url, { dispatcher: agent, method, headers, body: hop.body?.bytes ?? null, signal });
      if (hop.trusted) cookies?.keep(hop.url, [answer.headers['set-cookie'] ?? []].flat());
      const received = Object.fromEntries(
        Object.entries(answer.headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
      );
      const encoding = hop.method === 'HEAD' ? undefined : received['content-encoding'];
      const bytes = await unpacked(answer.body, encoding, call.maxBytes);
      const status = answer.statusCode;
      return { status, statusText: STATUS_CODES[status] ?? '', headers: received, bytes, url: hop.url };
    } catch (error) {
      if (call.signal.aborted && call.signal.reason instanceof HubError) throw call.signal.reason;
      throw error instanceof HubError ? error : transportError(hop.url, error);
    }
  }

  return { send, close: () => agent.destroy() };
}

/** One request of a chain of redirects. */
interface Hop {
  readonly method: string;
  readonly url: URL;
  readonly body: Request['body'];
  /** Still at the origin the request was meant for: what the operator and the caller said is for it alone. */
  readonly trusted: boolean;
}

/**
 * The next hop, when the answer is a redirect (RFC 9110, 15.4). Throws HubError `upstream_failed` for one that must not
 * be followed.
 */
export function redirected(hop: Hop, { status, headers }: Pick<Answer, 'status' | 'headers'>): Hop | undefined {
  const { location } = headers;
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined || !URL.canParse(location, hop.url.href))
    return undefined;
  const url = new URL(location, hop.url);
  const trusted = hop.trusted && url.origin === hop.url.origin;
  const turnsToGet = (status === 303 && hop.method !== 'HEAD') || (status < 303 && hop.method === 'POST');
  const method = turnsToGet ? 'GET' : hop.method;
  const body = turnsToGet ? undefined : hop.body;
  if (!/^https?:$/.test(url.protocol) || (hop.url.protocol === 'https:' && url.protocol === 'http:')) {
    throw new HubError(
      'upstream_failed',
      `The API redirects to an address that is not followed (${url.protocol}//${url.host}).`,
    );
  }
  if (!trusted && (body !== undefined || (method !== 'GET' && method !== 'HEAD'))) {
    throw new HubError(
      'upstream_failed',
      `The API redirects this ${method} request to another server (${url.host}); it was not repeated there.`,
    );
  }
  return { method, url, body, trusted };
}

function headersOf(
  { trusted, url, body }: Hop,
  { request: { headers, cookies }, credentials }: Call,
  own: { readonly userAgent: string; readonly cookies: CookieJar | undefined },
): Record<string, string> {
  const common = { 'user-agent': own.userAgent, accept: '*/*', 'accept-encoding': 'gzip, br' };
  if (!trusted) return common;
  const given = [credentials.headers['cookie'] ?? '', ...credentials.cookies, ...cookies].filter((pair) => pair !== '');
  // What the operator or the caller sets goes first.
  const names = new Set(given.flatMap((text) => text.split(';')).map(cookieName));
  const kept = own.cookies?.pairsFor(url).filter((pair) => !names.has(cookieName(pair))) ?? [];
  const cookie = [...given, ...kept].join('; ');
  return {
    ...common,
    ...headers,
    ...credentials.headers,
    ...(cookie !== '' && { cookie }),
    ...(body !== undefined && { 'content-type': body.contentType }),
  };
}

function cookieName(pair: string): string {
  return pair.split('=', 1)[0]?.trim() ?? '';
}

function withQuery(url: URL, query: Credentials['query']): URL {
  const whole = new URL(url);
  for (const [name, value] of query) {
    const pair = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
    // A redirect may have copied it.
    if (whole.search.slice(1).split('&').includes(pair)) continue;
    whole.search = whole.search === '' ? pair : `${whole.search}&${pair}`;
  }
  return whole;
}

/**
 * What is in a body. An empty one is empty, whatever encoding its header names: an answer without a body may have one
 * too.
 */
async function unpacked(body: Readable, encoding: string | undefined, maxBytes: number): Promise<Buffer> {
  const decoder = decoderFor(encoding?.trim().toLowerCase());
  if (decoder === undefined) return collect(body, maxBytes);
  let isEmpty = true;
  body.once('data', () => (isEmpty = false));
  // Errors of either are thrown to the code that reads the decoder.
  pipeline(body, decoder, () => {});
  try {
    return await collect(decoder, maxBytes);
  } catch (error) {
    if (isEmpty && body.readableEnded) return Buffer.alloc(0);
    throw error;
  }
}

function decoderFor(encoding: string | undefined) {
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip();
  if (encoding === 'br') return createBrotliDecompress();
  return encoding === 'deflate' ? createInflate() : undefined;
}

/**
 * Reads a body as long as it stays within bounds; leaving the loop destroys it, and with it the connection. Chunks of a
 * long one are joined as they come: kept until its end they outlive the young generation, and the C library has as many
 * small blocks more, which it does not give back to the system.
 */
async function collect(body: Readable, maxBytes: number): Promise<Buffer> {
  const joined: Buffer[] = [];
  let chunks: Buffer[] = [];
  let [size, joinedSize] = [0, 0];
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes)
      throw new HubError('too_large', `The answer has more than the ${maxBytes} bytes that are taken. Ask for less.`);
    chunks.push(chunk);
    if (size - joinedSize < upstreamLimits.openapiJoinedBytes) continue;
    const part = Buffer.concat(chunks);
    claim(part);
    joined.push(part);
    joinedSize = size;
    chunks = [];
  }
  const whole = Buffer.concat([...joined, ...chunks], size);
  for (const part of joined) giveBack(part);
  return whole;
}

function transportError(url: URL, error: unknown): HubError {
  // Several addresses tried: undici reports them as one AggregateError.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code =
    first instanceof Error && 'code' in first && typeof first.code === 'string' ? first.code : errorText(first);
  const failure = connectionError(url.origin, error, 'the "openapi" settings, or in "servers" of the document');
  if (failure.unreachable !== undefined) return failure;
  return new HubError('upstream_failed', `The exchange with ${url.origin} broke off: ${code}.`, { cause: error });
}
