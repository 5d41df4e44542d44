import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { factorsInFile } from '../auth/second-factor/factors-in-file.ts';
import { factorsInTable } from '../auth/second-factor/factors-in-table.ts';
import { byHub } from '../core/audit.ts';
import { newClosers } from '../core/closers.ts';
import { HubError } from '../core/errors.ts';
import { createSealer } from '../core/seal.ts';
import { openDatabase } from '../database/open.ts';
import { sharedSealer } from '../database/shared-sealer.ts';
import { createFullDiskRetry } from '../disk/full-disk-retry.ts';
import { type Env, readProcessEnv } from '../env/env.ts';
import { readUserEnv } from '../env/user-env.ts';
import { keptEvent } from '../logs/audit/event.ts';
import { appendEvents } from '../logs/audit/table.ts';
import { folderHolder, openDataDir, refuseHalfRestored } from '../settings/data-dir.ts';
import { type Flags, variablesFrom } from './command.ts';
import { ownToken } from './make-backup.ts';
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
  refuseHalfRestored(folder);
  const holder = await folderHolder(folder);
  if (holder && holder.url === undefined)
    throw new HubError('conflict', `The hub on ${folder} is starting. Try again when it is ready.`);
  if (holder?.url === undefined) await removeFrom(env, folder, username);
  else await removeAt(holder.url, await ownToken(env, folder), username);
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

/** While no hub runs on the folder. The record of it is there before it is said. */
async function removeFrom(env: Env, folder: string, username: string): Promise<void> {
  const none = new HubError('not_found', `User "${username}" has no second factor in ${folder}.`);
  if (!existsSync(folder)) throw none;
  const closers = newClosers();
  try {
    const room = createFullDiskRetry(noLog);
    closers.add(() => room.close());
    const dataDir = await openDataDir(folder, noLog, room);
    closers.add(() => dataDir.close());
    const { kind } = env.database;
    const url = env.database.kind === 'postgres' ? env.database.url : undefined;
    const hasDatabase = kind === 'postgres' || (kind === 'embedded' && existsSync(join(folder, 'database')));
    const database = hasDatabase ? await openDatabase({ url, dataDir: folder, log: noLog }) : undefined;
    if (database) closers.add(() => database.close());
    const purpose = 'second factors';
    const store =
      database && kind === 'postgres'
        ? factorsInTable({ whenReady: async () => database }, sharedSealer(env.jwtSecret, purpose))
        : factorsInFile(join(folder, 'second-factors.json'), createSealer(dataDir.secret('hub', 32), purpose));
    if (!(await store.remove(username))) throw none;
    const event = { ...byHub, via: 'cli', action: 'second-factor.reset', target: username } as const;
    if (database) await appendEvents(database, [keptEvent(event, 1, new Date(), (text) => text)]);
  } finally {
    await closers.close();
  }
}
