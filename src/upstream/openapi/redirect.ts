import { HubError } from '../../core/errors.ts';
import type { Answer } from './http.ts';
import type { Request } from './request.ts';

/** One request of a chain of redirects. */
export interface Hop {
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
