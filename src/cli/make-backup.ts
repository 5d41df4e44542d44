import { createWriteStream, existsSync } from 'node:fs';
import { chmod, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Manifest } from '../backup/manifest.ts';
import { openBackup } from '../backup/read-backup.ts';
import { writeBackup } from '../backup/write-backup.ts';
import { HubError } from '../core/errors.ts';
import { diskError, errnoOf } from '../disk/disk-error.ts';
import { temporaryName } from '../disk/write-file-atomic.ts';
import { type Env, readProcessEnv } from '../env/env.ts';
import { readUserEnv } from '../env/user-env.ts';
import { type Flags, variablesFrom } from './command.ts';
import { cliLimits } from './limits.ts';
import { inOwnFolder, ownToken, runningHub } from './own-folder.ts';
import { bearerFor, wantsLogin } from './remote/access.ts';
import { connectTo, type HubConnection, hubAddress, refusalText } from './remote/hub-connection.ts';
import { oneLine, say } from './terminal.ts';

/**
 * Writes a backup to a new file (0600): from the hub at an address, from the hub that runs on the data folder, or from
 * the folder itself. The file has its name once it is whole and was read again.
 */
export async function makeBackup(file: string, flags: Flags): Promise<void> {
  const path = resolve(file);
  if (existsSync(path)) throw cannot('misconfigured', `${path} is there already. Name another file, or remove it.`);
  const temporary = temporaryName(path);
  try {
    await make(temporary, flags);
    await chmod(temporary, 0o600);
    const { manifest, bytes } = await checked(temporary);
    await rename(temporary, path);
    say(`Written: ${path} (${Math.ceil(bytes / 1024)} kB unpacked; ${contentOf(manifest)}).`);
    say('It has all secrets of the hub, in clear where the settings have them so: keep it like a password.');
  } catch (error) {
    if (error instanceof HubError || errnoOf(error) === undefined) throw error;
    throw diskError(error, `Cannot write the backup ${path}`, dirname(path));
  } finally {
    await rm(temporary, { force: true });
  }
}

async function checked(file: string): Promise<{ manifest: Manifest; bytes: number }> {
  const backup = await openBackup(file).catch((error: unknown) => {
    throw cannot('upstream_failed', 'what came is not whole. Try again.', error);
  });
  try {
    await backup.verify();
    return backup;
  } finally {
    backup.close();
  }
}

function contentOf({ counts, tables }: Manifest): string {
  const parts = { ...counts, calls: tables['activity'] ?? 0, 'audit records': tables['audit'] ?? 0 };
  return Object.entries(parts)
    .map(([name, count]) => `${count} ${count === 1 ? name.replace(/s$/, '') : name}`)
    .join(', ');
}

async function make(file: string, flags: Flags): Promise<void> {
  const user = readUserEnv();
  if (typeof flags['url'] === 'string' || user.hubUrl !== undefined) {
    const named = typeof flags['url'] === 'string' ? flags['url'] : undefined;
    const hub = connectTo(hubAddress(named, user), user, cliLimits.backupBytes);
    const token = await bearerFor(hub, user);
    return download(hub, file, token, () => wantsLogin(hub, user, token));
  }
  const env = readProcessEnv(variablesFrom(flags));
  const folder = resolve(env.dataDir);
  const running = await runningHub(folder);
  if (running === undefined) return writeFrom(env, folder, file);
  // The secret of the data folder makes tokens: who can read it needs no login.
  const hub = connectTo(running, user, cliLimits.backupBytes);
  const refused = () =>
    cannot(
      'misconfigured',
      `the hub at ${running} does not take the secret of ${folder}. Set JWT_SECRET as it is for the hub, or use --url and a login.`,
    );
  return download(hub, file, await ownToken(env, folder), refused, '?local=true');
}

async function download(
  hub: HubConnection,
  file: string,
  token: string | undefined,
  refused: () => HubError,
  query = '',
): Promise<void> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await hub.fetch(`${hub.url}/api/backup${query}`, { headers });
  if (answer.status === 401) throw refused();
  if (answer.status !== 200 || answer.body === null) {
    const body = (await answer.json().catch(() => ({}))) as Record<string, unknown>;
    if (body['error'] === 'reauthenticate')
      throw cannot(
        'misconfigured',
        `it has all secrets, and your login is older than ten minutes. Log in again with a password: toolhub login ${hub.url} --username <name>`,
      );
    const code = answer.status === 403 ? 'forbidden' : answer.status === 409 ? 'conflict' : 'upstream_failed';
    throw cannot(code, oneLine(refusalText({ status: answer.status, body }), 600));
  }
  await pipeline(answer.body, createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true })).catch(
    (error: unknown) => {
      if (error instanceof HubError || /^E[A-Z]+$/.test(errnoOf(error) ?? '')) throw error;
      throw cannot('upstream_failed', `the answer of ${hub.url} broke off. Its log says why.`, error);
    },
  );
}

/** From the folder, while no hub runs on it. */
async function writeFrom(env: Env, folder: string, file: string): Promise<void> {
  const hasFolder = existsSync(folder);
  if (!hasFolder && !existsSync(env.settingsPath) && env.database.kind !== 'postgres')
    throw cannot(
      'misconfigured',
      `there is neither a data folder ${folder} nor a settings file ${resolve(env.settingsPath)}. Name them (--data-dir, --settings), or a hub that runs (--url).`,
    );
  await inOwnFolder(env, folder, async ({ database, jwtSecret }) => {
    const source = {
      dataDir: folder,
      settingsPath: resolve(env.settingsPath),
      databaseKind: env.database.kind,
      database,
      jwtSecret,
    };
    await writeBackup(source, createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true }));
  });
}

function cannot(code: HubError['code'], why: string, cause?: unknown): HubError {
  return new HubError(code, `Cannot make a backup: ${why}`, { cause });
}
