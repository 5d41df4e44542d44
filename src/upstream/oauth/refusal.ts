import {
  InsecureTokenEndpointError,
  IssuerMismatchError,
  OAuthError,
  RegistrationRejectedError,
} from '@modelcontextprotocol/client';
import { HubError } from '../../core/errors.ts';
import { isFailureCode, OAuthFailure } from './failure.ts';

/**
 * What went wrong between the hub and an authorization server, as something that may be shown. The official client's
 * errors quote whole bodies, which may hold tokens, so of them nothing is kept but their kind and the code; that code
 * is the `cause`. `told` is the part that callers are told.
 */
export function refusalOf(error: unknown, attempt: string, told?: string): HubError {
  const more = told === undefined ? {} : { told };
  if (error instanceof HubError) {
    const { code, message, cause } = error;
    return new HubError(code, message.startsWith(attempt) ? message : `${attempt}: ${message}`, { cause, ...more });
  }
  const code = error instanceof OAuthError && isFailureCode(error.code) ? error.code : undefined;
  // What the client makes of a body that is no OAuth error.
  const failed = code !== undefined && code !== 'server_error' ? new OAuthFailure(code) : undefined;
  return new HubError('upstream_failed', `${attempt}: ${reason(error, code)}`, { cause: failed, ...more });
}

function reason(error: unknown, code: string | undefined): string {
  if (code !== undefined) return `the authorization server refused (${code}).${advice.get(code) ?? ''}`;
  if (error instanceof IssuerMismatchError) {
    return error.kind === 'metadata'
      ? 'what its authorization server says about itself is about another one, so it is not believed.'
      : 'the answer came from another authorization server than the one asked, so it is not believed.';
  }
  if (error instanceof InsecureTokenEndpointError)
    return 'the token endpoint has no https address, and tokens are not sent in clear.';
  if (error instanceof RegistrationRejectedError)
    return `the authorization server does not let the hub register itself (${error.status}). Register it by hand and set oauth.clientId.`;
  return 'the authorization server answered with something else than OAuth asks for.';
}

const advice = new Map([
  ['invalid_client', ' It does not know the hub: check oauth.clientId and oauth.clientSecret.'],
  ['unauthorized_client', ' The client of the hub may not do this: check its registration.'],
  ['invalid_scope', ' Check oauth.scopes.'],
  ['invalid_target', ' Check oauth.resource.'],
]);
