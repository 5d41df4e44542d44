import { Hono } from 'hono';
import { z } from 'zod';
import { isPerUser } from '../../core/access/per-user.ts';
import { HubError } from '../../core/errors.ts';
import { parseInput } from '../../core/input.ts';
import type { Logger } from '../../core/logger.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import { forgetTokens } from '../../settings/server/server-edits.ts';
import type { SettingsStore } from '../../settings/store.ts';
import { jsonBody } from '../frame/body.ts';
import { type ApiEnv, type Caller, changeAs, editorOf } from '../frame/caller.ts';
import { managedServer, manages, serverOf } from '../frame/reachable.ts';
import { ok } from '../frame/reply.ts';
import type { SignInCookies } from './cookie.ts';

/** Begins a sign-in for a user who may: where to go, and what the browser needs to come back. */
export type SignInBeginning = (
  server: ServerSettings,
  by: string,
) => Promise<{ readonly authorizationUrl: string; readonly state: string; readonly browser: string }>;

export interface ServerOAuthRoutes {
  readonly settings: Pick<SettingsStore, 'change' | 'current'>;
  readonly signIns: {
    readonly begin: SignInBeginning;
    /** Signs out this user, or all users. */
    disconnect(server: ServerSettings, user: string | undefined, all: boolean): Promise<void>;
  };
  readonly cookies: SignInCookies;
  /** Connects one server again; false for one that is not enabled. */
  readonly restart: (name: string) => boolean;
  readonly log: Logger;
}

/** `/servers/:name/oauth` (reference: MCPHub §1.5): signing in to a server and out again. */
export function serverOAuthRoutes({ settings, signIns, cookies, restart, log }: ServerOAuthRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.post('/servers/:name/oauth/authorize', async (c) => {
    const by = editorOf(c.var.caller);
    const name = c.req.param('name');
    const server = serverToSignInTo(c.var.caller, name, `Cannot sign in to server "${name}"`);
    const begun = await signIns.begin(server, by.username);
    log.info('sign-in begun', { server: name, by: by.username });
    cookies.give(c, begun);
    const { authorizationUrl } = begun;
    return ok(c, { authorizationUrl }, { message: 'Open the address in this same browser and sign in there.' });
  });

  routes.post('/servers/:name/oauth/disconnect', async (c) => {
    const { caller } = c.var;
    const { username } = editorOf(caller);
    const name = c.req.param('name');
    const attempt = `Cannot sign out of server "${name}"`;
    const { scope } = parseInput(disconnectInput, await jsonBody(c.req.raw, {}), attempt);
    const server = serverToSignInTo(caller, name, attempt);
    if (isPerUser(server)) {
      if (scope === 'all' && !manages(caller, server))
        throw new HubError(
          'forbidden',
          `${attempt} for everybody: it belongs to ${server.owner}. Ask them or an admin.`,
        );
      await signIns.disconnect(server, username, scope === 'all');
    } else {
      // Otherwise the hub would start with the tokens in the settings again, and they would stay where many users can
      // read them.
      await changeAs(settings, caller, (draft, by) => forgetTokens(draft, by, name));
      const now = managedServer(caller, name, attempt);
      await signIns.disconnect(now, undefined, scope === 'all');
      restart(name);
    }
    log.info('signed out', { server: name, scope, by: username });
    return ok(c, { name, scope }, { message: `Signed out of server ${name}.` });
  });

  return routes;
}

/**
 * The server, for a caller who may sign in to it. With one sign-in for all users the caller must manage the server;
 * with one per user it is enough to see it. Throws HubError `not_found` or `forbidden`.
 */
export function serverToSignInTo(caller: Caller, name: string, attempt: string): ServerSettings {
  const server = serverOf(caller, name);
  return isPerUser(server) ? server : managedServer(caller, name, attempt);
}

const disconnectInput = z.object({
  scope: z
    .enum(['tokens', 'all'], { error: 'allowed: "tokens", "all" (also the registration of the hub there)' })
    .default('tokens'),
});
