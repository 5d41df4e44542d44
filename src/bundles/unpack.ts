import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, mkdtemp, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import type { Entry, ZipFile } from 'yauzl';
import { createPathSet, entryPath } from './entry-path.ts';
import { asHubError, damaged, megabytes, quoted, tooLarge } from './failures.ts';
import { removeTree, unfinished } from './folders.ts';
import { bundleLimits } from './limits.ts';
import { openZip } from './zip-source.ts';

type Bounds = Pick<
  typeof bundleLimits,
  'bundleBytes' | 'bundleEntries' | 'bundleUnpackedBytes' | 'bundleRatio' | 'bundleRatioFromBytes'
>;
/** Bounds of a bundle as plain numbers, so that tests can make them small. */
export type BundleBounds = { readonly [name in keyof Bounds]: number };

/** An opened bundle whose directory has been read and found harmless. The code that opened it closes it. */
export interface Bundle {
  /** Paths of the files in it, with `/`. */
  readonly files: ReadonlySet<string>;
  /** A small file of it as text; undefined when there is none of that name. */
  readText(path: string, maxBytes: number): Promise<string | undefined>;
  /**
   * Unpacks everything into a new folder below `parent` and returns its path. When it throws, nothing is left of it.
   */
  unpack(parent: string): Promise<string>;
  close(): void;
}

/**
 * Opens an `.mcpb` or `.dxt` file (CONTRACT §4, MCPB upload) and reads its directory. Nothing in it is trusted: names
 * are checked by our own rules and sizes are counted while inflating. Throws HubError `invalid_input` for what is no
 * sound bundle, `too_large` for what exceeds the bounds.
 */
export async function openBundle(file: string, bounds: BundleBounds = bundleLimits): Promise<Bundle> {
  const { size } = await stat(file);
  if (size > bounds.bundleBytes) throw tooLarge(`the file is larger than ${megabytes(bounds.bundleBytes)}`);
  const source = await openZip(file).catch((error: unknown) => {
    throw damaged('it is not a complete zip archive', error);
  });
  try {
    const items = await readDirectory(source, bounds);
    return bundleOf(source, items, bounds);
  } catch (error) {
    source.close();
    throw asHubError(error, file);
  }
}

interface Item {
  readonly entry: Entry;
  readonly path: string;
  readonly kind: 'file' | 'folder';
}

async function readDirectory(source: ZipFile, bounds: BundleBounds): Promise<Item[]> {
  const tooMany = `it has more than ${bounds.bundleEntries.toLocaleString('en')} entries`;
  if (source.entryCount > bounds.bundleEntries) throw tooLarge(tooMany);
  const paths = createPathSet();
  const items: Item[] = [];
  let declaredBytes = 0;
  for await (const entry of source.eachEntry()) {
    if (items.length >= bounds.bundleEntries) throw tooLarge(tooMany);
    // Saves the work when it is honest; `meter` is what counts.
    declaredBytes += entry.uncompressedSize;
    if (declaredBytes > bounds.bundleUnpackedBytes) throw unpacksToTooMuch(bounds);
    const kind = kindOf(entry);
    const segments = entryPath(entry.fileName);
    if (typeof segments === 'string') throw damaged(`the path ${quoted(entry.fileName)} in it ${segments}`);
    if (segments.length === 0 && kind === 'folder') continue;
    if (segments.length === 0) throw damaged('it contains a file without a name');
    const clash = paths.add(segments, kind);
    if (clash !== undefined) throw damaged(`the path ${quoted(entry.fileName)} in it ${clash}`);
    items.push({ entry, path: segments.join('/'), kind });
  }
  return items;
}

/** The upper half of the attributes is a Unix mode when a Unix wrote the entry, whatever is in it otherwise. */
function unixMode(entry: Entry): number {
  const system = entry.versionMadeBy >>> 8;
  return system === 3 || system === 19 ? entry.externalFileAttributes >>> 16 : 0;
}

function kindOf(entry: Entry): 'file' | 'folder' {
  const name = quoted(entry.fileName);
  const type = unixMode(entry) & 0o170000;
  // A link can lead out of the folder, now or after the next replace.
  if (type === 0o120000) throw damaged(`${name} in it is a symbolic link; pack the file it points to`);
  if (type !== 0 && type !== 0o100000 && type !== 0o040000) throw damaged(`${name} in it is not a file`);
  if (entry.fileName.endsWith('/')) return 'folder';
  if (type === 0o040000) throw damaged(`${name} in it is both a file and a folder`);
  if (entry.isEncrypted()) throw damaged(`${name} in it is encrypted`);
  if (!entry.canDecodeFileData()) throw damaged(`${name} in it is compressed in a way other than deflate`);
  return 'file';
}

function bundleOf(source: ZipFile, items: readonly Item[], bounds: BundleBounds): Bundle {
  const files = items.filter(({ kind }) => kind === 'file');

  async function unpack(parent: string): Promise<string> {
    let folder: string | undefined;
    try {
      await mkdir(parent, { recursive: true, mode: 0o700 });
      folder = await mkdtemp(join(parent, unfinished));
      const meter = createMeter(bounds);
      for (const item of items) await writeItem(source, item, folder, meter);
      return folder;
    } catch (error) {
      if (folder !== undefined) await removeTree(folder);
      throw asHubError(error, parent);
    }
  }

  return {
    files: new Set(files.map(({ path }) => path)),
    async readText(path, maxBytes) {
      const item = files.find((file) => file.path === path);
      if (item === undefined) return undefined;
      const bytes = await readItem(source, item, maxBytes);
      return bytes.toString('utf8').replace(/^\uFEFF/, '');
    },
    unpack,
    close: () => source.close(),
  };
}

async function writeItem(source: ZipFile, item: Item, folder: string, meter: Meter): Promise<void> {
  const target = join(folder, ...item.path.split('/'));
  if (item.kind === 'folder') {
    await mkdir(target, { recursive: true, mode: 0o755 });
    return;
  }
  const parent = dirname(target);
  if (!existsSync(parent)) await mkdir(parent, { recursive: true, mode: 0o755 });
  const mode = (unixMode(item.entry) & 0o111) === 0 ? 0o644 : 0o755;
  // `wx`: an existing file is never written to, whatever a malicious name resolves to.
  const file = createWriteStream(target, { flags: 'wx', mode });
  await pipeline(await source.openReadStreamPromise(item.entry), meter(item), file);
}

async function readItem(source: ZipFile, item: Item, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const collect = new Writable({
    write(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      chunks.push(chunk);
      done(size > maxBytes ? tooLarge(`${quoted(item.path)} in it is larger than ${megabytes(maxBytes)}`) : null);
    },
  });
  try {
    await pipeline(await source.openReadStreamPromise(item.entry), collect);
  } catch (error) {
    throw asHubError(error, item.path);
  }
  return Buffer.concat(chunks);
}

type Meter = (item: Item) => Transform;

/** Counts what really comes out, of each entry and of all together, and compares checksums. */
function createMeter(bounds: BundleBounds): Meter {
  let total = 0;
  return ({ entry, path }) => {
    let own = 0;
    let checksum = 0;
    const mostBytes = Math.max(bounds.bundleRatioFromBytes, entry.compressedSize * bounds.bundleRatio);
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        own += chunk.length;
        total += chunk.length;
        checksum = crc32(chunk, checksum);
        if (total > bounds.bundleUnpackedBytes) return done(unpacksToTooMuch(bounds));
        if (own > mostBytes)
          return done(tooLarge(`${quoted(path)} in it unpacks to over ${bounds.bundleRatio} times its size`));
        done(null, chunk);
      },
      flush(done) {
        done(checksum === entry.crc32 ? null : damaged(`the checksum of ${quoted(path)} in it is wrong`));
      },
    });
  };
}

function unpacksToTooMuch(bounds: BundleBounds): Error {
  return tooLarge(`it unpacks to more than ${megabytes(bounds.bundleUnpackedBytes)}`);
}
