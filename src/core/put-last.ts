/**
 * Puts an entry behind all others of a map, which keeps the order of insertion. Past `most` entries the first one goes:
 * the one that was put there longest ago.
 */
export function putLast<K, V>(all: Map<K, V>, key: K, value: V, most: number): void {
  all.delete(key);
  all.set(key, value);
  const oldest = all.keys().next();
  if (all.size > most && oldest.done !== true) all.delete(oldest.value);
}
