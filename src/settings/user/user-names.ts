/** Names of users and groups are told apart by this: without regard to case, and to how an accent is written. */
export function nameKey(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** True for names that stand for callers without an account (CONTRACT §4, Users). */
export function isReservedUser(name: string): boolean {
  return reserved.has(name.toLowerCase());
}

const reserved = new Set(['anonymous', 'system', 'guest']);
