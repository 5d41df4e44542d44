import { HubError } from '../../core/errors.ts';
import { isObject } from '../../core/protocol/rpc.ts';

/** The vector of a text, or why what came in its place cannot be used. */
export type Embedded = Float32Array | { readonly refused: string };

/**
 * Reads the answer of an embedding service (`POST /embeddings` as OpenAI has it): one entry for each of `count` texts,
 * in their order. Numbers may come as a list or as base64 of little-endian 32-bit floats. Throws HubError
 * `upstream_failed` when the answer as a whole is none.
 */
export function readEmbeddings(body: string, count: number): Embedded[] {
  const entries = entriesOf(body);
  if (entries.length !== count) throw unreadable(`it has ${entries.length} vectors for ${count} texts`);
  const vectors = new Array<Embedded | undefined>(count).fill(undefined);
  for (const [place, entry] of entries.entries()) {
    const index = isObject(entry) && typeof entry['index'] === 'number' ? entry['index'] : place;
    if (!(index in vectors) || vectors[index] !== undefined) throw unreadable('its numbering is wrong');
    vectors[index] = read(isObject(entry) ? entry['embedding'] : undefined);
  }
  return vectors.map((vector) => vector ?? { refused: 'there is no vector' });
}

function entriesOf(body: string): unknown[] {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    throw unreadable('it is not whole JSON');
  }
  const data = isObject(answer) ? answer['data'] : undefined;
  if (!Array.isArray(data)) throw unreadable('it has no list of vectors ("data")');
  return data;
}

function read(given: unknown): Embedded {
  const vector = typeof given === 'string' ? fromBase64(given) : fromNumbers(given);
  if (vector === undefined) return { refused: 'the vector is missing or not made of numbers' };
  // In 32 bits, as it is kept: a number may be finite before and not after.
  let squares = 0;
  for (const value of vector) squares += value * value;
  if (!Number.isFinite(squares)) return { refused: 'the vector has numbers that are not finite' };
  if (squares === 0) return { refused: 'the vector is all zeros' };
  return vector;
}

function fromNumbers(given: unknown): Float32Array | undefined {
  if (!Array.isArray(given) || given.length === 0) return undefined;
  return given.every((value) => typeof value === 'number') ? Float32Array.from(given) : undefined;
}

function fromBase64(given: string): Float32Array | undefined {
  const bytes = Buffer.from(given, 'base64');
  if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(i * 4));
}

function unreadable(why: string): HubError {
  return new HubError('upstream_failed', `the answer of the embedding service cannot be used: ${why}`);
}

/** The failure of a service that answers with this in place of a vector. */
export function unusable(why = 'there is none'): HubError {
  return new HubError('upstream_failed', `the embedding service gives no vectors that can be used: ${why}`);
}
