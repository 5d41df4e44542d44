import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { callbackify } from 'node:util';
import { fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';

/**
 * Opens a zip file that may carry a signature behind its end. `mcpb sign` used to append one without telling the zip
 * (later versions write it into the comment), and a strict reader refuses what it does not expect there. Throws what
 * yauzl throws. Closing the ZipFile closes the file.
 */
export async function openZip(file: string): Promise<ZipFile> {
  const handle = await open(file, 'r');
  try {
    const reader = new FileReader(handle);
    // Names are checked by our own rules, which must see them as they are (entry-path.ts).
    return await fromRandomAccessReaderPromise(reader, await zipLength(handle), {
      autoClose: false,
      strictFileNames: true,
    });
  } catch (error) {
    await handle.close().catch(() => {}); // yauzl may have closed it already
    throw error;
  }
}

/**
 * Reads by position and through the handle, whose `close` waits for reads under way. A file stream would close it
 * whenever yauzl ends one early.
 */
class FileReader extends RandomAccessReader {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    super();
    this.#handle = handle;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return readRange(this.#handle, start, end);
  }

  /** The directory is read in small pieces; a stream for each of them takes seconds for a large one. */
  override read(buffer: Buffer, offset: number, length: number, position: number, callback: ReadCallback): void {
    callbackify(async () => (await this.#handle.read(buffer, offset, length, position)).bytesRead)(callback);
  }

  override close(callback: (error: Error | null) => void): void {
    callbackify(() => this.#handle.close())(callback);
  }
}

type ReadCallback = (error: Error | null, bytesRead?: number) => void;

function readRange(handle: FileHandle, start: number, end: number): Readable {
  let at = start;
  return new Readable({
    read() {
      const buffer = Buffer.allocUnsafe(Math.min(64 * 1024, end - at));
      handle.read(buffer, 0, buffer.length, at).then(
        ({ bytesRead }) => {
          at += bytesRead;
          this.push(bytesRead === 0 ? null : buffer.subarray(0, bytesRead));
        },
        (error: Error) => this.destroy(error),
      );
    },
  });
}

const signatureHead = Buffer.from('MCPB_SIG_V1');
const signatureEnd = Buffer.from('MCPB_SIG_END');
const endRecordBytes = 22;
/** A signature with its certificates takes 4 kB; the padded form 16. */
const signatureBytes = 64 * 1024;

/** Where the zip ends: at the end of the file, or before a signature that its end record does not count. */
async function zipLength(handle: FileHandle): Promise<number> {
  const { size } = await handle.stat();
  const tail = Buffer.alloc(Math.min(size, signatureBytes));
  const from = size - tail.length;
  await handle.read(tail, 0, tail.length, from);
  if (!tail.subarray(-signatureEnd.length).equals(signatureEnd)) return size;
  const head = tail.lastIndexOf(signatureHead);
  const record = head - endRecordBytes;
  if (record < 0 || tail.readUInt32LE(record) !== 0x06054b50 || tail.readUInt16LE(record + 20) !== 0) return size;
  return from + head;
}
