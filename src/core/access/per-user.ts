import type { CredentialSlot, ServerSettings } from '../settings/server.ts';

/** What each user sets for themselves at a server (`credentialTemplate`). */
export function slotsOf({ credentialTemplate = [] }: ServerSettings): readonly CredentialSlot[] {
  return credentialTemplate;
}

/** True for a server that each user uses with what is theirs alone: a sign-in, or credentials. */
export function isUsedAlone(server: ServerSettings): boolean {
  return isPerUser(server) || slotsOf(server).length > 0;
}

/**
 * True for a server that gets values of single callers: headers or credentials of theirs. What it answers may repeat
 * them, so nothing of it is kept.
 */
export function getsCallersValues(server: ServerSettings): boolean {
  const { transport } = server;
  const getsHeaders = 'passthroughHeaders' in transport && transport.passthroughHeaders !== undefined;
  return getsHeaders || slotsOf(server).length > 0;
}

/**
 * True for a server that each user signs in to alone (`oauth.perUser`), and to which no caller's calls are sent with
 * the sign-in of another user.
 */
export function isPerUser({ transport }: ServerSettings): boolean {
  return 'oauth' in transport && transport.oauth?.perUser === true;
}
