import { createReadStream, existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { newClosers } from '../core/closers.ts';
import { errorText, HubError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { openDatabase } from '../database/open.ts';
import { errnoOf } from '../disk/disk-error.ts';
import { createFullDiskRetry } from '../disk/full-disk-retry.ts';
import type { Env } from '../env/env.ts';
import { type Broken, createChainCheck, type Whole } from '../logs/audit/chain.ts';
import { readRecords } from '../logs/audit/table.ts';
import { folderHolder, openDataDir, refuseHalfRestored } from '../settings/data-dir.ts';
import { cliLimits } from './limits.ts';

export interface Checked {
  readonly broken?: Broken;
  readonly whole?: Whole;
  /** A record has the hash that was looked for. */
  readonly hasHead: boolean;
}

function startCheck(head: string | undefined) {
  const chain = createChainCheck();
  let hasHead = false;
  return {
    take(text: string): void {
      const record = parsed(text);
      chain.take(record);
      hasHead ||= head !== undefined && !chain.broken && (record as { hash?: unknown }).hash === head;
    },
    isBroken: () => chain.broken !== undefined,
    done(): Checked {
      const found = chain.done();
      return 'why' in found ? { broken: found, hasHead } : { whole: found, hasHead };
    },
  };
}

function parsed(text: string): unknown {
  try {
    return text.length > cliLimits.auditLineChars ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

/** Checks an export line by line, in the memory that one takes. Throws HubError for a file that cannot be read. */
export async function checkExport(file: string, head: string | undefined): Promise<Checked> {
  const input: Readable = file === '-' ? process.stdin : createReadStream(file);
  const check = startCheck(head);
  try {
    for await (const text of linesOf(input)) {
      check.take(text);
      if (check.isBroken()) break;
    }
  } catch (error) {
    const why = errnoOf(error) === 'ENOENT' ? 'there is no such file' : errorText(error);
    throw new HubError('misconfigured', `Cannot read ${file}: ${why}.`, { cause: error });
  } finally {
    input.destroy();
  }
  return check.done();
}

/** An empty last line is none. */
async function* linesOf(input: Readable): AsyncGenerator<string> {
  let size = 0;
  // A file without line breaks must not fill the memory.
  input.on('data', (chunk: Buffer) => {
    size = chunk.includes(10) ? 0 : size + chunk.length;
    if (size > cliLimits.auditLineChars) input.destroy(new Error('it has a line that is too long for a record'));
  });
  const lines = createInterface({ input, crlfDelay: Infinity });
  const failed = new Promise<never>((_, reject) => input.once('error', reject));
  failed.catch(() => undefined);
  const all = lines[Symbol.asyncIterator]();
  for (;;) {
    const next = await Promise.race([all.next(), failed]);
    if (next.done === true) return;
    if (next.value !== '') yield next.value;
  }
}

/**
 * Checks what is in the database of the hub. Throws HubError `conflict` while a hub has the data folder with the
 * embedded one, `misconfigured` where there is none, and what opening it throws.
 */
export async function checkStored(env: Env, head: string | undefined): Promise<Checked> {
  const closers = newClosers();
  try {
    const database = await openDatabase({
      url: await placeOf(env, closers),
      dataDir: resolve(env.dataDir),
      log: quiet,
    });
    closers.add(() => database.close());
    const check = startCheck(head);
    for await (const page of readRecords(() => Promise.resolve(database))) {
      for (const text of page) check.take(text);
      if (check.isBroken()) break;
    }
    return check.done();
  } finally {
    await closers.close();
  }
}

/** The address of PostgreSQL; the folder of the embedded one is locked, so that no hub opens it meanwhile. */
async function placeOf(env: Env, closers: ReturnType<typeof newClosers>): Promise<string | undefined> {
  if (env.database.kind === 'postgres') return env.database.url;
  const folder = resolve(env.dataDir);
  const instead = 'With an export of a hub (GET /api/audit/export): toolhub audit verify --file audit.jsonl';
  if (env.database.kind === 'off' || !existsSync(join(folder, 'database')))
    throw new HubError('misconfigured', `Cannot check the audit log: there is no database in ${folder}. ${instead}`);
  const holder = await folderHolder(folder);
  if (holder !== undefined)
    throw new HubError(
      'conflict',
      `Cannot check the audit log: a hub runs on ${folder} and has its database. ${instead}`,
    );
  const room = createFullDiskRetry(quiet);
  closers.add(() => room.close());
  const dataDir = await openDataDir(folder, quiet, room);
  closers.add(() => dataDir.close());
  refuseHalfRestored(folder);
  return undefined;
}

const silent = (): void => {};
const quiet: Logger = { debug: silent, info: silent, warn: silent, error: silent };
