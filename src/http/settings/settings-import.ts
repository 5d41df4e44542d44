import { Hono } from 'hono';
import { z } from 'zod';
import { parseInput } from '../../core/input.ts';
import type { Logger } from '../../core/logger.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { type Draft, type Entry, hasServer } from '../../settings/document/document.ts';
import { parseChanged } from '../../settings/document/parse-settings.ts';
import { importSettings } from '../../settings/import/import-settings.ts';
import { skippedMembers } from '../../settings/import/skipped-members.ts';
import type { SettingsStore } from '../../settings/store.ts';
import { jsonBody } from '../frame/body.ts';
import { adminOnly, type ApiEnv, changeAsAdmin, editorOf } from '../frame/caller.ts';
import { flagOf } from '../frame/query.ts';
import { ok } from '../frame/reply.ts';

export interface SettingsImportRoutes {
  /** Removes what a deleted server kept on disk. Throws HubError when the disk refuses. */
  readonly removeFiles: (entry: Readonly<Entry>) => Promise<void>;
  /** Forgets the sign-ins of a deleted server. */
  readonly deleted: (server: string) => Promise<void>;
  readonly settings: Pick<SettingsStore, 'change' | 'current' | 'document'>;
  readonly log: Logger;
}

const queryInput = z.object({
  mode: z.enum(['merge', 'replace'], { error: 'must be "merge" or "replace"' }).default('merge'),
});

/**
 * `POST /mcp-settings/import`, for admins: a settings file, as an export or by hand. Answers what is different
 * afterwards, and what was passed over; with `?dryRun=true` what would be, and nothing changes.
 */
export function settingsImportRoutes({ settings, deleted, removeFiles, log }: SettingsImportRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  routes.post('/mcp-settings/import', adminOnly, async (c) => {
    const { username } = editorOf(c.var.caller);
    const query = c.req.query();
    const dryRun = flagOf(query, 'dryRun');
    const { mode } = parseInput(queryInput, query, 'Cannot import the settings');
    const given = unwrapped(await jsonBody(c.req.raw));
    const edit = (draft: Draft) => {
      const before = Object.entries(draft.mcpServers ?? {});
      const skipped = skippedMembers(draft, given);
      const changes = importSettings(draft, given, mode, username);
      return { answer: { skipped, changes }, removed: before.filter(([name]) => !hasServer(draft, name)) };
    };
    if (dryRun) {
      const draft = structuredClone(settings.document) as Draft;
      const { answer } = edit(draft);
      parseChanged(draft, { document: settings.document, settings: settings.current });
      return ok(c, { dryRun, mode, ...answer });
    }
    const { answer, removed } = await changeAsAdmin(settings, c.var.caller, edit);
    for (const [name] of removed) await deleted(name);
    const { length } = answer.changes;
    log.info('settings imported', { mode, changes: length, by: username });
    for (const [, entry] of removed) await removeFiles(entry);
    return ok(c, { dryRun, mode, ...answer }, { message: `${length} changes made.` });
  });
  return routes;
}

/** The settings in an export of MCPHub, which answers them in its envelope. */
function unwrapped(given: unknown): unknown {
  return isObject(given) && given['success'] === true && isObject(given['data']) ? given['data'] : given;
}
