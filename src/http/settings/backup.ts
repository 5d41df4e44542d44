import { PassThrough, Readable } from 'node:stream';
import { Hono } from 'hono';
import type { AuditSink } from '../../core/audit.ts';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { saying } from '../../core/sentences.ts';
import { recordRequest } from '../frame/audited.ts';
import { adminOnly, type ApiEnv, editorOf, mustBeFresh, mustBeInPerson } from '../frame/caller.ts';

export interface BackupRoutes {
  /**
   * Writes everything that the hub keeps, as a zip, and ends `out`. Calls `begun` before the first byte. Called when
   * the database is known to be there.
   */
  readonly write: (out: PassThrough, begun: () => void) => Promise<unknown>;
  /** Throws HubError `not_ready` while the database is away; what was recorded before is in it afterwards. */
  readonly ready: () => Promise<void>;
  readonly audit: AuditSink;
  readonly log: Logger;
}

/**
 * `GET /backup` (CONTRACT §12), for admins who have just logged in: everything with all secrets, as a zip. One at a
 * time. An answer that breaks off is no whole zip.
 */
export function backupRoutes({ write, ready, audit, log }: BackupRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  let isRunning = false;
  routes.get('/backup', adminOnly, async (c) => {
    const { caller } = c.var;
    const attempt = 'Cannot make a backup';
    const { username } = editorOf(caller);
    mustBeInPerson(caller.principal);
    mustBeFresh(caller, attempt);
    if (isRunning) throw saying('conflict', 'backup_running', { attempt });
    isRunning = true;
    try {
      await ready();
      log.warn('backup made, with all secrets', { by: username, address: caller.address });
      const isLocal = c.req.query('local') === 'true';
      recordRequest(c, audit.record, { after: { secrets: 'include', ...(isLocal && { by: 'the data folder' }) } });
      await new Promise<void>(audit.afterKeeping);
      // The record of the backup is in it, too.
      await ready();
    } catch (error) {
      isRunning = false;
      throw error;
    }
    const out = new PassThrough();
    await new Promise<void>((begun, failed) => {
      write(out, begun)
        .catch((error: unknown) => {
          log.warn('a backup broke off', { error: errorText(error) });
          failed(error);
        })
        .finally(() => (isRunning = false));
    });
    c.header('Content-Type', 'application/zip');
    c.header('Content-Disposition', 'attachment; filename="toolhub-backup.zip"');
    return c.body(Readable.toWeb(out) as ReadableStream<Uint8Array>);
  });
  return routes;
}
