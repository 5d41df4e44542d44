import type { ServerSettings } from '../settings/types.ts';

/** True for a server that each user signs in to alone (`oauth.perUser`), and to which nobody's calls go with the sign-in of somebody else. */
export function isPerUser({ transport }: ServerSettings): boolean {
  return 'oauth' in transport && transport.oauth?.perUser === true;
}
