import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { isDocumentId } from '../../auth/oauth/client-documents.ts';
import type { Authorization, Refresh } from '../../auth/oauth/open-authorization.ts';
import { type Consent, type Consents } from '../../auth/oauth/consents.ts';
import { hashOf } from '../../auth/oauth/tickets.ts';
import { authLimits } from '../../auth/limits.ts';
import type { Tokens } from '../../auth/tokens.ts';
import type { AuditSink } from '../../core/audit.ts';
import { errorText } from '../../core/errors.ts';
import type { ByteBudget } from '../../core/byte-budget.ts';
import type { Logger } from '../../core/logger.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import { bodyText, limitBody } from '../frame/body.ts';
import type { Arrived } from '../frame/client-address.ts';
import { httpLimits } from '../limits.ts';
import { asksForApi, type Place, resourceIn } from './asked.ts';
import { answerOAuthErrors, OAuthRefusal, single } from './refusal.ts';

export interface TokenOptions extends Place {
  readonly settings: () => Settings;
  readonly authorization: Authorization;
  readonly tokens: Pick<Tokens, 'issueApp' | 'verify' | 'valid' | 'revokeConsent'>;
  /** The memory for bodies. */
  readonly bodies: ByteBudget;
  readonly audit: Pick<AuditSink, 'record'>;
  readonly addressOf: (req: Arrived) => string;
  readonly log: Logger;
  /** For entries about security. */
  readonly security: Logger;
}

/**
 * Ends a consent and all its tokens, on every hub. Gives it; undefined when it had ended. Throws HubError when one of
 * the two cannot be written down: the tokens are refused here all the same.
 */
export async function endConsent(
  { id, username }: Pick<Consent, 'id' | 'username'>,
  { consents, tokens }: { consents: Pick<Consents, 'end'>; tokens: Pick<Tokens, 'revokeConsent'> },
): Promise<Consent | undefined> {
  let ended: Consent | undefined;
  try {
    await tokens.revokeConsent(username, id);
  } finally {
    ended = await consents.end(id);
  }
  return ended;
}

/** `/oauth/token` (RFC 6749 §3.2) and `/oauth/revoke` (RFC 7009). */
export function tokenRoutes(options: TokenOptions): Hono {
  const { authorization, tokens, log, security } = options;
  const { clients, consents, codes, refreshes } = authorization;
  const routes = new Hono();

  async function answer(c: Context, form: URLSearchParams, user: UserSettings, consent: Consent) {
    const { id, generation, client, endpoint, resource, reach } = consent;
    const issuer = options.publicUrl.origin((c.env as HttpBindings).incoming);
    // A client may take less than it may have (RFC 6749 §6).
    const taken = single(form, 'scope');
    const scope = consent.scope && (taken === undefined || asksForApi(taken)) ? consent.scope : 'mcp';
    const app = { consent: id, endpoint, reach, scope, issuer, resource };
    c.header('Cache-Control', 'no-store');
    c.header('Pragma', 'no-cache');
    return c.json({
      access_token: await tokens.issueApp(user, app),
      token_type: 'Bearer',
      expires_in: authLimits.appTokenMs / 1000,
      refresh_token: refreshes.make([id, generation, client, endpoint]),
      scope,
    });
  }

  /** A client that is not known, or no longer, is told so: it has to register again before it asks the user. */
  async function unlessUnknown(clientId: string, refused: OAuthRefusal): Promise<OAuthRefusal> {
    if (isDocumentId(clientId) || (await clients.find(clientId))) return refused;
    return new OAuthRefusal('invalid_client', 'This hub does not know the client, or no longer. Register it again.');
  }

  /** Ends all tokens of a consent of which something was used again that works once. */
  async function endReplayed(c: Context, consent: Consent, what: 'code' | 'refresh token'): Promise<void> {
    const ended = await endConsent(consent, { consents, tokens });
    security.warn(`${what} used again; the client has to be let in again`, {
      user: ended?.username,
      client: ended?.clientName,
    });
    if (ended) recordEnd(c, ended, options, { why: `its ${what} was used again` });
  }

  async function redeem(c: Context, form: URLSearchParams, clientId: string) {
    const code = codes.read(single(form, 'code'));
    const refused = new OAuthRefusal('invalid_grant', 'The code is not valid, or no longer.');
    if (!code || code.consent.client !== hashOf(clientId)) throw await unlessUnknown(clientId, refused);
    const redirectUri = single(form, 'redirect_uri');
    if (redirectUri === undefined ? code.namedRedirect : redirectUri !== code.redirectUri)
      throw new OAuthRefusal('invalid_grant', 'The redirect_uri is not the one that the code was asked for with.');
    const verifier = single(form, 'code_verifier') ?? '';
    if (!/^[\w.~-]{43,128}$/.test(verifier) || hashOf(verifier) !== code.challenge)
      throw new OAuthRefusal('invalid_grant', 'The code_verifier does not fit the code.');
    mustFit(form, code.consent.endpoint, c, options);
    const user = userOf(code.consent, options);
    if (!user || !tokens.valid(code.login, user)) throw refused;
    const at = Date.now();
    const consent = { ...code.consent, createdAt: at, usedAt: at, generation: 1, rotatedAt: at };
    const pushedOut = await consents.add(consent);
    if (pushedOut === undefined) {
      // With the verifier two had it who are the client, or say so. One of them may be a thief (RFC 6749 §4.1.2).
      await endReplayed(c, consent, 'code');
      throw refused;
    }
    for (const one of pushedOut) await shutOut(c, one, options);
    return answer(c, form, user, consent);
  }

  async function renew(c: Context, form: URLSearchParams, clientId: string) {
    const refresh = refreshes.read(single(form, 'refresh_token'));
    const refused = new OAuthRefusal('invalid_grant', 'The refresh token is not valid, or no longer.');
    if (!refresh || refresh[2] !== hashOf(clientId)) throw await unlessUnknown(clientId, refused);
    const [id, generation, , endpoint] = refresh;
    mustFit(form, endpoint, c, options);
    // Before the refresh token is used up: the client can come back with less.
    if (asksForApi(single(form, 'scope')) && !asksForApi((await consentOf(id, consents))?.scope))
      throw new OAuthRefusal('invalid_scope', 'The user did not let this client have the scope api.');
    const rotation = await consents.rotate(id, generation);
    if (rotation.kind === 'replayed') {
      await endReplayed(c, rotation.consent, 'refresh token');
    }
    if (rotation.kind !== 'good') throw refused;
    const user = userOf(rotation.consent, options);
    if (user) return answer(c, form, user, rotation.consent);
    await endConsent(rotation.consent, { consents, tokens });
    throw refused;
  }

  routes.post('/oauth/token', async (c) => {
    const form = await formOf(c, options);
    const clientId = clientIdOf(form, c.req.header('authorization'));
    const grantType = single(form, 'grant_type');
    if (grantType === 'authorization_code') return redeem(c, form, clientId);
    if (grantType === 'refresh_token') return renew(c, form, clientId);
    if (grantType === undefined) throw new OAuthRefusal('invalid_request', 'The parameter grant_type is missing.');
    throw new OAuthRefusal('unsupported_grant_type', 'The grant_type is authorization_code or refresh_token.');
  });

  routes.on(['GET', 'PUT', 'DELETE', 'PATCH'], ['/oauth/token', '/oauth/revoke'], (c) => {
    c.header('Allow', 'POST');
    return c.json({ error: 'invalid_request', error_description: 'Send it with POST.' }, 405);
  });

  routes.route('/', revokeRoute(options));
  routes.onError(answerOAuthErrors(log));
  return routes;
}

function revokeRoute(options: TokenOptions): Hono {
  const { authorization, tokens } = options;
  const { consents, refreshes } = authorization;
  const routes = new Hono();

  /**
   * A client ends what a token of its own is from; it has no secret and says who it is. The answer is the same for a
   * token that is none (RFC 7009 §2.1 and §2.2).
   */
  routes.post('/oauth/revoke', async (c) => {
    const form = await formOf(c, options);
    const token = single(form, 'token');
    if (token === undefined) throw new OAuthRefusal('invalid_request', 'The parameter token is missing.');
    const client = hashOf(clientIdOf(form, c.req.header('authorization')));
    const refresh: Refresh | undefined = refreshes.read(token);
    const id = refresh?.[0] ?? (await tokens.verify(token))?.app?.consent;
    const consent = id === undefined ? undefined : await consentOf(id, consents);
    if (consent && consent.client !== client)
      throw new OAuthRefusal('invalid_grant', 'The token was given to another client.');
    if (consent && (await endConsent(consent, { consents, tokens }))) recordEnd(c, consent, options);
    return c.body(null, 200);
  });

  routes.onError(answerOAuthErrors(options.log));
  return routes;
}

/** Ends the tokens of a consent that has made room for another one: its user sees it no more, and cannot end it. */
async function shutOut(c: Context, consent: Consent, options: TokenOptions): Promise<void> {
  const { username: user, clientName: client, id } = consent;
  try {
    await options.tokens.revokeConsent(user, id);
  } catch (error) {
    // The client that was let in has used its code, and has to get its answer. Writing the end down is tried again.
    options.log.error('the end of the tokens of a client that was shut out is not written down yet', {
      user,
      client,
      error: errorText(error),
    });
  }
  options.security.info('client shut out: its user let in too many', { user, client });
  recordEnd(c, consent, options, { why: `its user let in more than ${authLimits.consentsPerUser}` });
}

/** A client ended what its user had let it do, or it ended by what the client did. */
function recordEnd(
  c: Context,
  { username, clientName: target }: Consent,
  { audit, addressOf }: TokenOptions,
  after?: { readonly why: string },
): void {
  const address = addressOf((c.env as HttpBindings).incoming);
  const actor = { kind: 'app', name: username } as const;
  audit.record({ actor, address, via: 'oauth', action: 'grant.end', target, after });
}

async function consentOf(id: string, consents: Consents): Promise<Consent | undefined> {
  return (await consents.all()).find((consent) => consent.id === id);
}

async function formOf(c: Context, { bodies }: TokenOptions): Promise<URLSearchParams> {
  limitBody(c.req.raw, { most: httpLimits.smallBodyBytes, budget: bodies, isKnown: false });
  const text = await bodyText(c.req.raw);
  if (!/^application\/x-www-form-urlencoded\b/i.test(c.req.header('content-type') ?? ''))
    throw new OAuthRefusal('invalid_request', 'The Content-Type has to be application/x-www-form-urlencoded.');
  return new URLSearchParams(text);
}

/** The user of a consent, if what they let in still holds. */
function userOf(
  { id, username, since, loginAt }: Pick<Consent, 'id' | 'username' | 'since' | 'loginAt'>,
  { settings, tokens }: TokenOptions,
): UserSettings | undefined {
  const user = settings().users.find((user) => user.username === username && user.createdAt === since);
  const claims = { username, jti: id, issuedAt: loginAt, expiresAt: Number.POSITIVE_INFINITY };
  return user && tokens.valid(claims, user) ? user : undefined;
}

/** A client may name what it has a token for; it gets no token for anything else. */
function mustFit(form: URLSearchParams, endpoint: string, c: Context, options: TokenOptions): void {
  if (!form.has('resource')) return;
  if (resourceIn(form, (c.env as HttpBindings).incoming, options).endpoint !== endpoint)
    throw new OAuthRefusal('invalid_target', 'The resource is not the one that the user let this client use.');
}

/** Clients have no secret; some name themselves in a header all the same (RFC 6749 §2.3.1). */
function clientIdOf(form: URLSearchParams, authorization: string | undefined): string {
  const named = single(form, 'client_id');
  const [, basic] = /^Basic ([\w+/=]+)$/i.exec(authorization ?? '') ?? [];
  const text = basic === undefined ? undefined : Buffer.from(basic, 'base64').toString();
  const inHeader = text === undefined ? undefined : new URLSearchParams(`id=${text.split(':', 1)[0] ?? ''}`).get('id');
  const id = named ?? inHeader ?? undefined;
  if (id === undefined || id.length > authLimits.clientIdChars)
    throw new OAuthRefusal('invalid_client', 'The client has to name itself: client_id.');
  return id;
}
