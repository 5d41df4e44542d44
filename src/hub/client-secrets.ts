import { oidcProviders } from '../auth/oidc/providers.ts';
import type { OidcProvider } from '../core/settings/login.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { Env } from '../env/env.ts';
import { expandText } from '../settings/server/placeholders.ts';
import type { SecretFiles } from './secret-files.ts';

/** The secret of the hub at a provider, with its variables filled in. Undefined: a public client. */
export function clientSecretOf(
  { clientSecret }: OidcProvider,
  { variables }: Pick<Env, 'variables'>,
  { known }: Pick<SecretFiles, 'known'>,
): string | undefined {
  return clientSecret === undefined ? undefined : expandText(clientSecret, [variables], new Set(), known).trim();
}

/** All of them, which must not be shown. */
export function clientSecrets(settings: Settings, env: Env, files: Pick<SecretFiles, 'known'>): string[] {
  return oidcProviders(settings, env.oidc).flatMap((provider) => clientSecretOf(provider, env, files) ?? []);
}
