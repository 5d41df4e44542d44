import { errorText, HubError } from '../../core/errors.ts';

/** Keeps a HubError, and makes one of anything else. */
export function asHubError(error: unknown, what: string): HubError {
  if (error instanceof HubError) return error;
  return new HubError('upstream_failed', `${what}: ${errorText(error)}`, { cause: error });
}
