import { Hono } from 'hono';
import { makeKey } from '../../auth/keys.ts';
import type { LastUses } from '../../auth/last-uses.ts';
import type { AccessKey } from '../../core/answers/settings.ts';
import { parseInput } from '../../core/input.ts';
import type { LogFields, Logger } from '../../core/logger.ts';
import type { Editor } from '../../settings/document/document.ts';
import { addKey, deleteKey, keyAnswers, rotateKey, updateKey } from '../../settings/key/key-edits.ts';
import { keyRotationInput, keyUpdateInput, newKeyInput } from '../../settings/key/key-input.ts';
import { keyIdOf } from '../../settings/key/read-keys.ts';
import type { SettingsStore } from '../../settings/store.ts';
import { jsonBody } from '../frame/body.ts';
import { type ApiEnv, changeAs, editorOf } from '../frame/caller.ts';
import { ok } from '../frame/reply.ts';

export interface KeysOptions {
  readonly settings: Pick<SettingsStore, 'change' | 'document'>;
  readonly uses: Pick<LastUses, 'read'>;
  /** For what admins do, and for what users do with their own keys. */
  readonly log: Logger;
  readonly accountLog: Logger;
}

/**
 * `/auth/keys` (CONTRACT §2; reference: MCPHub §1.7): admins manage all access keys, users their own, and no key
 * manages any.
 */
export function keysRoutes({ settings, uses, log, accountLog }: KeysOptions): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  const told = ({ username: by, isAdmin }: Editor, message: string, fields: LogFields): void =>
    (isAdmin ? log : accountLog).info(message, { ...fields, by });

  routes.get('/auth/keys', async (c) => {
    const bearerKeys = (settings.document.bearerKeys ?? []).map((key) => ({ ...key, id: keyIdOf(key) }));
    const keys = keyAnswers({ bearerKeys }, editorOf(c.var.caller));
    const usedAt = await uses.read();
    return ok(
      c,
      keys.map((key) => withUse(key, usedAt)),
    );
  });

  routes.post('/auth/keys', async (c) => {
    const by = editorOf(c.var.caller);
    const input = parseInput(newKeyInput, await jsonBody(c.req.raw), 'Cannot create the access key');
    const made = makeKey();
    const key = await changeAs(settings, c.var.caller, (draft, by) => addKey(draft, by, input, made));
    told(by, 'access key created', { key: key.id, kind: key.kind, owner: key.owner });
    const message = `Bearer key created. The token is only shown once.${unlimitedNote(key)}`;
    return ok(c, { ...key, token: made.token }, { message, status: 201 });
  });

  routes.put('/auth/keys/:id', async (c) => {
    const by = editorOf(c.var.caller);
    const input = parseInput(keyUpdateInput, await jsonBody(c.req.raw), 'Cannot change the access key');
    const key = await changeAs(settings, c.var.caller, (draft, by) => updateKey(draft, by, c.req.param('id'), input));
    told(by, 'access key changed', { key: key.id, enabled: key.enabled });
    return ok(c, withUse(key, await uses.read()), { message: `Access key updated successfully.${unlimitedNote(key)}` });
  });

  routes.post('/auth/keys/:id/rotate', async (c) => {
    const by = editorOf(c.var.caller);
    const id = c.req.param('id');
    const input = parseInput(keyRotationInput, await jsonBody(c.req.raw, {}), 'Cannot rotate the access key');
    const made = makeKey();
    const overlapMs = (input.overlapSeconds ?? 0) * 1_000;
    const key = await changeAs(settings, c.var.caller, (draft, by) => rotateKey(draft, by, id, { ...made, overlapMs }));
    told(by, 'access key rotated', { key: id, previousUntil: key.previousUntil });
    const used = withUse(key, await uses.read());
    return ok(c, { ...used, token: made.token }, { message: 'Access key rotated. The token is only shown once.' });
  });

  routes.delete('/auth/keys/:id', async (c) => {
    const by = editorOf(c.var.caller);
    const id = c.req.param('id');
    await changeAs(settings, c.var.caller, (draft, by) => deleteKey(draft, by, id));
    told(by, 'access key deleted', { key: id });
    return ok(c, undefined, { message: 'Access key deleted successfully.' });
  });

  return routes;
}

/** A user's key does not obey its scope, as in MCPHub (reference §2.3): who gave it one may believe otherwise. */
function unlimitedNote({ kind, owner, accessType, allowedGroups, allowedServers }: AccessKey): string {
  const isLimited = accessType !== 'all' || allowedGroups.length > 0 || allowedServers.length > 0;
  if (kind !== 'user' || !isLimited) return '';
  return ` It opens all that ${owner} may use: accessType, allowedGroups and allowedServers limit keys of the system alone.`;
}

function withUse(key: AccessKey, usedAt: Awaited<ReturnType<LastUses['read']>>): AccessKey {
  const at = usedAt(`key:${key.id}`);
  return at === undefined ? key : { ...key, lastUsedAt: new Date(at).toISOString() };
}
