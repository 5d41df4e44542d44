import { Hono } from 'hono';
import type { AuditSink } from '../../core/audit.ts';
import { invalid } from '../../core/input.ts';
import type { Logger } from '../../core/logger.ts';
import { exportSettings } from '../../settings/export/export-settings.ts';
import { withHashedKeys } from '../../settings/key/hashed-keys.ts';
import type { SettingsStore } from '../../settings/store.ts';
import { recordRequest } from '../frame/audited.ts';
import { adminOnly, type ApiEnv, editorOf, mustBeFresh } from '../frame/caller.ts';

export interface ExportRoutes {
  readonly settings: Pick<SettingsStore, 'document'>;
  readonly audit: AuditSink;
  readonly log: Logger;
}

/**
 * `GET /mcp-settings/export` (CONTRACT §4, Export), for admins: the settings as a file that a hub can start with.
 * `?serverName=` is one server alone, `?secrets=include` leaves the secrets in, which takes a fresh login and which the
 * log then says; access keys are hashes even then.
 */
export function exportRoutes({ settings, audit, log }: ExportRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  routes.get('/mcp-settings/export', adminOnly, async (c) => {
    const { username } = editorOf(c.var.caller);
    const { serverName, secrets } = c.req.query();
    if (secrets !== undefined && secrets !== 'include') {
      throw invalid('Cannot export the settings', [{ path: 'secrets', message: 'must be "include" or absent' }]);
    }
    if (secrets === 'include') mustBeFresh(c.var.caller, 'Cannot export the settings with their secrets');
    const document = exportSettings(withHashedKeys(settings.document), { serverName, secrets });
    if (secrets === 'include') {
      log.warn('settings exported with their secrets', {
        by: username,
        address: c.var.caller.address,
        server: serverName,
      });
      recordRequest(c, audit.record, { target: serverName, after: { secrets: 'include' } });
      await new Promise<void>(audit.afterKeeping);
    }
    c.header('Content-Type', 'application/json; charset=utf-8');
    c.header('Content-Disposition', 'attachment; filename="mcp_settings.json"');
    return c.body(`${JSON.stringify(document, null, 2)}\n`);
  });
  return routes;
}
