import { readFile } from 'node:fs/promises';
import { HubError } from '../../core/errors.ts';

/** Vectors of words, as bytes. */
export interface WordTable {
  readonly dimensions: number;
  readonly rows: ReadonlyMap<string, number>;
  /** What to multiply the bytes of each row with. */
  readonly scales: Float32Array;
  readonly bytes: Int8Array;
}

/** Throws HubError `misconfigured` when there is no such file or it is not a whole table. */
export async function readWordTable(path: string): Promise<WordTable> {
  try {
    return parse(await readFile(path));
  } catch (cause) {
    const message = `Cannot load the word vectors of the tool search from ${path}: it is missing or damaged. Install the hub again.`;
    throw new HubError('misconfigured', message, { cause });
  }
}

/**
 * The file: the length of a JSON header as 32 bits, the header `{"format", "dimensions", "vocabulary": "a b c…"}`,
 * padding to a multiple of 4, a 32-bit float per word, `dimensions` signed bytes per word. Numbers are little-endian.
 */
function parse(file: Buffer): WordTable {
  const headerEnd = 4 + file.readUInt32LE(0);
  const header = JSON.parse(file.toString('utf8', 4, headerEnd)) as {
    format: string;
    dimensions: number;
    vocabulary: string;
  };
  if (header.format !== 'toolhub-words-1') throw new TypeError(`A file of format ${header.format}.`);
  const vocabulary = header.vocabulary.split(' ');
  const scalesAt = Math.ceil(headerEnd / 4) * 4;
  const bytesAt = scalesAt + vocabulary.length * 4;
  if (file.length !== bytesAt + vocabulary.length * header.dimensions)
    throw new TypeError(`A length of ${file.length}.`);
  return {
    dimensions: header.dimensions,
    rows: new Map(vocabulary.map((word, row) => [word, row])),
    scales: new Float32Array(Uint8Array.from(file.subarray(scalesAt, bytesAt)).buffer),
    bytes: new Int8Array(Uint8Array.from(file.subarray(bytesAt)).buffer),
  };
}
