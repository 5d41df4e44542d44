import { jwtVerify } from 'jose';
import type { OidcProvider } from '../../core/settings/login.ts';
import { HubError } from '../../core/errors.ts';
import { asymmetric } from '../../core/provider.ts';
import { authLimits } from '../limits.ts';
import type { IssuerKeys } from './issuer-keys.ts';

/** Whose sessions a provider ends: one (`sid`), or all of a subject. */
export interface LoggedOut {
  readonly subject: string | undefined;
  readonly sid: string | undefined;
}

const event = 'http://schemas.openid.net/event/backchannel-logout';

/**
 * Reads logout tokens (OpenID Connect Back-Channel Logout §2.6) and does what they ask for. Throws HubError
 * `invalid_input` for one that does not hold and for one that was done already, and what `end` throws: the provider
 * then may send the same token again.
 */
export function createLogoutTokens({ keys, now = Date.now }: { keys: IssuerKeys; now?: () => number }) {
  const used = new Set<string>();

  return async <T>(
    token: string,
    { issuer, clientId }: OidcProvider,
    end: (who: LoggedOut) => Promise<T>,
  ): Promise<T> => {
    const claims = await verified(token, { issuer, clientId });
    const { sub, sid, jti = '', iat = 0, nonce, events } = claims;
    const isLogout = typeof events === 'object' && events !== null && Object.hasOwn(events, event);
    const subject = sub === undefined || sub === '' ? undefined : sub;
    const session = typeof sid === 'string' && sid !== '' ? sid : undefined;
    if (!isLogout || nonce !== undefined || jti === '' || (subject === undefined && session === undefined))
      throw refused();
    const age = now() - iat * 1000;
    if (Math.abs(age) > authLimits.logoutTokenMs) throw refused();
    const id = `${issuer}\n${jti}`;
    if (used.has(id)) throw refused();
    used.add(id);
    const [oldest] = used;
    if (used.size > authLimits.logoutTokens && oldest !== undefined) used.delete(oldest);
    try {
      return await end({ subject, sid: session });
    } catch (error) {
      used.delete(id);
      throw error;
    }
  };

  async function verified(token: string, { issuer, clientId }: Pick<OidcProvider, 'issuer' | 'clientId'>) {
    if (token.length > authLimits.tokenChars) throw refused();
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys({ issuer, jwksUri: undefined }), {
        algorithms: [...asymmetric],
        issuer,
        audience: clientId,
        requiredClaims: ['iat', 'jti', 'events'],
        clockTolerance: authLimits.clockToleranceMs / 1000,
        currentDate: new Date(now()),
      });
      const { typ = 'JWT' } = protectedHeader;
      if (!/^(application\/)?(logout\+jwt|jwt)$/i.test(typ)) throw refused();
      return payload;
    } catch {
      throw refused();
    }
  }
}

function refused(): HubError {
  return new HubError('invalid_input', 'This logout token does not hold.');
}
