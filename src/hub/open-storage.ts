import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Closers } from '../core/closers.ts';
import { errorText } from '../core/errors.ts';
import type { Logger, LoggerFor } from '../core/logger.ts';
import { createDatabase, type DatabaseHandle } from '../database/supervise.ts';
import { diskLimits } from '../disk/limits.ts';
import type { Env } from '../env/env.ts';
import { createFullDiskRetry } from '../disk/full-disk-retry.ts';
import { linkTarget, removeTemporaryFiles } from '../disk/write-file-atomic.ts';
import { answerUnready } from '../http/open/unready.ts';
import { closeServer } from '../http/frame/server.ts';
import { openAudit } from '../logs/audit/audit-log.ts';
import { moveJournals } from '../logs/journal-files.ts';
import type { LogBook } from '../logs/log.ts';
import { openRecords } from '../logs/records.ts';
import type { SettingsBackend } from '../settings/backend.ts';
import { type DataDir, folderHolder, openDataDir, refuseHalfRestored } from '../settings/data-dir.ts';
import { settingsFile } from '../settings/file.ts';
import { makeSampleFolder, sampleSettings } from '../settings/sample.ts';
import { withForwardAuth } from '../settings/system/forward-auth-env.ts';
import { watchPolicyFolder, withPolicyFiles } from '../settings/system/policy-folder.ts';
import { openSettings, type SettingsStore } from '../settings/store.ts';
import { settingsCopyPath } from '../settings/settings-copy.ts';
import { settingsTable } from '../settings/table.ts';
import { version } from '../version.ts';
import type { HttpServer } from './open-server.ts';
import { type HubSecrets, isLead, joinLogs, type Worker } from './worker.ts';
import { recordPolicyFiles, recordSettings } from './record-settings.ts';

export interface OpenStorage {
  readonly env: Env;
  readonly book: LogBook;
  /** Where requests are answered when the settings have to be waited for. */
  readonly httpServer: HttpServer;
  readonly stop: AbortSignal | undefined;
  readonly worker: Worker | undefined;
}

/** What outlives the process: the data folder, the database, the settings, what was recorded. */
export async function openStorage({ env, book, httpServer, stop, worker }: OpenStorage, closers: Closers) {
  const log: LoggerFor = (service) => book.for(service);
  const security = book.security('api');
  const room = createFullDiskRetry(log('hub'));
  closers.add(() => room.close());
  const own = await openDataDir(env.dataDir, log('hub'), room);
  const dataDir = worker ? withSecrets(own, worker.secrets) : own;
  closers.add(() => dataDir.close());
  refuseHalfRestored(dataDir.path);
  sweepTemporaryFiles(dataDir.path, await linkTarget(env.settingsPath), closers);
  const database = createDatabase({ url: databaseUrl(env), dataDir: dataDir.path, log: log('hub') });
  closers.add(() => database.close());
  const journal = { folder: join(dataDir.path, 'journal'), room };
  if (env.database.kind !== 'off' && (worker?.number ?? 1) === 1)
    await takeJournals(dataDir.path, worker?.count ?? 1, log('hub'));
  const audit = openAudit({ database, journal, clean: book.clean, log: log('hub') });
  closers.add(() => audit.close());
  // Only as long as nothing has to be written any more: later it is the last to be closed.
  const giveUp = (): void => void database.close();
  stop?.addEventListener('abort', giveUp);
  const keep = () => settings.change(() => {});
  const waiting = async (): Promise<void> => {
    httpServer.answer(answerUnready({ basePath: env.basePath, database, version }));
    closers.add(() => closeServer(httpServer.server, httpServer.fastPath, 0, []));
    const url = await httpServer.listen();
    dataDir.announce(`${url}${env.basePath}`);
    const text = 'The settings are in the database (DB_URL), which is not available. Until it is, requests get 503';
    log('hub').warn(text, { url });
  };
  const withVariables = withForwardAuth(env.variables);
  const settings = await openSettings({
    backend: settingsBackend({ env, dataDir, database, waiting, log: log('hub') }),
    log: log('hub'),
    initial: () => sampleSettings(dataDir.path, process.cwd()),
    unwritten: (error) => room.wait('the first settings', error, keep),
    readAs: (document) => withPolicyFiles(withVariables(document)),
    changed: recordSettings(audit, env.database.kind === 'postgres'),
  }).finally(() => stop?.removeEventListener('abort', giveUp));
  closers.add(() => settings.close());
  const record = recordPolicyFiles(audit);
  const policyFiles = watchPolicyFolder(policyFolderOf(settings), (files) => {
    if (files && isLead(worker)) record(files);
    void settings.refresh().catch(() => undefined);
  });
  closers.add(() => policyFiles.close());
  makeSampleFolder(settings.current, dataDir.path, process.cwd());
  const records = openRecords({ feed: book, database, log: log('hub'), journal });
  closers.add(() => records.close());
  if (worker) joinLogs(worker, book, records, closers);
  const hubDir = worker?.dataDir ?? dataDir.path;
  return { book, log, security, dataDir, hubDir, database, settings, records, audit, room };
}

/**
 * What workers that there are no more (`WORKERS` was larger) have left for the database: this process writes it with
 * its own. Never fails: the start goes on without.
 */
async function takeJournals(dataDir: string, count: number, log: Logger): Promise<void> {
  const folder = join(dataDir, 'workers');
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((one) => /^\d{1,3}$/.test(one) && Number(one) > count)) {
    const left = join(folder, name);
    try {
      // One that is about to end still writes there: the next start finds it.
      if (await folderHolder(left)) continue;
      const files = moveJournals(join(left, 'journal'), join(dataDir, 'journal'));
      if (files > 0) log.info('What a worker has left is written to the database', { worker: Number(name), files });
    } catch (error) {
      const why = errorText(error);
      log.error(`What a worker has left in ${left} cannot be written to the database: ${why}. Start again to retry`);
    }
  }
}

/** The folder of a worker with the secrets of the hub, so that what one worker signs and seals all can read. */
function withSecrets(own: DataDir, secrets: HubSecrets): DataDir {
  return {
    ...own,
    secret(name, bytes) {
      const known = secrets[name];
      return known ? Buffer.from(known) : own.secret(name, bytes);
    },
  };
}

/** The folder of policies, as the settings name it. */
function policyFolderOf(settings: Pick<SettingsStore, 'document'>): () => string | undefined {
  return () => {
    const folder = settings.document.systemConfig?.['policyFolder'];
    return typeof folder === 'string' && folder.trim() !== '' ? folder.trim() : undefined;
  };
}

/** Removes what killed hubs left half written, now and once more when what is too young now is old enough. */
function sweepTemporaryFiles(dataDir: string, settingsFile: string, closers: Closers): void {
  const sweep = (): void => {
    removeTemporaryFiles(dataDir);
    removeTemporaryFiles(dirname(settingsFile), basename(settingsFile));
  };
  sweep();
  const again = setTimeout(sweep, diskLimits.temporaryFileMs * 1.1).unref();
  closers.add(() => clearTimeout(again));
}

/** What `openStorage` gives: parts open in this order, closed in the other. */
export type Storage = Awaited<ReturnType<typeof openStorage>>;

/** `DB_URL` as the database wants it: undefined is the embedded one. */
function databaseUrl({ database }: Env): string | undefined {
  return database.kind === 'postgres' ? database.url : database.kind === 'off' ? 'off' : undefined;
}

interface BackendParts {
  readonly env: Env;
  readonly dataDir: DataDir;
  readonly database: DatabaseHandle;
  readonly waiting: () => Promise<void>;
  readonly log: Logger;
}

/** With `DB_URL` the settings are a row that replicas share, filled from the file once; otherwise they are the file. */
function settingsBackend({ env, dataDir, database, waiting, log }: BackendParts): SettingsBackend {
  const file = settingsFile(env.settingsPath, log);
  if (env.database.kind !== 'postgres') return file;
  database.start();
  return settingsTable({ database, importFrom: file, copyPath: settingsCopyPath(dataDir.path), waiting, log });
}
