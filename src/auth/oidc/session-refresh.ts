import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { OidcProvider } from '../../core/settings/login.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import type { Sealer } from '../../core/seal.ts';
import { authLimits } from '../limits.ts';
import type { LoginSession, ProviderRefresh } from '../session-store.ts';
import type { LoginSessions } from '../sessions.ts';
import type { OidcClient, OidcPerson } from './oidc-client.ts';

/**
 * Asks providers again which groups their people have, while these use the hub (CONTRACT §8): where the provider gave a
 * refresh token, and the settings map its groups. Of several hubs one asks.
 */
export interface SessionRefresh {
  /** What a new session keeps for that; undefined for a provider that is not asked again. */
  readonly keep: (provider: OidcProvider, person: OidcPerson) => ProviderRefresh | undefined;
  /** A session was used. Does not block, and does nothing most times. */
  readonly used: (session: LoginSession) => void;
}

export function createSessionRefresh(options: {
  providers: () => readonly OidcProvider[];
  client: Pick<OidcClient, 'refresh'>;
  sessions: () => Pick<LoginSessions, 'refreshed' | 'end'>;
  /** Gives the person's account the groups and the role that the provider says. Makes none. */
  accountOf: (provider: OidcProvider, person: OidcPerson, address: string) => Promise<UserSettings>;
  sealer: Sealer;
  log: Logger;
  /** For entries about security. */
  accountLog: Logger;
  now?: () => number;
}): SessionRefresh {
  const { providers, client, sessions, accountOf, sealer, log, accountLog, now = Date.now } = options;
  const underWay = new Set<string>();

  async function refresh(session: LoginSession, provider: OidcProvider, token: string): Promise<void> {
    // Before it is asked: a refresh token may be good once, and another hub may hold this session too.
    const claimed = await sessions().refreshed(session, { token: sealer.seal(token), at: now() });
    if (!claimed) return;
    const { username, jti } = session.claims;
    const said = await client.refresh(provider, session.provider?.subject ?? '', token);
    if (said === 'over') {
      await sessions().end(username, ({ claims }) => claims.jti === jti);
      accountLog.info('session ended: the login at the provider is over', { user: username, provider: provider.id });
      return;
    }
    await sessions().refreshed(claimed, { token: sealer.seal(said.refreshToken), at: now() });
    if (said.person) await accountOf(provider, said.person, session.address);
  }

  return {
    keep(provider, { refreshToken }) {
      if (refreshToken === undefined || refreshToken.length > authLimits.refreshTokenChars) return undefined;
      if (provider.groups === undefined && provider.adminGroups === undefined) return undefined;
      return { token: sealer.seal(refreshToken), at: now() };
    },
    used(session) {
      const kept = session.provider?.refresh;
      if (!kept || now() - kept.at < authLimits.providerRefreshMs) return;
      const { jti } = session.claims;
      const provider = providers().find(({ id }) => session.via === `oidc:${id}`);
      const token = sealer.open(kept.token);
      if (!provider || token === undefined) return;
      if (underWay.has(jti) || underWay.size >= authLimits.providerLoginsAtOnce) return;
      underWay.add(jti);
      refresh(session, provider, token)
        // The session goes on: a provider that is away takes no person's work away.
        .catch((error: unknown) =>
          log.debug('groups not read again', { provider: provider.id, error: errorText(error) }),
        )
        .finally(() => underWay.delete(jti));
    },
  };
}
