import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { isDeepStrictEqual } from 'node:util';
import { claim, giveBack } from '../core/json/large-buffers.ts';
import type { EngineVersions } from './engine.ts';
import { databaseLimits } from './limits.ts';

/**
 * A database folder in one file: gzip of a line of JSON (`Header`) and the bytes of all files, one after the other. A
 * tar would be larger by half a kilobyte for each of some 400 files, and by the zeros that files end with.
 */
interface Header {
  readonly versions: EngineVersions;
  /** Paths below the folder, `/` between names; each after the one that it is in. */
  readonly folders: readonly string[];
  /** The stored bytes, and the size of the file: what is missing are zeros. */
  readonly files: readonly (readonly [path: string, stored: number, size: number])[];
}

/** Packs the folder of a database that is closed. `leaveOut` is asked with the path below the folder. */
export function pack(folder: string, versions: EngineVersions, leaveOut: (path: string) => boolean): Buffer {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => ({ entry, path: relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/') }))
    .filter(({ path }) => !leaveOut(path))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  const contents = entries
    .filter(({ entry }) => entry.isFile())
    .map(({ path }) => {
      const content = readFileSync(join(folder, path));
      return { path, size: content.length, stored: content.subarray(0, lengthWithoutZeros(content)) };
    });
  const header: Header = {
    versions,
    folders: entries.filter(({ entry }) => entry.isDirectory()).map(({ path }) => path),
    files: contents.map(({ path, stored, size }) => [path, stored.length, size]),
  };
  const bytes = [Buffer.from(`${JSON.stringify(header)}\n`), ...contents.map(({ stored }) => stored)];
  return gzipSync(Buffer.concat(bytes), { level: 9 });
}

/**
 * Makes `folder`, which must not exist, as it was packed in `archive`, closed to other users. Throws when the archive
 * is damaged or made with other versions; what is there of the folder then is of no use.
 */
export function unpack(archive: string, folder: string, versions: EngineVersions): void {
  const bytes = contentOf(readFileSync(archive));
  claim(bytes);
  const end = bytes.indexOf('\n');
  const header = JSON.parse(bytes.toString('utf8', 0, end)) as Header;
  if (!isDeepStrictEqual(header.versions, versions)) {
    const [made, here] = [header.versions, versions].map((one) => JSON.stringify(one));
    throw new Error(`It was made with ${made}, installed is ${here}`);
  }
  mkdirSync(folder, { mode: 0o700 });
  for (const path of header.folders) mkdirSync(join(folder, path), { mode: 0o700 });
  let at = end + 1;
  for (const [path, stored, size] of header.files) {
    const file = openSync(join(folder, path), 'wx', 0o600);
    try {
      writeFileSync(file, bytes.subarray(at, at + stored));
      // The segment of the write-ahead log is 16 MB of zeros, which so take neither time nor space.
      if (size > stored) ftruncateSync(file, size);
    } finally {
      closeSync(file);
    }
    at += stored;
  }
  giveBack(bytes);
}

/** The content in one piece: in chunks, which are joined then, it would take twice the memory. */
function contentOf(packed: Buffer): Buffer {
  // Gzip ends with the size of what it holds (RFC 1952 §2.3.1); of a damaged one that may be any number.
  const size = packed.length < 4 ? 0 : packed.readUInt32LE(packed.length - 4);
  return gunzipSync(packed, { chunkSize: Math.min(Math.max(size, 64), databaseLimits.archiveChunkBytes) });
}

function lengthWithoutZeros(content: Buffer): number {
  let length = content.length;
  while (length > 0 && content[length - 1] === 0) length -= 1;
  return length;
}
