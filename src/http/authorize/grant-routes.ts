import { Hono } from 'hono';
import type { LastUses } from '../../auth/last-uses.ts';
import type { Consent, Consents } from '../../auth/oauth/consents.ts';
import type { Tokens } from '../../auth/tokens.ts';
import type { OAuthGrant } from '../../core/answers/settings.ts';
import type { Logger } from '../../core/logger.ts';
import { saying } from '../../core/sentences.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { Editor } from '../../settings/document/document.ts';
import { type ApiEnv, editorOf } from '../frame/caller.ts';
import { ok } from '../frame/reply.ts';
import { endConsent } from './token-routes.ts';

export interface GrantOptions {
  readonly consents: Pick<Consents, 'all' | 'end'>;
  readonly tokens: Pick<Tokens, 'revokeConsent'>;
  readonly uses: Pick<LastUses, 'read'>;
  readonly log: Logger;
}

/** `/auth/grants` (CONTRACT §8): the clients that users let in. Users see their own, admins all; no key sees any. */
export function grantRoutes({ consents, tokens, uses, log }: GrantOptions): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  /** What an account of the same name let in before this one was made is neither its user's nor of any use. */
  async function seenBy({ username, isAdmin }: Editor, { users }: Settings): Promise<readonly Consent[]> {
    const own = (await consents.all()).filter((consent) => isAdmin || consent.username === username);
    const made = new Map(users.map((user) => [user.username, user.createdAt]));
    return own.filter((consent) => made.has(consent.username) && made.get(consent.username) === consent.since);
  }

  routes.get('/auth/grants', async (c) => {
    const seen = await seenBy(editorOf(c.var.caller), c.var.caller.settings);
    const usedAt = await uses.read();
    return ok(
      c,
      seen.map((consent) => answerOf(consent, c.var.caller.settings, usedAt(`grant:${consent.id}`))),
    );
  });

  routes.delete('/auth/grants/:id', async (c) => {
    const by = editorOf(c.var.caller);
    const id = c.req.param('id');
    const consent = (await seenBy(by, c.var.caller.settings)).find((consent) => consent.id === id);
    if (!consent || !(await endConsent(consent, { consents, tokens }))) throw saying('not_found', 'no_grant');
    log.info('client shut out', { user: consent.username, client: consent.clientName, by: by.username });
    return ok(c, undefined, { message: 'The app has no access any more.' });
  });

  return routes;
}

function answerOf(consent: Consent, { groups }: Settings, lastUse = 0): OAuthGrant {
  const { id, username, clientName, clientHost, resource, reach, scope = 'mcp', createdAt, usedAt } = consent;
  const groupName = (id: string): string => groups.find((group) => group.id === id)?.name ?? id;
  return {
    id,
    username,
    clientName,
    clientHost,
    resource,
    scope,
    reach: reach ? [...reach.groups.map(groupName), ...reach.servers] : ['all'],
    createdAt: new Date(createdAt).toISOString(),
    lastUsedAt: new Date(Math.max(usedAt, lastUse)).toISOString(),
  };
}
