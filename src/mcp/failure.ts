import { HubError } from '../core/errors.ts';
import { SignInRequired } from '../upstream/credential.ts';

/**
 * What a caller is told when a server could not answer. Why not may quote what a program said last, an address inside the network, the answer of a proxy: that is
 * in the log and in the state of the server, for those who manage it. `status` is that of the connection.
 */
export function toldToCaller(error: HubError, server: string, status: string): HubError {
  if (asksForSignIn(error)) return error;
  const text = signInWords(error) ?? words(error, `Server "${server}"`, status);
  if (text === undefined) return error;
  const { code, retryAfterMs } = error;
  return new HubError(code, text, { cause: error, ...(retryAfterMs !== undefined && { retryAfterMs }) });
}

/** Undefined for what the hub itself says of the call: a timeout, a size, a cancellation. */
function words({ code, retryAfterMs }: HubError, server: string, status: string): string | undefined {
  switch (code) {
    case 'upstream_unavailable':
      if (status === 'connecting') return `${server} is still connecting. Try again in a moment.`;
      if (status === 'connected') return `${server} cannot take the call now. Try again in a moment.`;
      return retryAfterMs === undefined
        ? `${server} is not connected. Try again in a moment.`
        : `${server} is not connected. Next attempt in ${Math.ceil(retryAfterMs / 1_000)} s.`;
    case 'upstream_failed':
      return `${server} gave no proper answer. Its owner and admins see why in the log.`;
    case 'forbidden':
    case 'misconfigured':
      return `${server} cannot be called the way it is set up. Its owner and admins see why in the log.`;
    default:
      return undefined;
  }
}

/** What the hub itself says of a sign-in, without the reason that an authorization server gave. */
function signInWords({ message }: HubError): string | undefined {
  const renewal = /^Cannot renew the sign-in to server "[^"]*"/.exec(message)?.[0];
  if (renewal !== undefined) return `${renewal} now. Try again in a moment.`;
  return /^Server "[^"]*" (?:wants more rights|refuses this although its sign-in|needs somebody to sign in)/.test(
    message,
  )
    ? message
    : undefined;
}

/** Where to sign in is for whoever calls. */
function asksForSignIn({ cause }: HubError): boolean {
  return cause instanceof SignInRequired || (cause instanceof HubError && cause.cause instanceof SignInRequired);
}
