import { Hono } from 'hono';
import { z } from 'zod';
import { parseInput } from '../core/input.ts';
import type { Logger } from '../core/logger.ts';
import { forgetTokens } from '../core/servers.ts';
import type { ServerSettings } from '../core/settings.ts';
import type { SettingsStore } from '../settings/store.ts';
import { jsonBody } from './api.ts';
import { type ApiEnv, editorOf } from './caller.ts';
import { ok } from './reply.ts';
import { managedServer } from './server-answer.ts';

export interface ServerOAuthRoutes {
  readonly settings: Pick<SettingsStore, 'change' | 'current'>;
  readonly signIns: {
    begin(server: ServerSettings, by: string): Promise<string>;
    disconnect(server: ServerSettings, all: boolean): Promise<void>;
  };
  /** Connects one server anew; false for one that is not enabled. */
  readonly restart: (name: string) => boolean;
  readonly log: Logger;
}

/** `/servers/:name/oauth` (reference: MCPHub §1.5): signing in to a server and out again, for those who may manage it. */
export function serverOAuthRoutes({ settings, signIns, restart, log }: ServerOAuthRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.post('/servers/:name/oauth/authorize', async (c) => {
    const by = editorOf(c.var.caller);
    const name = c.req.param('name');
    const server = managedServer(c.var.caller, name, `Cannot sign in to server "${name}"`);
    const authorizationUrl = await signIns.begin(server, by.username);
    log.info('sign-in begun', { server: name, by: by.username });
    return ok(c, { authorizationUrl }, { message: 'Open the address and sign in there.' });
  });

  routes.post('/servers/:name/oauth/disconnect', async (c) => {
    const by = editorOf(c.var.caller);
    const name = c.req.param('name');
    const attempt = `Cannot sign out of server "${name}"`;
    managedServer(c.var.caller, name, attempt);
    const { scope } = parseInput(disconnectInput, await jsonBody(c.req.raw, {}), attempt);
    // Tokens of the settings would be a new start otherwise, and stay where many can read them.
    await settings.change((draft) => forgetTokens(draft, by, name));
    const server = managedServer({ ...c.var.caller, settings: settings.current }, name, attempt);
    await signIns.disconnect(server, scope === 'all');
    restart(name);
    log.info('signed out', { server: name, scope, by: by.username });
    return ok(c, { name, scope }, { message: `Signed out of server ${name}.` });
  });

  return routes;
}

const disconnectInput = z.object({
  scope: z
    .enum(['tokens', 'all'], { error: 'allowed: "tokens", "all" (also the registration of the hub there)' })
    .default('tokens'),
});
