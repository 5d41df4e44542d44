import { createHash } from 'node:crypto';
import { constants, readlinkSync, realpathSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { isObject } from '../core/protocol/rpc.ts';
import type { Database, Queryable } from '../database/database.ts';
import { diskError, errnoOf } from '../disk/disk-error.ts';
import { version } from '../version.ts';
import { dataFiles, leftOut } from './data-files.ts';
import { dataFolder, type Manifest, manifestName, secretCheck, settingsName, tableFolder } from './manifest.ts';
import { appliedMigrations, inOneMoment, rowsOf, tableNames } from './tables.ts';

export interface BackupSource {
  readonly dataDir: string;
  /** Not read where the settings are in the database. */
  readonly settingsPath: string;
  readonly databaseKind: Manifest['database'];
  /** Undefined: there is none. */
  readonly database: Database | undefined;
  readonly jwtSecret: { readonly from: Manifest['jwtSecret']['from']; readonly value: string };
}

/**
 * Writes a backup of everything, a zip, while a hub may run on it. `out` is ended; when this throws it is destroyed,
 * and what was written is no whole zip. `begun` is called before the first byte. Files are as they are when it is their
 * turn, tables as they are after that: what a journal has is in one of both.
 */
export async function writeBackup(source: BackupSource, out: Writable, begun?: () => void): Promise<Manifest> {
  const zip = createZip(out);
  try {
    const dataDir = realpathSync(source.dataDir);
    const listed = await dataFiles(dataDir);
    begun?.();
    for (const { path, isProgram } of listed) await zip.addFile(join(dataDir, path), `${dataFolder}${path}`, isProgram);
    const { database } = source;
    const stored = await (database && inOneMoment(database, (tables) => addTables(zip, tables)));
    const settings = stored?.settings ?? (await settingsFile(source.settingsPath));
    if (settings !== undefined) await zip.addText(settingsName, settings);
    const manifest: Manifest = {
      format: 1,
      version,
      createdAt: new Date().toISOString(),
      database: source.databaseKind,
      migrations: stored?.migrations ?? [],
      jwtSecret: { from: source.jwtSecret.from, ...secretCheck(source.jwtSecret.value) },
      counts: countsOf(settings),
      tables: stored?.rows ?? {},
      files: Object.fromEntries(zip.files),
      gone: zip.gone,
      leftOut: [...leftOut],
    };
    await zip.end(`${JSON.stringify(manifest, null, 1)}\n`);
    return manifest;
  } catch (error) {
    out.destroy();
    throw error;
  }
}

type Zip = ReturnType<typeof createZip>;

function createZip(out: Writable) {
  const zip = new ZipFile();
  zip.on('error', (error: Error) => (zip.outputStream as Readable).destroy(error));
  const written = pipeline(zip.outputStream as Readable, out);
  // Waited for with each entry, and at the end.
  written.catch(() => undefined);
  const files = new Map<string, Manifest['files'][string]>();
  const gone: string[] = [];

  /** Resolves when the entry is in the zip, so that one file is open at a time. */
  async function add(name: string, content: Readable, isProgram = false): Promise<void> {
    const hash = createHash('sha256');
    let bytes = 0;
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        bytes += chunk.length;
        done(null, chunk);
      },
    });
    // The mode is for those who unpack it by hand.
    zip.addReadStream(counted, name, { mode: isProgram ? 0o100700 : 0o100600 });
    await Promise.race([
      pipeline(content, counted),
      written.then(() => {
        throw new Error('The zip ended early');
      }),
    ]).finally(() => content.destroy());
    files.set(name, { bytes, sha256: hash.digest('hex'), ...(isProgram && { isProgram: true as const }) });
  }

  return {
    files,
    gone,
    add,
    addText: (name: string, text: string) => add(name, Readable.from([Buffer.from(text)])),
    async addFile(path: string, name: string, isProgram: boolean): Promise<void> {
      // What a zip cannot name is no file of the hub.
      if (/[\\\0]/.test(name)) return void gone.push(name);
      try {
        // As long as it is now: a journal grows.
        // Without waiting for the other end of a pipe.
        const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
        const found = await file.stat();
        // Another program of the same user could put something else in its place, or a link in that of its folder.
        const isThere = found.isFile() && (pathOf(file.fd) === undefined || pathOf(file.fd) === path);
        if (!isThere) return void (await file.close(), gone.push(name));
        const { size } = found;
        const content =
          size === 0 ? Readable.from([Buffer.alloc(0)]) : file.createReadStream({ end: size - 1, autoClose: false });
        try {
          await add(name, content, isProgram);
        } finally {
          await file.close();
        }
      } catch (error) {
        if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ELOOP') throw error;
        gone.push(name);
      }
    },
    async end(manifest: string): Promise<void> {
      zip.addBuffer(Buffer.from(manifest), manifestName, { mode: 0o100600 });
      zip.end();
      await written;
    },
  };
}

/** Where an open file is; undefined where the system does not tell. */
function pathOf(fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`).replace(/ \(deleted\)$/, '');
  } catch {
    return undefined;
  }
}

interface Stored {
  readonly migrations: number[];
  readonly rows: Record<string, number>;
  /** The settings document, where it is in a table. */
  readonly settings: string | undefined;
}

async function addTables(zip: Zip, tables: Queryable): Promise<Stored> {
  const rows: Record<string, number> = {};
  for (const table of await tableNames(tables)) {
    let count = 0;
    const lines = async function* (): AsyncGenerator<Buffer> {
      for await (const page of rowsOf(tables, table)) {
        count += page.length;
        yield Buffer.from(page.map((row) => `${row}\n`).join(''));
      }
    };
    await zip.add(`${tableFolder}${table}.jsonl`, Readable.from(lines()));
    rows[table] = count;
  }
  const [row] = await tables.query<{ document: string }>('select document from toolhub.settings where id = 1');
  return { migrations: await appliedMigrations(tables), rows, settings: row?.document };
}

async function settingsFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw diskError(error, `Cannot read the settings file ${path}`, path);
  }
}

/** For people who look into the manifest. */
function countsOf(settings: string | undefined): Record<string, number> {
  const counted = { mcpServers: 'servers', groups: 'groups', users: 'users', bearerKeys: 'keys' };
  let document: unknown;
  try {
    document = JSON.parse(settings ?? '{}');
  } catch {
    // A file with comments, or a broken one: it is in the backup as it is.
  }
  const size = (member: string): number => {
    const value = isObject(document) ? document[member] : undefined;
    return Array.isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : 0;
  };
  return Object.fromEntries(Object.entries(counted).map(([member, name]) => [name, size(member)]));
}
