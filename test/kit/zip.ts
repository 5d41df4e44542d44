import { crc32, deflateRawSync } from 'node:zlib';

/** One entry of a zip, with fields for every false value that a zip can have. */
export interface ZipEntry {
  name: string | Buffer;
  data?: Buffer | string;
  /** Unix mode with the file type, `0o100644`; 0 = as written by DOS. */
  mode?: number;
  store?: boolean;
  /** What the directory says, in place of the true values. */
  claims?: { size?: number; compressedSize?: number; crc?: number; method?: number; flags?: number };
  /** Where its data is taken from, in place of its own: the index of an earlier entry. */
  sharesDataOf?: number;
}

/** A zip file, written by hand because a library would refuse to write most of what the tests need. */
export function zip(entries: readonly ZipEntry[], options: { comment?: Buffer; entryCount?: number } = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  const written: { offset: number; compressed: Buffer; size: number; crc: number }[] = [];
  let at = 0;

  for (const entry of entries) {
    const name = Buffer.from(entry.name as string);
    const method = entry.claims?.method ?? (entry.store === true ? 0 : 8);
    const shared = entry.sharesDataOf === undefined ? undefined : written[entry.sharesDataOf];
    const own = shared ?? body(entry, at);
    written.push(own);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE((entry.claims?.flags ?? 0) | 0x800, 2);
    fields.writeUInt16LE(method, 4);
    fields.writeUInt32LE(0x5a21_0000, 6);
    fields.writeUInt32LE(entry.claims?.crc ?? own.crc, 10);
    fields.writeUInt32LE(entry.claims?.compressedSize ?? own.compressed.length, 14);
    fields.writeUInt32LE(entry.claims?.size ?? own.size, 18);
    fields.writeUInt16LE(name.length, 22);
    if (shared === undefined) {
      const local = [Buffer.from('PK\x03\x04'), fields, name, own.compressed];
      parts.push(...local);
      at += local.reduce((sum, part) => sum + part.length, 0);
    }
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 6);
    tail.writeUInt32LE(own.offset, 10);
    const madeBy = Buffer.from([20, entry.mode === 0 ? 0 : 3]);
    directory.push(Buffer.from('PK\x01\x02'), madeBy, fields, tail, name);
  }

  const directoryBytes = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  const count = options.entryCount ?? entries.length;
  end.writeUInt16LE(count, 4);
  end.writeUInt16LE(count, 6);
  end.writeUInt32LE(directoryBytes.length, 8);
  end.writeUInt32LE(at, 12);
  end.writeUInt16LE(options.comment?.length ?? 0, 16);
  const comment = options.comment ?? Buffer.alloc(0);
  return Buffer.concat([...parts, directoryBytes, Buffer.from('PK\x05\x06'), end, comment]);
}

function body(entry: ZipEntry, offset: number): { offset: number; compressed: Buffer; size: number; crc: number } {
  const data = Buffer.from((entry.data ?? '') as string);
  return {
    offset,
    compressed: entry.store === true ? data : deflateRawSync(data),
    size: data.length,
    crc: crc32(data),
  };
}
