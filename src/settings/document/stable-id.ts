import { createHash } from 'node:crypto';

/** Any fixed bytes do: they keep our ids apart from other version 5 UUIDs of the same names. */
const namespace = Buffer.from('6f1b8c1e0d6a4c5c9a0e7d2b4f3a9c58', 'hex');

/**
 * The UUID (RFC 9562, version 5) that a thing without an id of its own has until one is written: the same for the same
 * name, on every replica.
 */
export function stableId(kind: 'group' | 'key' | 'prompt' | 'resource', name: string): string {
  const bytes = createHash('sha1').update(namespace).update(`${kind}:${name}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/**
 * The id of a group that has none in the file. Spelling of the name does not matter, as it does not for its uniqueness.
 */
export function groupIdOf(name: string): string {
  return stableId('group', name.toLowerCase());
}
