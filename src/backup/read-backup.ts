import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Entry, ZipFile } from 'yauzl';
import { openZip } from '../bundles/zip-source.ts';
import { errorText, HubError } from '../core/errors.ts';
import { readMigrations } from '../database/migrate.ts';
import { diskError, errnoOf } from '../disk/disk-error.ts';
import { version } from '../version.ts';
import { backupLimits } from './limits.ts';
import { broken, dataFolder, type Manifest, manifestName, parseManifest } from './manifest.ts';

/** An opened backup whose directory fits its manifest. The code that opened it closes it. */
export interface Backup {
  readonly manifest: Manifest;
  /** Sizes of all files, in bytes. */
  readonly bytes: number;
  /** Reads every file and compares it with its hash; gives the first as it goes on to `each`, where there is one. */
  verify(): Promise<void>;
  /** Puts all files of the folder `data/` below `folder`, which must not exist. Checks their hashes. */
  unpackData(folder: string, wanted: (path: string) => boolean): Promise<void>;
  /** The text of a file; undefined when it is not in the backup. */
  text(name: string): Promise<string | undefined>;
  /** Lines of a file, some at a time. The hash is known to be wrong only at the end. */
  lines(name: string): AsyncGenerator<readonly string[]>;
  close(): void;
}

/**
 * Opens a backup. Nothing in it is trusted: names, sizes and hashes have to be those of the manifest, and what comes
 * out is counted. Throws HubError `misconfigured`.
 */
export async function openBackup(file: string): Promise<Backup> {
  const zip = await openZip(file).catch((error: unknown) => {
    if (/^E[A-Z]+$/.test(errnoOf(error) ?? '')) throw diskError(error, `Cannot read the backup ${file}`, file);
    throw broken(`${file} is no complete zip archive: it is no backup, or the end of it is missing`, error);
  });
  try {
    const entries = await directory(zip);
    const own = { version, migration: Math.max(...readMigrations().map(({ number }) => number)) };
    const entry = entries.get(manifestName);
    if (entry === undefined) throw broken(`${file} has no ${manifestName}: it is no backup of a Tool Hub`);
    entries.delete(manifestName);
    const manifest = parseManifest(await textOf(zip, entry, backupLimits.manifestBytes), own);
    compare(entries, manifest);
    return backupOf(zip, entries, manifest);
  } catch (error) {
    zip.close();
    throw asBroken(error);
  }
}

async function directory(zip: ZipFile): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  if (zip.entryCount > backupLimits.backupEntries)
    throw broken(`it has more than ${backupLimits.backupEntries.toLocaleString('en')} files`);
  for await (const entry of zip.eachEntry()) {
    const name = entry.fileName;
    const why = wrongName(name);
    if (why !== undefined) throw broken(`the name ${quoted(name)} in it ${why}`);
    const type = (entry.externalFileAttributes >>> 16) & 0o170000;
    if (type !== 0 && type !== 0o100000) throw broken(`${quoted(name)} in it is no file`);
    if (entry.isEncrypted() || !entry.canDecodeFileData()) throw broken(`${quoted(name)} in it cannot be read`);
    if (entries.has(name)) throw broken(`the name ${quoted(name)} is in it twice`);
    entries.set(name, entry);
  }
  return entries;
}

/** Why a file of this name could be outside of the folder it is unpacked to. */
function wrongName(name: string): string | undefined {
  if (name.length > 4_000) return 'is too long';
  if (name.includes('\\') || name.includes('\0')) return 'has a character that no name has';
  if (name.startsWith('/') || /^[a-z]:/i.test(name)) return 'is absolute';
  return name.split('/').some((part) => part === '' || part === '.' || part === '..')
    ? 'leads out of the backup'
    : undefined;
}

/** Every file of the archive is in the manifest, with its size, and the other way round. */
function compare(entries: Map<string, Entry>, { files, gone }: Manifest): void {
  const went = new Set(gone);
  for (const [name, entry] of entries) {
    const told = Object.hasOwn(files, name) ? files[name] : undefined;
    if (told === undefined && !went.has(name)) throw broken(`${quoted(name)} is not in its ${manifestName}`);
    if (told !== undefined && told.bytes !== entry.uncompressedSize)
      throw broken(`${quoted(name)} in it has another size than its ${manifestName} says`);
  }
  for (const name of Object.keys(files)) if (!entries.has(name)) throw broken(`${quoted(name)} is missing in it`);
}

function backupOf(zip: ZipFile, entries: Map<string, Entry>, manifest: Manifest): Backup {
  const known = (name: string) => (Object.hasOwn(manifest.files, name) ? manifest.files[name] : undefined);

  /** The bytes of a file, which fail at their end when they are others than the manifest says. */
  async function content(name: string): Promise<[Readable, Transform]> {
    const [entry, told] = [entries.get(name), known(name)];
    if (entry === undefined || told === undefined) throw broken(`${quoted(name)} is missing in it`);
    const hash = createHash('sha256');
    let bytes = 0;
    const checked = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        bytes += chunk.length;
        done(bytes > told.bytes ? broken(`${quoted(name)} in it is longer than it says`) : null, chunk);
      },
      flush(done) {
        done(
          hash.digest('hex') === told.sha256 ? null : broken(`${quoted(name)} in it was changed: its hash is another`),
        );
      },
    });
    return [await zip.openReadStreamPromise(entry), checked];
  }

  async function* lines(name: string): AsyncGenerator<readonly string[]> {
    const [raw, checked] = await content(name);
    const done = pipeline(raw, checked);
    done.catch(() => undefined);
    let rest = '';
    for await (const chunk of checked.setEncoding('utf8') as AsyncIterable<string>) {
      const parts = `${rest}${chunk}`.split('\n');
      rest = parts.pop() ?? '';
      if (rest.length > backupLimits.rowBytes) throw broken(`${quoted(name)} in it has a line that is too long`);
      if (parts.length > 0) yield parts;
    }
    if (rest !== '') throw broken(`${quoted(name)} in it ends in the middle of a line`);
    await done;
  }

  return {
    manifest,
    bytes: Object.values(manifest.files).reduce((sum, { bytes }) => sum + bytes, 0),
    async verify() {
      for (const name of Object.keys(manifest.files))
        await read(content(name), new Writable({ write: (_c, _e, done) => done() }));
    },
    async unpackData(folder, wanted) {
      await mkdir(folder, { mode: 0o700 });
      for (const [name, { isProgram }] of Object.entries(manifest.files)) {
        if (!name.startsWith(dataFolder) || !wanted(name.slice(dataFolder.length))) continue;
        const target = join(folder, ...name.slice(dataFolder.length).split('/'));
        await mkdir(dirname(target), { recursive: true, mode: 0o700 });
        // A file that is there is never written to.
        const out = createWriteStream(target, { flags: 'wx', mode: isProgram === true ? 0o700 : 0o600, flush: true });
        await read(content(name), out, folder);
      }
    },
    async text(name) {
      const entry = entries.get(name);
      if (entry === undefined || known(name) === undefined) return undefined;
      const parts: Buffer[] = [];
      if (entry.uncompressedSize > backupLimits.settingsBytes) throw broken(`${quoted(name)} in it is too long`);
      await read(content(name), new Writable({ write: (chunk: Buffer, _e, done) => done((parts.push(chunk), null)) }));
      return Buffer.concat(parts).toString('utf8');
    },
    lines,
    close: () => zip.close(),
  };
}

async function read(opened: Promise<[Readable, Transform]>, to: Writable, folder?: string): Promise<void> {
  try {
    await pipeline(...(await opened), to);
  } catch (error) {
    if (folder !== undefined && /^E[A-Z]+$/.test(errnoOf(error) ?? ''))
      throw diskError(error, 'Cannot unpack the backup', folder);
    throw asBroken(error);
  }
}

async function textOf(zip: ZipFile, entry: Entry, mostBytes: number): Promise<string> {
  if (entry.uncompressedSize > mostBytes) throw broken(`its ${entry.fileName} is too long`);
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw broken(`its ${entry.fileName} is too long`);
    parts.push(chunk);
  }
  return Buffer.concat(parts).toString('utf8');
}

function asBroken(error: unknown): HubError {
  return error instanceof HubError ? error : broken(`it is damaged (${errorText(error).slice(0, 200)})`, error);
}

function quoted(name: string): string {
  return JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name);
}
