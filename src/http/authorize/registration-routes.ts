import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import type { z } from 'zod';
import { clientMetadata, clientName, redirectsProblem } from '../../auth/oauth/client.ts';
import type { Authorization } from '../../auth/oauth/open-authorization.ts';
import { authLimits } from '../../auth/limits.ts';
import type { ByteBudget } from '../../core/byte-budget.ts';
import { HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { jsonBody, limitBody } from '../frame/body.ts';
import type { Arrived } from '../frame/client-address.ts';
import { countByAddress } from '../../auth/count-by-address.ts';
import { answerOAuthErrors, OAuthRefusal } from './refusal.ts';

export interface RegistrationOptions {
  readonly settings: () => Settings;
  readonly authorization: Authorization;
  readonly addressOf: (req: Arrived) => string;
  /** The memory for bodies. */
  readonly bodies: ByteBudget;
  readonly log: Logger;
}

/** `/oauth/register` (RFC 7591). It is open to all, so nothing is kept of what it answers. */
export function registrationRoutes({ settings, authorization, addressOf, bodies, log }: RegistrationOptions): Hono {
  const routes = new Hono();
  const count = countByAddress(authLimits.registrations, 'registrations_many');

  routes.post('/oauth/register', async (c) => {
    if (!settings().system.oauthServer.registration)
      throw new HubError('forbidden', 'Clients cannot register themselves at this hub.');
    count(addressOf((c.env as HttpBindings).incoming));
    const { client_name: name = '', redirect_uris: redirectUris } = await metadataOf(c, bodies);
    const problem = redirectsProblem(redirectUris);
    if (problem !== undefined) throw new OAuthRefusal('invalid_redirect_uri', problem);
    const { id, name: shown } = authorization.clients.register({ name: clientName(name), redirectUris });
    if (id.length > authLimits.clientIdChars)
      throw new OAuthRefusal('invalid_client_metadata', 'The redirect_uris are too long, all together.');
    c.header('Cache-Control', 'no-store');
    return c.json(
      {
        client_id: id,
        client_id_issued_at: Math.floor(Date.now() / 1000),
        client_name: shown,
        redirect_uris: redirectUris,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        scope: 'mcp',
      },
      201,
    );
  });

  routes.onError(answerOAuthErrors(log));
  return routes;
}

async function metadataOf(c: Context, budget: ByteBudget): Promise<z.infer<typeof clientMetadata>> {
  limitBody(c.req.raw, { most: authLimits.registrationBytes, budget, isKnown: false });
  let body: unknown;
  try {
    body = await jsonBody(c.req.raw);
  } catch (error) {
    if (!(error instanceof HubError) || (error.code !== 'invalid_input' && error.code !== 'wrong_type')) throw error;
    throw new OAuthRefusal('invalid_client_metadata', error.message);
  }
  const { data, error } = clientMetadata.safeParse(body);
  if (data) return data;
  const isRedirect = error.issues.some(({ path }) => path[0] === 'redirect_uris');
  throw new OAuthRefusal(
    isRedirect ? 'invalid_redirect_uri' : 'invalid_client_metadata',
    `Not as RFC 7591 has it: ${error.issues.map(({ path }) => path.join('.') || 'the body').join(', ')}.`,
  );
}
