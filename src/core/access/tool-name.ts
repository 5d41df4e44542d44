import { createHash } from 'node:crypto';
import { coreLimits } from '../limits.ts';

const allowed = /^[A-Za-z0-9_-]+$/;

/**
 * The name under which a tool or prompt of a server is offered (CONTRACT §5): `<prefix><separator><name>`, within 64
 * characters of `[A-Za-z0-9_-]`. A name that does not fit is made to fit and gets a hash of what it stands for, so it
 * stays the same for ever. The same happens to a name that reads as another server's (server `a` with tool `b-c` beside
 * a server `a-b`): the plain form belongs to the longer prefix. It depends on the configured prefixes only, never on
 * which servers are up or who asks.
 */
export function exposedName(prefix: string, name: string, separator: string, prefixes: Iterable<string>): string {
  const plain = `${prefix}${separator}${name}`;
  const fits = plain.length <= coreLimits.exposedNameChars && allowed.test(plain);
  return fits && !readsAsOther(plain, prefix, separator, prefixes) ? plain : shortened(plain, prefix, name, 8);
}

/** A longer-hashed form, for the case that even two hashed names are equal. */
export function tieBreakName(prefix: string, name: string, separator: string): string {
  return shortened(`${prefix}${separator}${name}`, prefix, name, 24);
}

function readsAsOther(plain: string, prefix: string, separator: string, prefixes: Iterable<string>): boolean {
  for (const other of prefixes) {
    if (other.length > prefix.length && plain.startsWith(`${other}${separator}`)) return true;
  }
  return false;
}

function shortened(plain: string, prefix: string, name: string, hashChars: number): string {
  const hash = createHash('sha256').update(`${prefix}\0${name}`).digest('hex').slice(0, hashChars);
  const readable = plain.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, coreLimits.exposedNameChars - hashChars - 1);
  return `${readable}_${hash}`;
}
