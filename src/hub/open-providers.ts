import { sampledByAccount } from '../auth/event-sampler.ts';
import { createForwardedTokens } from '../auth/oidc/forwarded-tokens.ts';
import type { IssuerKeys } from '../auth/oidc/issuer-keys.ts';
import { createLogoutTokens } from '../auth/oidc/logout-token.ts';
import { createOidcClient } from '../auth/oidc/oidc-client.ts';
import { endingSessionsOfGone, isStillKnown, oidcProviders } from '../auth/oidc/providers.ts';
import { createSessionRefresh } from '../auth/oidc/session-refresh.ts';
import type { LoginSession, SessionStore } from '../auth/session-store.ts';
import { createLoginSessions } from '../auth/sessions.ts';
import type { Tokens } from '../auth/tokens.ts';
import { usualProvider } from '../core/provider.ts';
import { createSealer } from '../core/seal.ts';
import type { Env } from '../env/env.ts';
import { createProviderAccounts } from '../settings/user/provider-accounts.ts';
import { clientSecretOf } from './client-secrets.ts';
import type { Storage } from './open-storage.ts';
import type { SecretFiles } from './secret-files.ts';

interface Needs {
  readonly secret: string;
  readonly store: SessionStore;
  readonly tokens: Tokens;
  readonly keys: IssuerKeys;
}

/** The people of companies' providers and proxies, and the sessions of all who log in with a browser. */
export function openProviders(
  env: Env,
  { settings, log, security }: Pick<Storage, 'settings' | 'log' | 'security'>,
  files: SecretFiles,
  { secret, store, tokens, keys }: Needs,
) {
  const accountLog = sampledByAccount(security);
  const accountOf = createProviderAccounts(settings, accountLog);
  const proxied = createForwardedTokens({
    settings: () => settings.current,
    keys,
    accountOf({ autoCreate }, person, address) {
      const rules = { id: 'forward-auth', signUp: autoCreate ? 'auto' : 'invited' } as const;
      return accountOf({ ...usualProvider, ...rules }, { ...person, values: [] }, address);
    },
    log: log('hub'),
  });
  const providers = () => oidcProviders(settings.current, env.oidc);
  const client = createOidcClient({ secretOf: (provider) => clientSecretOf(provider, env, files), log: log('hub') });
  const refresh = createSessionRefresh({
    providers,
    client,
    sessions: () => sessions,
    accountOf: (provider, person, address) =>
      accountOf({ ...provider, signUp: 'invited' }, { ...person, email: undefined }, address),
    sealer: createSealer(Buffer.from(secret), 'provider refresh'),
    log: log('hub'),
    accountLog,
  });
  const holds = (session: LoginSession) => isStillKnown(session, providers(), settings.current);
  const sessions = createLoginSessions({
    store,
    secret,
    tokens,
    holds,
    newest: () => settings.change(() => undefined).catch(() => undefined),
    used: (session) => refresh.used(session),
  });
  settings.subscribe(endingSessionsOfGone({ providers, sessions, log: log('hub') }));
  const oidc = { providers, client, logoutToken: createLogoutTokens({ keys }), accountOf, keepRefresh: refresh.keep };
  return { proxied, sessions, oidc };
}
