import { Hono } from 'hono';
import type { AuditCheck, AuditHead, AuditRecord } from '../../core/answers/audit.ts';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { parseAuditListing } from '../../logs/audit/audit-filter.ts';
import type { AuditLog } from '../../logs/audit/audit-log.ts';
import { recordRequest } from '../frame/audited.ts';
import { adminOnly, type ApiEnv, stillAllowed } from '../frame/caller.ts';
import { ok } from '../frame/reply.ts';

export interface AuditRoutes {
  readonly audit: Pick<AuditLog, 'list' | 'head' | 'check' | 'read' | 'record'>;
  readonly log: Logger;
}

/** `/audit` (CONTRACT §9), for admins: who did what. No route changes it. */
export function auditRoutes({ audit, log }: AuditRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get('/audit', adminOnly, async (c) => {
    const records = await audit.list(parseAuditListing(c.req.query()));
    await stillAllowed(c.req.raw);
    return ok(c, records satisfies readonly AuditRecord[]);
  });

  routes.get('/audit/head', adminOnly, async (c) => {
    const head = await audit.head();
    await stillAllowed(c.req.raw);
    return ok(c, head satisfies AuditHead);
  });

  routes.get('/audit/check', adminOnly, async (c) => {
    const found = await audit.check();
    await stillAllowed(c.req.raw);
    if ('why' in found) {
      const { line: records, id, why } = found;
      return ok(c, { whole: false, records, why, ...(id !== undefined && { id }) } satisfies AuditCheck);
    }
    const { records, first, last: head } = found;
    return ok(c, { whole: true, records, first, ...(head && { head }) } satisfies AuditCheck);
  });

  routes.get('/audit/export', adminOnly, async (c) => {
    // What is counted is written first, so that the record of the export is its last one.
    await audit.head();
    recordRequest(c, audit.record);
    const pages = await audit.read();
    c.header('Content-Type', 'application/jsonl; charset=utf-8');
    c.header('Content-Disposition', 'attachment; filename="audit.jsonl"');
    const request = c.req.raw;
    return c.body(
      new ReadableStream<Uint8Array>({
        // Called when the client has taken what came before: one page is in memory.
        async pull(controller) {
          try {
            const { done, value } = await pages.next();
            await stillAllowed(request);
            if (done === true) controller.close();
            else controller.enqueue(Buffer.from(value.map((text) => `${text}\n`).join('')));
          } catch (error) {
            log.warn('export of the audit log broke off', { error: errorText(error) });
            // The client sees that the answer is not whole.
            controller.error(error);
          }
        },
        cancel: () => void pages.return(undefined),
      }),
    );
  });

  return routes;
}
