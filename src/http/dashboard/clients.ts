import { Hono } from 'hono';
import type { Principal } from '../../core/access/principal.ts';
import { userOf } from '../../core/access/identity.ts';
import type { ClientSeen } from '../../core/answers/records.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { type ApiEnv, editorOf } from '../frame/caller.ts';
import { ok } from '../frame/reply.ts';

/** A client that has said who it is, as `mcp/` knows it. */
interface Arrival {
  readonly id: string;
  readonly principal: Principal;
  readonly name: string;
  readonly version: string;
  readonly scope: string;
  readonly at: number;
  readonly hasCalled: boolean;
}

export interface ClientRoutes {
  readonly arrivals: { list(): readonly Arrival[] };
}

/**
 * `GET /clients`, for who logged in: the clients that connected last, newest first; for a user the own ones, for an
 * admin all. What they call themselves is a text of strangers.
 */
export function clientRoutes({ arrivals }: ClientRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  routes.get('/clients', (c) => {
    const { settings } = c.var.caller;
    const { username, isAdmin } = editorOf(c.var.caller);
    const seen = arrivals.list().flatMap((arrival) => {
      const user = userOf(settings, arrival.principal);
      return isAdmin || user?.username === username ? [answerOf(arrival, user?.username, settings)] : [];
    });
    return ok(c, seen);
  });
  return routes;
}

function answerOf(
  { id, principal, name, version, scope, at, hasCalled }: Arrival,
  username: string | undefined,
  { keys }: Settings,
): ClientSeen {
  const key = principal.kind === 'key' ? keys.find((each) => each.id === principal.id) : undefined;
  return {
    id,
    name,
    version,
    scope,
    at: new Date(at).toISOString(),
    hasCalled,
    credential: principal.kind,
    ...(username !== undefined && { username }),
    ...(key && { keyId: key.id, keyName: key.name }),
  };
}
