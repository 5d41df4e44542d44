import type { ServerSettings } from '../settings/types.ts';

/**
 * True for a server that gets values of single callers: headers of theirs. What it answers may repeat them, so nothing
 * of it is kept.
 */
export function getsCallersValues({ transport }: ServerSettings): boolean {
  return 'passthroughHeaders' in transport && transport.passthroughHeaders !== undefined;
}

/**
 * True for a server that each user signs in to alone (`oauth.perUser`), and to which no caller's calls are sent with
 * the sign-in of another user.
 */
export function isPerUser({ transport }: ServerSettings): boolean {
  return 'oauth' in transport && transport.oauth?.perUser === true;
}
