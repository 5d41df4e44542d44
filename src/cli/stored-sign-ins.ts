import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HubError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { isPerUser } from '../core/access/per-user.ts';
import { createSealer } from '../core/seal.ts';
import type { RemoteTransport, ServerSettings } from '../core/settings/server.ts';
import { signInsFile } from '../hub/open-sign-ins.ts';
import { type Credential, SignInRequired } from '../upstream/channels/credential.ts';
import { addressOf } from '../upstream/sign-in/accounts.ts';
import { createGrantMemory, type Grant } from '../upstream/sign-in/grants.ts';
import { grantFile } from '../upstream/sign-in/grants-in-file.ts';
import { keptGrant } from '../upstream/sign-in/held-tokens.ts';

/**
 * The sign-ins to servers that are kept in a data folder, as they are: for trial connections beside a hub that may be
 * running.
 */
export interface StoredSignIns {
  /**
   * What a trial connection authorizes itself with. A token that has ended stays so: renewing it would take the refresh
   * token away from the hub.
   */
  readonly credential: (server: ServerSettings, transport: RemoteTransport) => Credential;
  /** What must not stand in a report. */
  readonly secrets: readonly string[];
}

/** Never writes, and takes what cannot be read as nothing. */
export async function readStoredSignIns(dataDir: string, log: Logger): Promise<StoredSignIns> {
  const grants = await storedGrants(dataDir, log);
  return {
    credential: (server, transport) => stored(server.name, grantFor(grants, server, transport)),
    secrets: createGrantMemory(grants, () => undefined).secrets(),
  };
}

async function storedGrants(dataDir: string, log: Logger): Promise<readonly Grant[]> {
  const hex = await readFile(join(dataDir, 'hub.secret'), 'utf8').catch(() => '');
  if (!/^[0-9a-f]{64}\s*$/.test(hex)) return [];
  const sealer = createSealer(Buffer.from(hex.trim(), 'hex'), signInsFile.purpose);
  return (await grantFile(join(dataDir, signInsFile.name), sealer, log).load()).grants;
}

/** The one that the hub would list the server's tools with. */
function grantFor(
  grants: readonly Grant[],
  server: ServerSettings,
  { url, oauth = {} }: RemoteTransport,
): Grant | undefined {
  const address = addressOf(url);
  const usable = grants
    .filter((grant) => grant.server === server.name && isPerUser(server) === (grant.holder !== undefined))
    .filter((grant) => keptGrant({ address, oauth, holder: grant.holder }, grant)?.tokens !== undefined)
    .sort((a, b) => (a.since ?? 0) - (b.since ?? 0));
  return usable.find(({ holder }) => holder === server.owner) ?? usable[0];
}

function stored(server: string, grant: Grant | undefined): Credential {
  const { access, expiresAt = Infinity } = grant?.tokens ?? {};
  const isLive = access !== undefined && Date.now() < expiresAt;
  return {
    header: () => (isLive ? `Bearer ${access}` : undefined),
    pending: () => undefined,
    accepted: () => undefined,
    refused: () => Promise.reject(refusal(server, grant, isLive)),
  };
}

function refusal(server: string, grant: Grant | undefined, isLive: boolean): HubError {
  const cause = new SignInRequired();
  const name = `Server "${server}"`;
  if (!grant) {
    const text = `${name} needs a user to sign in, and none has. The running hub says where: GET /api/servers.`;
    return new HubError('upstream_unavailable', text, { cause });
  }
  const why = isLive
    ? 'refuses the access token of the sign-in that is kept'
    : 'was signed in to, and the access token has ended';
  const text = `${name} ${why}. The hub renews it when it connects; this check does not, because a refresh token works once.`;
  return new HubError('not_ready', text, { cause });
}
