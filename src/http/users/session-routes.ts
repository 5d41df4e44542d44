import { Hono } from 'hono';
import type { SeenSession } from '../../auth/session-store.ts';
import type { LoginSessions } from '../../auth/sessions.ts';
import type { LoginSession } from '../../core/answers/settings.ts';
import { HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { saying } from '../../core/sentences.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import type { ApiEnv, Caller } from '../frame/caller.ts';
import { ok } from '../frame/reply.ts';

export interface SessionOptions {
  readonly sessions: Pick<LoginSessions, 'ofUser' | 'end'>;
  readonly log: Logger;
}

/** `/auth/sessions`: where a user is logged in by a browser. Each user has their own, admins too. */
export function sessionRoutes({ sessions, log }: SessionOptions): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get('/auth/sessions', async (c) => {
    const own = await sessions.ofUser(inPerson(c.var.caller));
    const current = c.var.caller.session?.claims.jti;
    return ok(
      c,
      own.map((seen) => answerOf(seen, current)),
    );
  });

  routes.delete('/auth/sessions/:id', async (c) => {
    const user = inPerson(c.var.caller);
    const id = c.req.param('id');
    const ended = await sessions.end(user.username, ({ claims }) => claims.jti === id);
    if (ended === 0) throw saying('not_found', 'no_session');
    log.info('session ended', { user: user.username, address: c.var.caller.address });
    return ok(c, undefined, { message: 'The session has ended.' });
  });

  routes.delete('/auth/sessions', async (c) => {
    const user = inPerson(c.var.caller);
    const current = c.var.caller.session?.claims.jti;
    const ended = await sessions.end(user.username, ({ claims }) => claims.jti !== current);
    log.info('other sessions ended', { user: user.username, ended, address: c.var.caller.address });
    return ok(c, { ended }, { message: 'All other sessions have ended.' });
  });

  return routes;
}

/** Throws HubError `forbidden` for an access key, and for a client that acts for its user. */
function inPerson({ principal, user }: Caller): UserSettings {
  if (principal.kind !== 'user' || principal.app !== undefined || !user)
    throw new HubError('forbidden', 'Only a user who has logged in sees sessions. Log in as a user.');
  return user;
}

function answerOf({ session, seenAt }: SeenSession, current: string | undefined): LoginSession {
  const { claims, via, address, userAgent } = session;
  return {
    id: claims.jti,
    via,
    createdAt: new Date(claims.issuedAt).toISOString(),
    lastSeenAt: new Date(seenAt).toISOString(),
    address,
    userAgent,
    current: claims.jti === current,
  };
}
