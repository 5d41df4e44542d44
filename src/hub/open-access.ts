import { join } from 'node:path';
import { createIdentify } from '../auth/identify.ts';
import { withoutOwnCredentials } from '../auth/own-credentials.ts';
import { createLastUses, lastUsesInFile, lastUsesInTable } from '../auth/last-uses.ts';
import { endingConsents, openTokens } from '../auth/open-tokens.ts';
import { openFileSessions } from '../auth/sessions-in-file.ts';
import { sessionsInTable } from '../auth/sessions-in-table.ts';
import { openAuthorization } from '../auth/oauth/open-authorization.ts';
import { authLimits } from '../auth/limits.ts';
import { logRefusedCredentials } from '../auth/event-sampler.ts';
import { createIssuerKeys } from '../auth/oidc/issuer-keys.ts';
import { createTrustedTokens } from '../auth/oidc/trusted-tokens.ts';
import type { Closers } from '../core/closers.ts';
import type { Env } from '../env/env.ts';
import { type Arrived, clientAddress, fromTrustedProxy } from '../http/frame/client-address.ts';
import { withFetch } from '../upstream/sign-in/authorization-server.ts';
import { version } from '../version.ts';
import { openSecondFactors } from './open-second-factors.ts';
import { openProviders } from './open-providers.ts';
import type { Storage } from './open-storage.ts';
import type { SecretFiles } from './secret-files.ts';

/** Who may come in, and from where they come. */
export async function openAccess(env: Env, storage: Storage, files: SecretFiles, closers: Closers) {
  const { settings, dataDir, database, audit, log, security } = storage;
  const logRefused = logRefusedCredentials(security);
  const secret = env.jwtSecret ?? dataDir.secret('jwt', 32).toString('hex');
  const shared = env.database.kind === 'postgres' ? database : undefined;
  const path = (name: string) => join(dataDir.path, name);
  const opened = await openTokens({ secret, path: path('revocations.json'), shared, log: log('hub') });
  closers.add(() => opened.close());
  const fetchDocument = (url: URL) => {
    // Any caller can make the hub ask there.
    const policy = {
      allowPrivateAddresses: false,
      allowedCidrs: settings.current.system.allowedCidrs ?? [],
      advice: 'Apps of a private network are looked up when "systemConfig.network.allowedCidrs" has its address range.',
    };
    const { clientDocumentMs: requestMs, clientDocumentBytes: answerBytes } = authLimits;
    const headers = { accept: 'application/json' };
    return withFetch({ policy, userAgent: `toolhub/${version}`, requestMs, answerBytes }, (fetch) =>
      fetch(url, { headers }),
    );
  };
  const kept = { secret, path: path('consents.json'), shared };
  const authorization = await openAuthorization({ ...kept, fetchDocument, log: log('hub') });
  closers.add(() => authorization.consents.close());
  const store = shared ? sessionsInTable(shared) : await openFileSessions(path('sessions.json'), log('hub'));
  const tokens = endingConsents(opened, authorization.consents);
  const uses = createLastUses({
    store: shared ? lastUsesInTable(shared) : lastUsesInFile(path('last-uses.json')),
    log: log('hub'),
  });
  closers.add(() => uses.close());
  const keys = createIssuerKeys({ log: log('hub') });
  const trusted = createTrustedTokens({ keys, log: log('hub') });
  const { proxied, sessions, oidc } = openProviders(env, storage, files, { secret, store, tokens, keys });
  closers.add(() => sessions.close());
  const isFromProxy = fromTrustedProxy(env.trustProxy);
  const secondFactors = openSecondFactors(env, { dataDir, shared, secret });
  return {
    tokens,
    authorization,
    oidc,
    uses,
    withoutCredentials: withoutOwnCredentials({
      settings: () => settings.current,
      tokens,
      isTicket: (text) =>
        [authorization.refreshes, authorization.codes].some((tickets) => tickets.isOurs(text)) ||
        trusted.isForHub(text, settings.current) ||
        proxied.isFor(text, settings.current) ||
        sessions.isCookie(text),
    }),
    sessions,
    secondFactors,
    identity: createIdentify({
      settings: () => settings.current,
      tokens,
      trusted,
      proxied,
      used: (id) => uses.note(id),
    }),
    addressOf: clientAddress(env.trustProxy, log('hub')),
    fromProxy: (req: Arrived) => settings.current.system.forwardAuth !== undefined && isFromProxy(req),
    badCredential: (address: string | undefined) => {
      logRefused(address);
      const actor = { kind: 'anonymous', name: '' } as const;
      audit.counted({ actor, address, via: 'api', action: 'credential.refused', result: 'failed' });
    },
  };
}
