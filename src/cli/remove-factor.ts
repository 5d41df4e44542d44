import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openFileConsents } from '../auth/oauth/consents-in-file.ts';
import { consentsInTable } from '../auth/oauth/consents-in-table.ts';
import { revocationFile } from '../auth/revocation-file.ts';
import { revocationTable } from '../auth/revocation-table.ts';
import { factorsInFile } from '../auth/second-factor/factors-in-file.ts';
import { factorsInTable } from '../auth/second-factor/factors-in-table.ts';
import { createTokens } from '../auth/tokens.ts';
import { byMachine } from '../core/audit.ts';
import { HubError } from '../core/errors.ts';
import { createSealer } from '../core/seal.ts';
import { sharedSealer } from '../database/shared-sealer.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { type Env, readProcessEnv } from '../env/env.ts';
import { readUserEnv } from '../env/user-env.ts';
import { keptEvent } from '../logs/audit/event.ts';
import { appendEvents } from '../logs/audit/table.ts';
import { type Flags, variablesFrom } from './command.ts';
import { inOwnFolder, type OwnFolder, ownToken, runningHub } from './own-folder.ts';
import { noLog } from './probe.ts';
import { connectTo, refusalText } from './remote/hub-connection.ts';
import { oneLine, say } from './terminal.ts';

/**
 * Takes the second factor off a user: at the hub that runs on the data folder, with a token that the folder's secret
 * makes, or where the hub keeps it. Throws HubError `not_found` where there is none.
 */
export async function removeFactor(username: string, flags: Flags): Promise<void> {
  const env = readProcessEnv(variablesFrom(flags));
  const folder = resolve(env.dataDir);
  const running = await runningHub(folder);
  if (running === undefined) await removeFrom(env, folder, username);
  else await removeAt(running, await ownToken(env, folder), username);
  say(`The second factor of ${oneLine(username, 100)} is gone. Log in with the password, and set up a new one.`);
}

async function removeAt(url: string, token: string, username: string): Promise<void> {
  const hub = connectTo(url, readUserEnv());
  const path = `/api/users/${encodeURIComponent(username)}/second-factor`;
  const answer = await hub.fetch(`${hub.url}${path}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${token}` },
  });
  if (answer.status === 200) return;
  const body = (await answer.json().catch(() => ({}))) as Record<string, unknown>;
  const text = oneLine(refusalText({ status: answer.status, body }), 600);
  throw new HubError(answer.status === 404 ? 'not_found' : 'upstream_failed', text);
}

/**
 * While no hub runs on the folder. Logins and apps of the user end before the factor is gone, at hubs on the same
 * database too, and the record of it is there before it is said.
 */
async function removeFrom(env: Env, folder: string, username: string): Promise<void> {
  const none = new HubError('not_found', `User "${username}" has no second factor in ${folder}.`);
  if (!existsSync(folder)) throw none;
  await inOwnFolder(env, folder, async (own) => {
    const { database } = own;
    const { factors, consents, revocations } = await storesOf(env, folder, own);
    if (!(await factors.usernames()).has(username)) throw none;
    await (await createTokens({ secret: own.jwtSecret.value, store: revocations })).revokeUser(username);
    await consents.endUser(username);
    await factors.remove(username);
    const event = { ...byMachine, action: 'second-factor.reset', target: username } as const;
    if (database) await appendEvents(database, [keptEvent(event, 1, new Date(), (text) => text)]);
  });
}

/** Where the hub keeps what belongs to a login. */
async function storesOf(env: Env, folder: string, { dataDir, database }: OwnFolder) {
  const purpose = 'second factors';
  const copy = revocationFile(join(folder, 'revocations.json'), noLog);
  if (database === undefined || env.database.kind !== 'postgres')
    return {
      factors: factorsInFile(join(folder, 'second-factors.json'), createSealer(dataDir.secret('hub', 32), purpose)),
      consents: await openFileConsents(join(folder, 'consents.json'), noLog),
      revocations: copy,
    };
  const shared: Pick<DatabaseHandle, 'whenReady' | 'attempt'> = {
    whenReady: async () => database,
    attempt: (work) => work(database),
  };
  return {
    factors: factorsInTable(shared, sharedSealer(env.jwtSecret, purpose)),
    consents: consentsInTable(shared),
    revocations: revocationTable({ database: shared, copy, log: noLog }),
  };
}
