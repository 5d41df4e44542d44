import { createHash } from 'node:crypto';
import { maskKey } from '../../core/mask.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { SettingsDocument } from '../backend.ts';
import { stableId } from '../document/stable-id.ts';

/**
 * Puts hashes in the place of access keys that stand in a document as they are, which is how MCPHub writes them
 * (CONTRACT §2: kept hashed). They stay what opens the hub: each keeps its id, and `routing.bearerAuthKey` becomes an
 * element of `bearerKeys`, switched on if it counted so far. The draft is changed in place.
 */
export function hashKeys(draft: SettingsDocument): void {
  for (const key of Array.isArray(draft.bearerKeys) ? draft.bearerKeys : []) if (isObject(key)) hashToken(key);
  const routing = isObject(draft.systemConfig) ? draft.systemConfig['routing'] : undefined;
  if (!isObject(routing) || typeof routing['bearerAuthKey'] !== 'string') return;
  const token = routing['bearerAuthKey'].trim();
  if (token === '') return;
  delete routing['bearerAuthKey'];
  addLegacyKey(draft, token, routing['enableBearerAuth'] === true);
}

/** A copy of a document with the hashes of its keys. */
export function withHashedKeys(document: Readonly<Record<string, unknown>>): SettingsDocument {
  const copy = structuredClone(document) as SettingsDocument;
  hashKeys(copy);
  return copy;
}

/** How a token is kept and compared (CONTRACT §2). */
export function sha256(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** One that contradicts its hash stays as it is: the reader refuses it. */
function hashToken(key: Record<string, unknown>): void {
  const { token, tokenHash } = key;
  if (typeof token !== 'string') return;
  const plain = token.trim();
  if (plain === '') return;
  const hash = sha256(plain);
  if (typeof tokenHash === 'string' && tokenHash.toLowerCase() !== hash) return;
  delete key['token'];
  key['tokenHash'] = hash;
  key['maskedToken'] = maskKey(plain);
}

function addLegacyKey(draft: SettingsDocument, token: string, enabled: boolean): void {
  const tokenHash = sha256(token);
  const keys = (draft.bearerKeys ??= []);
  if (keys.some((key) => isObject(key) && String(key['tokenHash']).toLowerCase() === tokenHash)) return;
  keys.push({
    id: stableId('key', tokenHash),
    name: legacyKeyName,
    tokenHash,
    maskedToken: maskKey(token),
    enabled,
    kind: 'system',
    accessType: 'all',
    allowedGroups: [],
    allowedServers: [],
  });
}

/** The name of the one key that files without a list of keys have. */
export const legacyKeyName = 'systemConfig.routing.bearerAuthKey';
