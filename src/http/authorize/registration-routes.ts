import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { redirectProblem } from '../../auth/oauth/clients.ts';
import type { Authorization } from '../../auth/oauth/open-authorization.ts';
import { authLimits } from '../../auth/limits.ts';
import type { ByteBudget } from '../../core/byte-budget.ts';
import { HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { networkOf } from '../../core/network.ts';
import type { Settings } from '../../core/settings/types.ts';
import { jsonBody, limitBody } from '../frame/body.ts';
import type { Arrived } from '../frame/client-address.ts';
import { answerOAuthErrors, OAuthRefusal } from './refusal.ts';

export interface RegistrationOptions {
  readonly settings: () => Settings;
  readonly authorization: Authorization;
  readonly addressOf: (req: Arrived) => string;
  /** The memory for bodies. */
  readonly bodies: ByteBudget;
  readonly log: Logger;
}

/** What of a client's metadata counts here (RFC 7591 §2); everything else is passed over, as §3.1 has it. */
const metadata = z.looseObject({
  client_name: z.string().optional(),
  redirect_uris: z.array(z.string()),
  grant_types: z.array(z.string()).optional(),
  response_types: z.array(z.string()).optional(),
});

/** `/oauth/register` (RFC 7591). It is open to all, so nothing is kept of what it answers. */
export function registrationRoutes({ settings, authorization, addressOf, bodies, log }: RegistrationOptions): Hono {
  const routes = new Hono();
  const count = countRegistrations();

  routes.post('/oauth/register', async (c) => {
    if (!settings().system.oauthServer.registration)
      throw new HubError('forbidden', 'Clients cannot register themselves at this hub.');
    count(addressOf((c.env as HttpBindings).incoming));
    const { client_name: name = '', redirect_uris: redirectUris, ...client } = await metadataOf(c, bodies);
    const problem = redirectsProblem(redirectUris);
    if (problem !== undefined) throw new OAuthRefusal('invalid_redirect_uri', problem);
    const asks = (values: readonly string[] | undefined, value: string): boolean => values?.includes(value) ?? true;
    if (!asks(client.grant_types, 'authorization_code') || !asks(client.response_types, 'code'))
      throw new OAuthRefusal('invalid_client_metadata', 'A client of this hub uses authorization_code and code.');
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

async function metadataOf(c: Context, budget: ByteBudget): Promise<z.infer<typeof metadata>> {
  limitBody(c.req.raw, { most: authLimits.registrationBytes, budget, isKnown: false });
  let body: unknown;
  try {
    body = await jsonBody(c.req.raw);
  } catch (error) {
    if (!(error instanceof HubError) || (error.code !== 'invalid_input' && error.code !== 'wrong_type')) throw error;
    throw new OAuthRefusal('invalid_client_metadata', error.message);
  }
  const { data, error } = metadata.safeParse(body);
  if (data) return data;
  const isRedirect = error.issues.some(({ path }) => path[0] === 'redirect_uris');
  throw new OAuthRefusal(
    isRedirect ? 'invalid_redirect_uri' : 'invalid_client_metadata',
    `Not as RFC 7591 has it: ${error.issues.map(({ path }) => path.join('.') || 'the body').join(', ')}.`,
  );
}

function redirectsProblem(redirectUris: readonly string[]): string | undefined {
  if (redirectUris.length === 0) return 'The redirect_uris are empty.';
  if (redirectUris.length > authLimits.redirectUris)
    return `There are more than ${authLimits.redirectUris} redirect_uris.`;
  const [bad] = redirectUris.flatMap((text) => redirectProblem(text) ?? []);
  return bad === undefined ? undefined : `One of the redirect_uris ${bad}.`;
}

/** As people read it: on one line, without characters that turn text around. */
export function clientName(said: string): string {
  const plain = said.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return plain === ''
    ? 'An app without a name'
    : plain.slice(0, authLimits.clientNameChars).replace(/[\ud800-\udbff]$/, '');
}

/** Throws HubError `too_many` past the registrations of an hour from one address. */
function countRegistrations(now: () => number = () => performance.now()): (address: string) => void {
  // All windows are equally long, so the first one ends first.
  const windows = new Map<string, { count: number; readonly endsAt: number }>();
  return (address) => {
    const at = now();
    const from = networkOf(address);
    let window = windows.get(from);
    if (!window || window.endsAt <= at) {
      windows.delete(from);
      for (const [oldest, { endsAt }] of windows) {
        if (windows.size < authLimits.registrationAddresses && endsAt > at) break;
        windows.delete(oldest);
      }
      window = { count: 0, endsAt: at + authLimits.registrationWindowMs };
      windows.set(from, window);
    }
    if (window.count >= authLimits.registrations)
      throw new HubError('too_many', 'Too many registrations from this address. Try again later.', {
        retryAfterMs: window.endsAt - at,
      });
    window.count++;
  };
}
