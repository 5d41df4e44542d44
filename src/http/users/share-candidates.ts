import { Hono } from 'hono';
import { saying } from '../../core/sentences.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { type ApiEnv, editorOf } from '../frame/caller.ts';
import { groupOf, managedServer } from '../frame/reachable.ts';
import { ok } from '../frame/reply.ts';

/**
 * `/servers/:name/share-candidates` and `/groups/:id/share-candidates` (reference: MCPHub §1.4, §1.5): the users with
 * whom a user who may change it can share it.
 */
export function shareCandidateRoutes(): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get('/servers/:name/share-candidates', (c) => {
    const { caller } = c.var;
    const name = c.req.param('name');
    const { owner } = managedServer(caller, name, `Cannot share server "${name}"`);
    return ok(c, allBut(caller.settings, owner));
  });

  routes.get('/groups/:id/share-candidates', (c) => {
    const { caller } = c.var;
    const { owner, name } = groupOf(caller, c.req.param('id'));
    const by = editorOf(caller);
    if (!by.isAdmin && by.username !== owner) {
      throw saying('forbidden', 'not_yours', { attempt: `Cannot share group "${name}"`, owner });
    }
    return ok(c, allBut(caller.settings, owner));
  });

  return routes;
}

function allBut({ users }: Settings, owner: string): string[] {
  return users
    .map(({ username }) => username)
    .filter((username) => username !== owner)
    .sort();
}
