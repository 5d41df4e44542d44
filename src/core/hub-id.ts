import { randomBytes } from 'node:crypto';

/** Names one run of a hub among those that share a database: part of every id that only that run knows. */
export type HubId = string;

const idPattern = /^[\w-]{8}$/;
const idChars = 8;

/** A new one for each start: what a process kept in memory is gone with it. */
export function newHubId(): HubId {
  return randomBytes(6).toString('base64url');
}

export function isHubId(text: string): boolean {
  return idPattern.test(text);
}

/** An id that says which hub gave it out. */
export function idAt(hub: HubId, rest: string): string {
  return `${hub}.${rest}`;
}

/** The hub that gave an id out; undefined for every text that is none of `idAt`. It proves nothing. */
export function hubOf(id: unknown): HubId | undefined {
  if (typeof id !== 'string' || id.charAt(idChars) !== '.') return undefined;
  const hub = id.slice(0, idChars);
  return isHubId(hub) ? hub : undefined;
}

/**
 * The hub that takes over what belonged to one that is gone: all hubs that know the same ones choose the same, and a
 * change of one hub moves nothing that belonged to others (rendezvous hashing).
 */
export function heirOf(key: string, hubs: Iterable<HubId>): HubId | undefined {
  let best: HubId | undefined;
  let most = -1;
  for (const hub of hubs) {
    const weight = hash(`${hub}${key}`);
    if (weight < most || (weight === most && best !== undefined && hub < best)) continue;
    [best, most] = [hub, weight];
  }
  return best;
}

/** FNV-1a, and a last mixing that spreads texts with different beginnings. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
