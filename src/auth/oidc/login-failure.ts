import { HubError } from '../../core/errors.ts';
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
  throw new HubError('invalid_input', `This address is not one that ${provider.name} sends people to. ${again}`);
}

const again = 'Go back to the hub and begin the login again.';

/**
 * A failed login as the person is told of it: that the code is over (`invalid_input`), that the provider is away
 * (`upstream_unavailable`), or that its answer does not hold (`upstream_failed`).
 */
export function loginFailure(error: unknown, provider: OidcProvider): HubError {
  if (error instanceof HubError) return error;
  const { name } = provider;
  const chain = causesOf(error);
  if (chain.some(({ error: said }) => said === 'invalid_grant')) {
    const text = `${name} does not know this login any more: it was used already, or took too long. ${again}`;
    return new HubError('invalid_input', text, { cause: error });
  }
  if (chain.some((one) => one instanceof ProviderAway || isAwayStatus(one.status))) {
    const text = `${name} cannot be reached at this moment, so no one can log in there. Wait a little, then begin the login again.`;
    return new HubError('upstream_unavailable', text, { cause: error, retryAfterMs: authLimits.issuerKeysPauseMs });
  }
  const text = `The login at ${name} did not work. ${again} If it fails again, tell an admin of the hub, whose log says why.`;
  return new HubError('upstream_failed', text, { cause: error });
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
