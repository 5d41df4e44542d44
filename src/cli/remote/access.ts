import { HubError } from '../../core/errors.ts';
import type { UserEnv } from '../../env/user-env.ts';
import { cliLimits } from '../limits.ts';
import { loginOver, renewed } from './browser-login.ts';
import { type Credential, credentialFile, type OAuthCredential } from './credential-file.ts';
import type { HubConnection } from './hub-connection.ts';

/** What this user shows the hub: `TOOLHUB_TOKEN`, else the login that is kept, renewed where it ends soon. */
export async function bearerFor(hub: HubConnection, env: UserEnv): Promise<string | undefined> {
  if (env.token !== undefined) return env.token;
  const file = credentialFile(hub.url, env);
  const kept = await file.read();
  if (kept === undefined || isLive(kept)) return kept?.access;
  // A refresh token works once: a command that begins at the same time takes what this one gets.
  return file.alone(async () => {
    const now = await file.read();
    if (now === undefined || isLive(now)) return now?.access;
    const next = await renewed(now as OAuthCredential, hub);
    await file.write(next);
    return next.access;
  });
}

/** Of a hub that refused what was shown, or wanted to be shown something. */
export function wantsLogin(hub: HubConnection, env: UserEnv, shown: string | undefined): HubError {
  if (env.token !== undefined)
    return new HubError('misconfigured', `The hub at ${hub.url} does not take the token in TOOLHUB_TOKEN.`);
  if (shown !== undefined) return loginOver(hub.url);
  return new HubError(
    'misconfigured',
    `The hub at ${hub.url} wants to know who asks. Log in: toolhub login ${hub.url}`,
  );
}

function isLive(credential: Credential): boolean {
  return credential.kind === 'password' || credential.expiresAt - cliLimits.renewAheadMs > Date.now();
}
