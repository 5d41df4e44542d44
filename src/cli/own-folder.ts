import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { revocationFile } from '../auth/revocation-file.ts';
import { createTokens } from '../auth/tokens.ts';
import { newClosers } from '../core/closers.ts';
import { HubError } from '../core/errors.ts';
import type { Database } from '../database/database.ts';
import { openDatabase } from '../database/open.ts';
import { createFullDiskRetry } from '../disk/full-disk-retry.ts';
import type { Env } from '../env/env.ts';
import { type DataDir, folderHolder, openDataDir, refuseHalfRestored } from '../settings/data-dir.ts';
import { parseSettings } from '../settings/document/parse-settings.ts';
import { settingsPlace } from './checks/settings.ts';
import { noLog } from './probe.ts';

// Commands about the hub of this machine: who can read its data folder may use them.

/**
 * The address of the hub that runs on a data folder; undefined where none does. Throws HubError `conflict` while it
 * starts, and what `refuseHalfRestored` throws.
 */
export async function runningHub(folder: string): Promise<string | undefined> {
  refuseHalfRestored(folder);
  const holder = await folderHolder(folder);
  if (holder && holder.url === undefined)
    throw new HubError('conflict', `The hub on ${folder} is starting. Try again when it is ready.`);
  return holder?.url;
}

/** A token as an admin gets it by logging in, which says that it was made on this machine. For one request. */
export async function ownToken(env: Env, folder: string): Promise<string> {
  const { load } = await settingsPlace(env);
  const loaded = await load();
  const settings = loaded.kind === 'found' ? parseSettings(loaded.document).settings : undefined;
  const admin = settings?.users.find(({ role }) => role === 'admin');
  const secret = env.jwtSecret ?? (await readFile(join(folder, 'jwt.secret'), 'utf8').catch(() => '')).trim();
  if (admin === undefined) throw new HubError('misconfigured', `The hub on ${folder} has no admin yet.`);
  if (secret === '')
    throw new HubError(
      'misconfigured',
      `There is no secret in ${folder}: its hub has JWT_SECRET in its environment. Set it here as it is there.`,
    );
  // A token of a moment in which all tokens of the admin ended, or of the minute after it, would be refused.
  const store = revocationFile(join(folder, 'revocations.json'), noLog);
  return (await createTokens({ secret, store })).issueHere(admin);
}

/** What is in a data folder on which no hub runs. */
export interface OwnFolder {
  readonly dataDir: DataDir;
  /** Undefined where the hub keeps none, or has not begun to. */
  readonly database: Database | undefined;
  /** As the hub has it. */
  readonly jwtSecret: { readonly from: 'data folder' | 'environment'; readonly value: string };
}

/** Opens a data folder as the hub does, and closes it again. */
export async function inOwnFolder(env: Env, folder: string, work: (own: OwnFolder) => Promise<void>): Promise<void> {
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
    const jwtSecret =
      env.jwtSecret === undefined
        ? ({ from: 'data folder', value: dataDir.secret('jwt', 32).toString('hex') } as const)
        : ({ from: 'environment', value: env.jwtSecret } as const);
    await work({ dataDir, database, jwtSecret });
  } finally {
    await closers.close();
  }
}
