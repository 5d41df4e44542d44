import { HubError } from '../../core/errors.ts';
import { saying } from '../../core/sentences.ts';
import type { OidcProvider } from '../../core/settings/login.ts';
import { authLimits } from '../limits.ts';
import { ProviderAway } from './provider-fetch.ts';

/** What of a provider's metadata its answers have to fit. */
interface Metadata {
  readonly issuer: string;
  readonly authorization_response_iss_parameter_supported?: boolean | undefined;
}

/**
 * Looks at what a browser came back with before the provider is asked. Throws HubError `invalid_input` for what no
 * provider sends: any page can lead a browser to the address.
 */
export function checkAnswer(answer: URLSearchParams, provider: OidcProvider, metadata: Metadata): void {
  const once = (name: string): boolean => answer.getAll(name).length === 1 && answer.get(name) !== '';
  const isOfCodeFlow = !['response', 'id_token', 'token', 'error'].some((name) => answer.has(name));
  const wantsIssuer = answer.has('iss') || metadata.authorization_response_iss_parameter_supported === true;
  const hasIssuer = !wantsIssuer || (once('iss') && answer.get('iss') === metadata.issuer);
  if (once('code') && once('state') && isOfCodeFlow && hasIssuer) return;
  throw saying('invalid_input', 'provider_not_its_answer', { name: provider.name });
}

/**
 * A failed login as the person is told of it: that the code is over (`invalid_input`), that the provider is away
 * (`upstream_unavailable`), or that its answer does not hold (`upstream_failed`).
 */
export function loginFailure(error: unknown, provider: OidcProvider): HubError {
  if (error instanceof HubError) return error;
  const { name } = provider;
  const chain = causesOf(error);
  if (chain.some(({ error: said }) => said === 'invalid_grant'))
    return saying('invalid_input', 'provider_login_used', { name }, { cause: error });
  if (chain.some((one) => one instanceof ProviderAway || isAwayStatus(one.status))) {
    const options = { cause: error, retryAfterMs: authLimits.issuerKeysPauseMs };
    return saying('upstream_unavailable', 'provider_away', { name }, options);
  }
  return saying('upstream_failed', 'provider_login_failed', { name }, { cause: error });
}

interface Cause {
  /** Of an OAuth error: its code. */
  readonly error?: unknown;
  /** Of an answer over HTTP. */
  readonly status?: unknown;
  readonly cause?: unknown;
}

/** An error and what it was caused by: the library wraps what it is given. */
function causesOf(error: unknown): Cause[] {
  const chain: Cause[] = [];
  let next: unknown = error;
  for (let depth = 0; depth < 5 && typeof next === 'object' && next !== null; depth++) {
    const cause: Cause = next;
    chain.push(cause);
    next = cause.cause;
  }
  return chain;
}

function isAwayStatus(status: unknown): boolean {
  return typeof status === 'number' && (status >= 500 || status === 429);
}
