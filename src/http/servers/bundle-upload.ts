import { Hono } from 'hono';
import { bundlesFolder, unfinished } from '../../bundles/folders.ts';
import { importBundle } from '../../bundles/upload.ts';
import { invalid } from '../../core/input.ts';
import type { Logger } from '../../core/logger.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { SettingsStore } from '../../settings/store.ts';
import { adminOnly, type ApiEnv, changeAsAdmin, editorOf } from '../frame/caller.ts';
import { flagOf } from '../frame/query.ts';
import { ok } from '../frame/reply.ts';
import { withUpload } from '../frame/upload.ts';

export interface BundleRoutes {
  readonly settings: Pick<SettingsStore, 'change'>;
  readonly dataDir: string;
  readonly log: Logger;
}

/**
 * `POST /mcpb/upload` (SPEC, System; CONTRACT §4, MCPB upload), for admins: a form with the bundle as `mcpbFile` (or
 * `dxtFile`) and, if it asks for any, its values as JSON in `userConfig`. `?replace=true` takes the place of the server
 * of that name.
 */
export function bundleRoutes({ settings, dataDir, log }: BundleRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  routes.post('/mcpb/upload', adminOnly, async (c) => {
    const { username } = editorOf(c.var.caller);
    const query = c.req.query();
    const replaceByQuery = flagOf(query, 'replace');
    const place = {
      folder: bundlesFolder(dataDir),
      prefix: `${unfinished}upload-`,
      names: ['mcpbFile', 'dxtFile'],
      fields: ['userConfig', 'replace'],
    };
    const { manifest, server, requiredConfig, notes } = await withUpload(c.req.raw, place, (upload) =>
      importBundle({
        file: upload.file,
        filename: upload.filename,
        replace: replaceByQuery || flagOf(Object.fromEntries(upload.fields), 'replace'),
        userConfig: valuesIn(upload.fields.get('userConfig')),
        owner: username,
        change: (edit) => changeAsAdmin(settings, c.var.caller, edit),
        dataDir,
      }),
    );
    log.info('bundle uploaded', { server: server.name, version: manifest.version, by: username });
    const message = [`Server "${server.name}" was added from the bundle.`, ...notes].join(' ');
    return ok(c, { manifest, server, requiredConfig }, { message, status: 201 });
  });
  return routes;
}

function valuesIn(text: string | undefined): Record<string, unknown> {
  if (text === undefined || text.trim() === '') return {};
  const value = parsed(text);
  if (isObject(value)) return value;
  throw invalid('Cannot use the bundle', [{ path: 'userConfig', message: 'must be a JSON object' }]);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
