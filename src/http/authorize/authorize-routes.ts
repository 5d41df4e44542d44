import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import type { Login, LoginAttempt } from '../../auth/login.ts';
import { hostOf, type OAuthClient } from '../../auth/oauth/client.ts';
import type { Asked, Authorization, Code, LoggedInFor } from '../../auth/oauth/open-authorization.ts';
import { hashOf } from '../../auth/oauth/tickets.ts';
import { siteOf } from '../../auth/second-factor/passkeys.ts';
import { authLimits } from '../../auth/limits.ts';
import type { Tokens } from '../../auth/tokens.ts';
import type { ByteBudget } from '../../core/byte-budget.ts';
import type { AuditSink, Origin } from '../../core/audit.ts';
import { HubError } from '../../core/errors.ts';
import { saying } from '../../core/sentences.ts';
import type { Logger } from '../../core/logger.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import { bodyText, limitBody } from '../frame/body.ts';
import type { Arrived } from '../frame/client-address.ts';
import { passwordsFor, principalFrom, shownIn } from '../frame/login-form.ts';
import { httpLimits } from '../limits.ts';
import { askedIn, type Destination, destinationOf, type Place } from './asked.ts';
import { answerWithPages, consentPage, loginPage, messagePage } from './authorize-pages.ts';
import { countByAddress } from '../../auth/count-by-address.ts';
import { choicesOf, chosenIn } from './reach.ts';
import { OAuthRefusal } from './refusal.ts';

export interface AuthorizeOptions extends Place {
  readonly settings: () => Settings;
  /** Reads those that another hub may have written. */
  readonly newestSettings: () => Promise<unknown>;
  readonly authorization: Authorization;
  readonly login: Login;
  readonly tokens: Pick<Tokens, 'issue' | 'verify' | 'valid'>;
  /** Where people can log in besides. */
  readonly providers: () => readonly { readonly id: string; readonly name: string }[];
  /** The user whom a proxy says with a visit of this page. */
  readonly byProxy: (c: Context) => Promise<UserSettings | undefined>;
  /** What the browser was given for a way back from there; it is taken back. */
  readonly browserOf: (c: Context, back: string) => string | undefined;
  readonly addressOf: (req: Arrived) => string;
  /** The memory for bodies. */
  readonly bodies: ByteBudget;
  readonly audit: Pick<AuditSink, 'record' | 'afterKeeping'>;
  readonly log: Logger;
  /** For entries about security. */
  readonly security: Logger;
}

/**
 * `/oauth/authorize` (RFC 6749 §4.1): a page to log in, then a page to say what the client may do. Each page carries
 * what it needs of the one before, sealed, so any number of tabs go side by side, and a restart in between is no loss.
 */
export function authorizeRoutes(options: AuthorizeOptions): Hono {
  const { settings, authorization, login, tokens, addressOf, bodies, audit, log, security } = options;
  const { clients, requests, logins, codes } = authorization;
  const routes = new Hono();
  const count = countByAddress(authLimits.clientDocumentFetches, 'apps_new');
  const fetchingFor = (c: Context) => () => count(addressOf(arrived(c)));

  /** The client that asked, if it is still one that may have an answer there. */
  function again(c: Context, { clientId, redirectUri }: Asked) {
    const query = new URLSearchParams({ client_id: clientId, redirect_uri: redirectUri });
    return destinationOf(query, clients, fetchingFor(c));
  }

  routes.get('/oauth/authorize', async (c) => {
    const query = new URL(c.req.url).searchParams;
    const from = query.get('back');
    if (from !== null) return askConsent(c, await cameBack(c, from, options));
    const to = await destinationOf(query, clients, fetchingFor(c));
    try {
      const asked = askedIn(query, to, arrived(c), options);
      const user = await options.byProxy(c);
      const claims = user && (await tokens.verify(await tokens.issue(user)));
      if (user && claims) return await askConsent(c, { user, asked, login: claims });
      return await loginPage(c, { status: 200, client: to.client, ...waysToLogIn(options, requests.make(asked)) });
    } catch (error) {
      if (!(error instanceof OAuthRefusal)) throw error;
      return back(c, options, to, { error: error.error, error_description: error.message });
    }
  });

  routes.post('/oauth/authorize', async (c) => {
    // A page of another site must not let a client in.
    const site = c.req.header('sec-fetch-site');
    if (site !== undefined && site !== 'same-origin') return messagePage(c, 403, ({ text }) => text('sentByOther'));
    const form = await formOf(c, bodies);
    const loggedIn = form.get('login');
    return loggedIn === null ? logIn(c, form) : decide(c, form, logins.read(loggedIn), loggedIn);
  });

  async function logIn(c: Context, form: URLSearchParams) {
    const request = form.get('request') ?? '';
    const asked = requests.read(request);
    if (!asked) throw tooLate();
    const { client } = await again(c, asked);
    const address = addressOf(arrived(c));
    let user: UserSettings;
    try {
      const loggedIn = await login(attemptIn(c, form, options));
      ({ user } = loggedIn);
      principalFrom(loggedIn, settings());
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      if (error.retryAfterMs !== undefined) c.header('Retry-After', String(Math.ceil(error.retryAfterMs / 1000)));
      // Once more with all that the client asked for: the page may have been open for long.
      return loginPage(c, { status: error.status, client, error, ...waysToLogIn(options, requests.make(asked)) });
    }
    security.info('login', { user: user.username, address });
    audit.record({ ...byUser(user, address), action: 'login', target: user.username });
    const claims = await tokens.verify(await tokens.issue(user));
    if (!claims) throw tooLate();
    return askConsent(c, { user, asked, login: claims });
  }

  async function askConsent(c: Context, { user, asked, login }: LoggedInFor & { readonly user: UserSettings }) {
    const { client } = await again(c, asked);
    const choices = choicesOf(settings(), user, asked.endpoint);
    return consentPage(c, { status: 200, login: logins.make({ asked, login }), client, asked, ...choices });
  }

  async function decide(c: Context, form: URLSearchParams, ticket: LoggedInFor | undefined, text: string) {
    const user = ticket && settings().users.find(({ username }) => username === ticket.login.username);
    if (!ticket || !user || !tokens.valid(ticket.login, user)) throw tooLate();
    const { asked } = ticket;
    const { client } = await again(c, asked);
    const decisions = form.getAll('decision');
    // Two at once are none.
    const decision = decisions.length === 1 ? decisions[0] : undefined;
    const event = { ...byUser(user, addressOf(arrived(c))), action: 'grant.create', target: client.name };
    if (decision === 'deny') audit.record({ ...event, result: 'refused' });
    if (decision === 'deny') return back(c, options, asked, { error: 'access_denied' });
    if (decision !== 'allow') throw new HubError('invalid_input', 'Say whether the app may come in: allow or deny.');
    const page = { login: text, client, asked, ...choicesOf(settings(), user, asked.endpoint) };
    let chosen: ReturnType<typeof chosenIn>;
    try {
      chosen = chosenIn(form, asked, settings(), user);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      return consentPage(c, { ...page, status: error.status, error });
    }
    const code = codeFor(user, ticket, client, chosen);
    const { clientName, clientHost, scope } = code.consent;
    security.info('client let in', { user: user.username, client: clientName, host: clientHost, scope });
    audit.record({ ...event, after: { host: clientHost, scope, reach: code.consent.reach ?? 'all' } });
    return back(c, options, asked, { code: codes.make(code) });
  }

  routes.onError(answerWithPages(log));
  return routes;
}

/** A person who logged in at a provider, in this browser. Throws HubError for another browser, and too late. */
async function cameBack(c: Context, from: string, options: AuthorizeOptions) {
  const { authorization, settings, newestSettings, tokens, browserOf } = options;
  const came = authorization.backs.read(from);
  if (!came || browserOf(c, from) !== came.browser) throw tooLate();
  const find = () => settings().users.find(({ username }) => username === came.login.username);
  // Another hub may have made the account a moment ago.
  if (!find()) await newestSettings();
  const user = find();
  if (!user || !tokens.valid(came.login, user)) throw tooLate();
  return { user, asked: came.asked, login: came.login };
}

function attemptIn(c: Context, form: URLSearchParams, { addressOf, publicUrl }: AuthorizeOptions): LoginAttempt {
  const req = arrived(c);
  return { ...shownIn(form), address: addressOf(req), site: siteOf(publicUrl.origin(req)), via: 'oauth' };
}

/** What a user does on the pages of the authorization server. */
function byUser({ username }: UserSettings, address: string): Origin {
  return { actor: { kind: 'user', name: username }, address, via: 'oauth' };
}

/** How a user can log in, on a page for this request. */
function waysToLogIn({ settings, providers, publicUrl }: AuthorizeOptions, request: string) {
  const passwords = passwordsFor(settings());
  const query = new URLSearchParams({ request }).toString();
  const links = providers().map(({ id, name }) => ({
    name,
    href: `${publicUrl.prefix}/api/auth/oidc/${id}/start?${query}`,
  }));
  return { request, passwords, providers: request.length > authLimits.loginRequestChars ? [] : links };
}

/** What a code says after the user chose this. */
function codeFor(
  { username, createdAt }: UserSettings,
  { asked, login }: LoggedInFor,
  client: OAuthClient,
  chosen: ReturnType<typeof chosenIn>,
): Code {
  const { redirectUri, namedRedirect, challenge, endpoint, resource } = asked;
  const who = { id: randomUUID(), username, since: createdAt };
  const what = {
    client: hashOf(client.id),
    clientName: client.name,
    clientHost: hostOf(redirectUri),
    endpoint,
    resource,
  };
  const consent = { ...who, ...what, ...chosen, loginAt: login.issuedAt };
  return { consent, redirectUri, namedRedirect, challenge, login };
}

function arrived(c: Context): Arrived {
  return (c.env as HttpBindings).incoming;
}

/** Sends the browser back to the client: to an address that it registered, and never to another one. */
function back(
  c: Context,
  { publicUrl }: Pick<AuthorizeOptions, 'publicUrl'>,
  to: Pick<Destination, 'redirectUri' | 'state'>,
  answer: Record<string, string>,
) {
  const state: Record<string, string> = to.state === undefined ? {} : { state: to.state };
  const query = new URLSearchParams({ ...answer, ...state, iss: publicUrl.origin(arrived(c)) });
  c.header('Cache-Control', 'no-store');
  c.header('Referrer-Policy', 'no-referrer');
  return c.redirect(`${to.redirectUri}${to.redirectUri.includes('?') ? '&' : '?'}${query.toString()}`, 302);
}

async function formOf(c: Context, budget: ByteBudget): Promise<URLSearchParams> {
  limitBody(c.req.raw, { most: httpLimits.smallBodyBytes, budget, isKnown: false });
  return new URLSearchParams(await bodyText(c.req.raw));
}

function tooLate(): HubError {
  return saying('invalid_input', 'page_over');
}
