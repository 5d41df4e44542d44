import { usualProvider } from '../../core/provider.ts';
import type { OidcProvider, Settings } from '../../core/settings/types.ts';

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
