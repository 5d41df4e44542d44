import { Hono } from 'hono';
import { z } from 'zod';
import { getsCallersValues } from '../../core/access/per-user.ts';
import { saying } from '../../core/sentences.ts';
import { parseInput } from '../../core/input.ts';
import type { Logger } from '../../core/logger.ts';
import { keepPayloads, toggleServer } from '../../settings/server/server-edits.ts';
import { enabledInput } from '../../settings/server/server-input.ts';
import type { SettingsStore } from '../../settings/store.ts';
import { jsonBody, requireEmptyBody } from '../frame/body.ts';
import { adminOnly, type ApiEnv, type Caller, changeAs, editorOf } from '../frame/caller.ts';
import { managedServer, serverOf } from '../frame/reachable.ts';
import { ok } from '../frame/reply.ts';
import { serverDetails, type ServerSources } from './server-answer.ts';

export interface ServerRunRoutes extends ServerSources {
  readonly settings: Pick<SettingsStore, 'change' | 'current'>;
  /** Connects one server again; nothing happens to one that is about to be started anyway. */
  readonly restart: (name: string) => void;
  readonly log: Logger;
}

/** Switching a server on and off and starting it again (reference: MCPHub §1.5), for users who may manage it. */
export function serverRunRoutes(options: ServerRunRoutes): Hono<ApiEnv> {
  const { settings, restart, log } = options;
  const routes = new Hono<ApiEnv>();
  const details = (caller: Caller, name: string) => serverDetails(caller, serverOf(caller, name), options);

  routes.post('/servers/:name/toggle', async (c) => {
    const { caller } = c.var;
    const { username } = editorOf(caller);
    const name = c.req.param('name');
    const { enabled } = parseInput(enabledInput, await jsonBody(c.req.raw), `Cannot switch server "${name}"`);
    await changeAs(settings, caller, (draft, by) => toggleServer(draft, by, name, enabled));
    log.info('server switched', { server: name, enabled, by: username });
    return ok(c, details(caller, name), { message: `Server ${enabled ? 'enabled' : 'disabled'} successfully.` });
  });

  routes.post('/servers/:name/reload', async (c) => {
    const { caller } = c.var;
    const by = editorOf(caller);
    const name = c.req.param('name');
    const attempt = `Cannot reload server "${name}"`;
    const server = managedServer(caller, name, attempt);
    if (!by.isAdmin && server.transport.type === 'stdio') {
      throw saying('forbidden', 'programs_for_admins', { attempt });
    }
    await requireEmptyBody(c.req.raw);
    if (!server.enabled) throw saying('conflict', 'server_disabled', { attempt });
    restart(name);
    log.info('server reloaded', { server: name, by: by.username });
    return ok(c, details(caller, name), { message: `Server ${name} reloaded successfully.` });
  });

  routes.post('/servers/:name/payloads', adminOnly, async (c) => {
    const { caller } = c.var;
    const { username } = editorOf(caller);
    const name = c.req.param('name');
    const attempt = `Cannot keep what is called at server "${name}"`;
    const { minutes } = parseInput(payloadsInput, await jsonBody(c.req.raw), attempt);
    if (getsCallersValues(serverOf(caller, name))) {
      throw saying('conflict', 'payloads_never', { attempt });
    }
    const until = new Date(Date.now() + minutes * 60_000).toISOString();
    await changeAs(settings, caller, (draft, by) => keepPayloads(draft, by, name, until));
    log.info('arguments and results of a server are kept', { server: name, until, by: username });
    return ok(c, details(caller, name), { message: `Arguments and results are kept until ${until}.` });
  });

  routes.delete('/servers/:name/payloads', adminOnly, async (c) => {
    const { caller } = c.var;
    const { username } = editorOf(caller);
    const name = c.req.param('name');
    await requireEmptyBody(c.req.raw);
    await changeAs(settings, caller, (draft, by) => keepPayloads(draft, by, name, undefined));
    log.info('arguments and results of a server are kept no more', { server: name, by: username });
    return ok(c, details(caller, name), { message: 'Arguments and results are kept no more.' });
  });

  return routes;
}

/** The body of `POST /servers/:name/payloads`. An hour is enough to see a fault, and short enough to be forgotten. */
export const payloadsInput = z.object({ minutes: z.number().int().min(1).max(60).default(60) });
