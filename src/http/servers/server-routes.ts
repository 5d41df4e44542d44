import { Hono } from 'hono';
import { z } from 'zod';
import { parseInput } from '../../core/input.ts';
import type { Logger } from '../../core/logger.ts';
import type { Entry } from '../../settings/document/document.ts';
import { checkServer } from '../../settings/server/check-server.ts';
import { addServer, deleteServer, updateServer } from '../../settings/server/server-edits.ts';
import { newServerInput, serverUpdateInput } from '../../settings/server/server-input.ts';
import type { SettingsStore } from '../../settings/store.ts';
import { batchMessage, batchStatus, countsOf, eachOf, nameIn } from '../frame/batch.ts';
import { jsonBody } from '../frame/body.ts';
import { type ApiEnv, type Caller, changeAs, editorOf } from '../frame/caller.ts';
import { pageOf } from '../frame/page.ts';
import { serverOf, visibleServers } from '../frame/reachable.ts';
import { ok } from '../frame/reply.ts';
import { adviceAtRequestPaths, withRequestPaths, placeOf } from '../frame/request-paths.ts';
import { httpLimits } from '../limits.ts';
import {
  foundNames,
  serverAnswer,
  serverDetails,
  serverNames,
  serverSummary,
  type ServerSources,
} from './server-answer.ts';
import { problemTable } from '../../core/problems.ts';

export interface ServerRoutes extends ServerSources {
  readonly settings: Pick<SettingsStore, 'change' | 'current'>;
  /** Removes what a deleted server kept on disk. Throws HubError when the disk refuses. */
  readonly removeFiles: (entry: Readonly<Entry>) => Promise<void>;
  /** Has `change` rename a server in the settings: what is kept of it under the old name goes along. */
  readonly rename: (from: string, to: string, change: () => Promise<void>) => Promise<void>;
  /** Forgets the sign-ins of a deleted server. */
  readonly deleted: (server: string) => Promise<void>;
  readonly log: Logger;
}

/** `/servers` (CONTRACT §4, Servers; reference: MCPHub §1.5). What the caller may not see is not there. */
export function serverRoutes(options: ServerRoutes): Hono<ApiEnv> {
  const { settings, removeFiles, rename, deleted, log } = options;
  const routes = new Hono<ApiEnv>();
  const details = (caller: Caller, name: string) => serverDetails(caller, serverOf(caller, name), options);
  /**
   * What of a configuration that was given will not do what it looks like: pasted ones often carry members of another
   * transport.
   */
  const advice = (name: string, given: Readonly<Entry> = {}): string[] => {
    const { warnings } = checkServer(name, options.document().mcpServers?.[name] ?? {});
    return adviceAtRequestPaths(warnings, placeOf(name), Object.keys(given));
  };
  const create = async (caller: Caller, body: unknown) => {
    const { username } = editorOf(caller);
    const { name, config } = parseInput(newServerInput, body, 'Cannot add the server');
    const change = changeAs(settings, caller, (draft, by) => addServer(draft, by, { name, config }));
    await withRequestPaths(change, placeOf(name), `Cannot add server "${name}"`);
    log.info('server added', { server: name, by: username });
    return { name, message: ['Server added successfully.', ...advice(name, config)].join(' ') };
  };

  routes.get('/servers', (c) => c.json({ success: true, ...listed(c.var.caller, c.req.query(), options) }));

  routes.get('/servers/:name', (c) => {
    const { caller } = c.var;
    return ok(c, serverDetails(caller, serverOf(caller, c.req.param('name')), options));
  });

  routes.post('/servers', async (c) => {
    const { caller } = c.var;
    editorOf(caller);
    const { name, message } = await create(caller, await jsonBody(c.req.raw));
    return ok(c, details(caller, name), { message, status: 201 });
  });

  routes.post('/servers/batch', async (c) => {
    const { caller } = c.var;
    editorOf(caller);
    const { servers } = parseInput(serversInput, await jsonBody(c.req.raw), 'Cannot add the servers');
    const results = await eachOf(servers, nameIn, async (raw) => (await create(caller, raw)).message);
    const data = countsOf(results);
    return c.json({ success: data.successCount > 0, ...batchMessage(data), data }, batchStatus(data));
  });

  routes.put('/servers/:name', async (c) => {
    const { caller } = c.var;
    const { username } = editorOf(caller);
    const name = c.req.param('name');
    const attempt = `Cannot change server "${name}"`;
    const input = parseInput(serverUpdateInput, await jsonBody(c.req.raw), attempt);
    const { newName = name } = input;
    const change = () =>
      withRequestPaths(
        changeAs(settings, caller, (draft, by) => updateServer(draft, by, name, input)),
        placeOf(newName),
        attempt,
      );
    if (newName === name) await change();
    else {
      // Nothing is done for a caller who may not.
      updateServer(structuredClone(options.document()), editorOf(caller), name, { newName });
      await rename(name, newName, change);
    }
    log.info('server changed', { server: name, ...(newName !== name && { newName }), by: username });
    const done = newName === name ? 'Server updated successfully.' : 'Server renamed and updated successfully.';
    return ok(c, details(caller, newName), { message: [done, ...advice(newName, input.config)].join(' ') });
  });

  routes.delete('/servers/:name', async (c) => {
    const { username } = editorOf(c.var.caller);
    const name = c.req.param('name');
    const entry = await changeAs(settings, c.var.caller, (draft, by) => {
      const old = draft.mcpServers?.[name];
      deleteServer(draft, by, name);
      return old;
    });
    await deleted(name);
    log.info('server deleted', { server: name, by: username });
    if (entry) await removeFiles(entry);
    return ok(c, undefined, { message: 'Server removed successfully.' });
  });

  return routes;
}

/** The servers the caller sees, all of them or a page. */
function listed(caller: Caller, query: Readonly<Record<string, string>>, sources: ServerSources) {
  const attempt = 'Cannot list the servers';
  const { items, pagination } = pageOf(visibleServers(caller), query, attempt);
  const input = parseInput(listInput, query, attempt);
  const words = input.q?.toLowerCase().split(/\s+/).filter(Boolean) ?? [];
  if (input.items === 'names' && words.length > 0) {
    const data = items.flatMap((server) => foundNames(caller, server, sources, words) ?? []);
    return { data, ...(pagination && { pagination }) };
  }
  const answer = { count: serverSummary, names: serverNames, all: serverAnswer }[input.items ?? 'all'];
  return { data: items.map((server) => answer(caller, server, sources)), ...(pagination && { pagination }) };
}

/**
 * `?items=count`: counts of tools, prompts and resources in place of themselves. `?items=names`: names alone, with `q`
 * those of the tools that are found.
 */
const listInput = z
  .object({
    items: z.enum(['count', 'names'], 'must be "count", "names" or absent').optional(),
    q: z.string().max(httpLimits.queryChars).optional(),
  })
  .refine(({ items, q }) => q === undefined || items === 'names', { path: ['q'], message: 'goes with items=names' });

/** The body of `POST /servers/batch`. */
export const serversInput = z.object({
  servers: z
    .array(z.unknown(), { error: 'must be an array of {name, config}' })
    .min(1, problemTable.empty)
    .max(httpLimits.batchItems),
});
