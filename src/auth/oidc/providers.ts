import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { usualProvider } from '../../core/provider.ts';
import type { OidcProvider } from '../../core/settings/login.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { LoginMethod, LoginSession } from '../session-store.ts';
import type { LoginSessions } from '../sessions.ts';
import { userWithIdentity } from './trusted-tokens.ts';

/** What the environment says of a provider (`OIDC_*`). */
export interface ProviderInEnv {
  readonly issuer: string | undefined;
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
  readonly name: string | undefined;
  readonly signUp: 'auto' | 'invited' | undefined;
}

/**
 * Where people can log in: the providers of the settings, and that of the environment with the id `oidc`. MCPHub's
 * `betterAuth` is that one too, with the id it says; where its issuer is not the environment's, the environment counts,
 * whose secret goes nowhere else. Of two with one id that of the settings counts.
 */
export function oidcProviders({ system }: Pick<Settings, 'system'>, env: ProviderInEnv): readonly OidcProvider[] {
  const listed = system.oidc ?? [];
  const { issuer, clientId, clientSecret, name, signUp } = env;
  if (clientId === undefined) return listed;
  const { betterAuth } = system;
  const base = issuer === undefined || betterAuth?.issuer === issuer ? betterAuth : usual(issuer);
  if (!base || listed.some(({ id }) => id === base.id)) return listed;
  const own = { ...base, clientId, clientSecret, ...(name !== undefined && { name }), ...(signUp && { signUp }) };
  return [...listed, own];
}

function usual(issuer: string): Omit<OidcProvider, 'clientId' | 'clientSecret'> {
  return { ...usualProvider, id: 'oidc', name: new URL(issuer).hostname, issuer };
}

/**
 * Whether the provider of a session is still one of the hub, and the user still the person there. True for a login with
 * a password.
 */
export function isStillKnown(
  { via, provider, claims }: LoginSession,
  providers: readonly OidcProvider[],
  { users }: Pick<Settings, 'users'>,
): boolean {
  if (via === 'password') return true;
  const issuer = providers.find(({ id }) => via === methodOf(id))?.issuer;
  if (issuer === undefined || !provider) return false;
  return userWithIdentity(users, { issuer, subject: provider.subject })?.username === claims.username;
}

/**
 * Called after each change of the settings: ends the sessions of providers that are gone, or have another issuer.
 * Otherwise they would go on should the provider come back.
 */
export function endingSessionsOfGone(options: {
  providers: () => readonly OidcProvider[];
  sessions: Pick<LoginSessions, 'endVia'>;
  log: Logger;
}): () => void {
  const { providers, sessions, log } = options;
  let before = providers();
  return () => {
    const now = providers();
    const gone = before.filter(({ id, issuer }) => !now.some((other) => other.id === id && other.issuer === issuer));
    before = now;
    for (const { id } of gone)
      sessions.endVia(methodOf(id)).catch((error: unknown) => {
        // They are accepted nowhere while the provider is gone.
        log.warn('sessions of a provider that is gone cannot be ended', { provider: id, error: errorText(error) });
      });
  };
}

function methodOf(id: string): LoginMethod {
  return `oidc:${id}`;
}
