import { Hono } from 'hono';
import { z } from 'zod';
import type { Entry } from '../core/document.ts';
import { HubError } from '../core/errors.ts';
import { parseInput } from '../core/input.ts';
import { limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { enabledInput, newServerInput, serverUpdateInput } from '../core/server-input.ts';
import { addServer, deleteServer, toggleServer, updateServer } from '../core/servers.ts';
import type { SettingsStore } from '../settings/store.ts';
import { jsonBody } from './api.ts';
import { batchMessage, batchStatus, countsOf, eachOf, nameIn } from './batch.ts';
import { type ApiEnv, type Caller, editorOf } from './caller.ts';
import { pageOf } from './page.ts';
import { ok } from './reply.ts';
import {
  managedServer,
  serverAnswer,
  serverDetails,
  serverOf,
  type ServerSources,
  visibleServers,
} from './server-answer.ts';

export interface ServerRoutes extends ServerSources {
  readonly settings: Pick<SettingsStore, 'change' | 'current'>;
  /** Connects one server anew; nothing happens to one that is about to be started anyway. */
  readonly restart: (name: string) => void;
  /** Removes what a deleted server kept on disk. Throws HubError when the disk refuses. */
  readonly removeFiles: (entry: Readonly<Entry>) => Promise<void>;
  readonly log: Logger;
}

/** `/servers` (CONTRACT §4, Servers; reference: MCPHub §1.5). What the caller may not see is not there. */
export function serverRoutes(options: ServerRoutes): Hono<ApiEnv> {
  const { settings, restart, removeFiles, log } = options;
  const routes = new Hono<ApiEnv>();
  /** The server after a change. */
  const details = (caller: Caller, name: string) => {
    const now = { ...caller, settings: settings.current };
    return serverDetails(now, serverOf(now, name), options);
  };
  const create = async (caller: Caller, body: unknown): Promise<string> => {
    const by = editorOf(caller);
    const input = parseInput(newServerInput, body, 'Cannot add the server');
    await settings.change((draft) => addServer(draft, by, input));
    log.info('server added', { server: input.name, by: by.username });
    return input.name;
  };

  routes.get('/servers', (c) => {
    const { caller } = c.var;
    const { items, pagination } = pageOf(visibleServers(caller), c.req.query());
    const data = items.map((server) => serverAnswer(caller, server, options));
    return c.json({ success: true, data, ...(pagination && { pagination }) });
  });

  routes.get('/servers/:name', (c) => {
    const { caller } = c.var;
    return ok(c, serverDetails(caller, serverOf(caller, c.req.param('name')), options));
  });

  routes.post('/servers', async (c) => {
    const { caller } = c.var;
    editorOf(caller);
    const name = await create(caller, await jsonBody(c.req.raw));
    return ok(c, details(caller, name), { message: 'Server added successfully.', status: 201 });
  });

  routes.post('/servers/batch', async (c) => {
    const { caller } = c.var;
    editorOf(caller);
    const { servers } = parseInput(serversInput, await jsonBody(c.req.raw), 'Cannot add the servers');
    const results = await eachOf(servers, nameIn, async (raw) => {
      await create(caller, raw);
      return 'Server added successfully.';
    });
    const data = countsOf(results);
    return c.json({ success: data.successCount > 0, ...batchMessage(data), data }, batchStatus(data));
  });

  routes.put('/servers/:name', async (c) => {
    const { caller } = c.var;
    const by = editorOf(caller);
    const name = c.req.param('name');
    const input = parseInput(serverUpdateInput, await jsonBody(c.req.raw), `Cannot change server "${name}"`);
    await settings.change((draft) => updateServer(draft, by, name, input));
    const { newName = name } = input;
    log.info('server changed', { server: name, ...(newName !== name && { newName }), by: by.username });
    const message = newName === name ? 'Server updated successfully.' : 'Server renamed and updated successfully.';
    return ok(c, details(caller, newName), { message });
  });

  routes.delete('/servers/:name', async (c) => {
    const by = editorOf(c.var.caller);
    const name = c.req.param('name');
    const entry = await settings.change((draft) => {
      const old = draft.mcpServers?.[name];
      deleteServer(draft, by, name);
      return old;
    });
    log.info('server deleted', { server: name, by: by.username });
    if (entry) await removeFiles(entry);
    return ok(c, undefined, { message: 'Server removed successfully.' });
  });

  routes.post('/servers/:name/toggle', async (c) => {
    const { caller } = c.var;
    const by = editorOf(caller);
    const name = c.req.param('name');
    const { enabled } = parseInput(enabledInput, await jsonBody(c.req.raw), `Cannot switch server "${name}"`);
    await settings.change((draft) => toggleServer(draft, by, name, enabled));
    log.info('server switched', { server: name, enabled, by: by.username });
    return ok(c, details(caller, name), { message: `Server ${enabled ? 'enabled' : 'disabled'} successfully.` });
  });

  routes.post('/servers/:name/reload', (c) => {
    const { caller } = c.var;
    const by = editorOf(caller);
    const name = c.req.param('name');
    const attempt = `Cannot reload server "${name}"`;
    const server = managedServer(caller, name, attempt);
    if (!by.isAdmin && server.transport.type === 'stdio') {
      throw new HubError('forbidden', `${attempt}: only admins start programs on the hub's machine.`);
    }
    if (!server.enabled) throw new HubError('conflict', `${attempt}: it is disabled. Enable it instead.`);
    restart(name);
    log.info('server reloaded', { server: name, by: by.username });
    return ok(c, details(caller, name), { message: `Server ${name} reloaded successfully.` });
  });

  return routes;
}

/** The body of `POST /servers/batch`. */
export const serversInput = z.object({
  servers: z
    .array(z.unknown(), { error: 'must be an array of {name, config}' })
    .min(1, 'must not be empty')
    .max(limits.batchItems),
});
