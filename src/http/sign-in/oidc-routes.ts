import type { HttpBindings } from '@hono/node-server';
import { saying } from '../../core/sentences.ts';
import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { countByAddress } from '../../auth/count-by-address.ts';
import { authLimits } from '../../auth/limits.ts';
import type { Authorization, OidcLogin } from '../../auth/oauth/open-authorization.ts';
import type { OidcClient, OidcPerson } from '../../auth/oidc/oidc-client.ts';
import type { LoggedOut } from '../../auth/oidc/logout-token.ts';
import type { SessionRefresh } from '../../auth/oidc/session-refresh.ts';
import type { LoginSessions } from '../../auth/sessions.ts';
import type { Tokens } from '../../auth/tokens.ts';
import type { AuditSink } from '../../core/audit.ts';
import { errorText, HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { OidcProvider } from '../../core/settings/login.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import type { ProviderAccounts } from '../../settings/user/provider-accounts.ts';
import { bodyText } from '../frame/body.ts';
import { recordRequest } from '../frame/audited.ts';
import type { ApiEnv } from '../frame/caller.ts';
import { oauthPage } from '../frame/oauth-page.ts';
import { pageLanguage } from '../frame/page-texts/page-language.ts';
import { tellRetryAfter } from '../frame/reply.ts';
import type { PublicUrl } from '../frame/public-url.ts';
import type { SessionCookies } from '../frame/session-cookie.ts';
import { httpLimits } from '../limits.ts';
import type { SignInCookies } from './cookie.ts';

export interface OidcOptions {
  /** Those where people can log in now. */
  readonly providers: () => readonly OidcProvider[];
  readonly client: OidcClient;
  readonly logoutToken: (
    token: string,
    provider: OidcProvider,
    end: (who: LoggedOut) => Promise<number>,
  ) => Promise<number>;
  readonly accountOf: ProviderAccounts;
  readonly keepRefresh: SessionRefresh['keep'];
  readonly sessions: Pick<LoginSessions, 'open' | 'endOfProvider'>;
  readonly tokens: Pick<Tokens, 'issue' | 'verify'>;
  readonly loginCookies: Pick<SessionCookies, 'give'>;
  readonly authorization: Pick<Authorization, 'requests' | 'oidcLogins' | 'backs'>;
  readonly cookies: SignInCookies;
  readonly publicUrl: PublicUrl;
  readonly audit: Pick<AuditSink, 'record' | 'counted'>;
  readonly log: Logger;
  /** For entries about security. */
  readonly accountLog: Logger;
}

/**
 * Logins at a company's provider (CONTRACT §8): `/auth/oidc/<id>/start`, where a browser is sent to the provider,
 * `callback`, where it comes back, and `backchannel-logout`, by which the provider ends sessions. Open to all: what
 * began a login is in a cookie of the browser, sealed, and counts once.
 */
export function oidcRoutes(options: OidcOptions): Hono<ApiEnv> {
  const { client, accountOf, sessions, tokens, authorization, cookies, publicUrl, accountLog } = options;
  const routes = new Hono<ApiEnv>();
  /** States that have come back, of which none counts twice. */
  const used = new Set<string>();
  let underWay = 0;
  const failures = countByAddress(authLimits.providerLoginFailures, 'provider_logins_failed');

  routes.get('/auth/oidc/:id/start', (c) =>
    answered(c, options, async () => {
      mustBeVisited(c);
      const provider = providerOf(c, options);
      const request = c.req.query('request');
      if (
        request !== undefined &&
        (request.length > authLimits.loginRequestChars || !authorization.requests.read(request))
      )
        throw saying('invalid_input', 'provider_login_old');
      const redirectUri = `${publicUrl.origin(arrived(c))}${publicUrl.prefix}/api/auth/oidc/${provider.id}/callback`;
      const { url, ...begun } = await client.begin(provider, redirectUri, c.req.query('fresh') !== undefined);
      const login: OidcLogin = { ...begun, provider: provider.id, request, back: pathIn(c.req.query('return')) };
      cookies.give(c, { state: begun.state, browser: authorization.oidcLogins.make(login) });
      return c.redirect(url, 302);
    }),
  );

  routes.get('/auth/oidc/:id/callback', (c) =>
    answered(c, options, async () => {
      const provider = providerOf(c, options);
      const { search } = new URL(c.req.url);
      if (search.length > httpLimits.callbackChars) throw new HubError('invalid_input', 'The answer is too long.');
      const answer = new URLSearchParams(search);
      const state = answer.get('state') ?? '';
      const login = authorization.oidcLogins.read(cookies.take(c, state));
      if (!login || login.state !== state || login.provider !== provider.id || used.has(state))
        throw saying('invalid_input', 'provider_login_elsewhere');
      countOnce(used, state);
      const { address } = c.var.caller;
      const account = await countingFailures(options, { provider, login, address }, async () => {
        mustBeLetIn(answer, provider);
        const person = await redeemed(provider, answer, login, address);
        return { user: await accountOf(provider, person, address), person };
      });
      return goOnAs(c, provider, account, login);
    }),
  );

  /** Each is a request to the provider: an address that sends made-up answers is refused after some. */
  async function redeemed(
    provider: OidcProvider,
    answer: URLSearchParams,
    login: OidcLogin,
    address: string,
  ): Promise<OidcPerson> {
    if (underWay >= authLimits.providerLoginsAtOnce)
      throw saying('too_many', 'provider_logins_at_once', {}, { retryAfterMs: 1_000 });
    const counted = failures(address);
    underWay++;
    try {
      const person = await client.finish(provider, answer, login);
      counted.takeBack();
      return person;
    } finally {
      underWay--;
    }
  }

  async function goOnAs(c: Context<ApiEnv>, provider: OidcProvider, { user, person }: Account, login: OidcLogin) {
    const { address } = c.var.caller;
    accountLog.info('login', { user: user.username, address, provider: provider.id });
    recordLogin(options, { provider, login, address }, user.username);
    if (login.request !== undefined) return backToConsent(c, user, login.request);
    const { subject, sid, authenticatedAt: loggedInAt = 0 } = person;
    const seen = { loggedInAt, address, userAgent: c.req.header('user-agent') ?? '' };
    const refresh = options.keepRefresh(provider, person);
    const through = { via: `oidc:${provider.id}`, provider: { subject, sid, refresh } } as const;
    options.loginCookies.give(c, await sessions.open({ user, secondFactor: true, ...through, ...seen }));
    return c.redirect(`${publicUrl.prefix}${login.back}`, 302);
  }

  /** A login for a client that asked to be let in: it gets no session, as with a password there. */
  async function backToConsent(c: Context, user: UserSettings, request: string) {
    const asked = authorization.requests.read(request);
    const claims = asked && (await tokens.verify(await tokens.issue(user)));
    if (!claims) throw saying('invalid_input', 'provider_login_late');
    const browser = crypto.randomUUID();
    const back = authorization.backs.make({ asked, login: claims, browser });
    cookies.give(c, { state: back, browser });
    return c.redirect(
      `${publicUrl.origin(arrived(c))}/oauth/authorize?${new URLSearchParams({ back }).toString()}`,
      302,
    );
  }

  routes.post('/auth/oidc/:id/backchannel-logout', (c) => endedByProvider(c, options));

  return routes;
}

/** Back-channel logout: the provider ends sessions that came from it. */
async function endedByProvider(c: Context<ApiEnv>, options: OidcOptions): Promise<Response> {
  const provider = providerOf(c, options);
  const form = new URLSearchParams(await bodyText(c.req.raw));
  const count = await options.logoutToken(form.get('logout_token') ?? '', provider, (who) =>
    options.sessions.endOfProvider(`oidc:${provider.id}`, who),
  );
  options.accountLog.info('provider ended sessions', { provider: provider.id, count });
  recordRequest(c, options.audit.record, { actor: { kind: 'provider', name: provider.id }, after: { count } });
  return c.body(null, 200);
}

interface Came {
  readonly provider: OidcProvider;
  readonly login: OidcLogin;
  readonly address: string;
}

function recordLogin({ audit }: OidcOptions, { provider, login, address }: Came, username: string): void {
  const actor = { kind: 'user', name: username } as const;
  const after = { provider: provider.id };
  audit.record({ actor, address, via: wayOf(login), action: 'login', target: username, after });
}

/** Counts a login that fails in the audit log. */
async function countingFailures<T>({ audit }: OidcOptions, came: Came, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { provider, login, address } = came;
    const actor = { kind: 'anonymous', name: '' } as const;
    const target = `provider ${provider.id}`;
    audit.counted({ actor, address, via: wayOf(login), action: 'login', target, result: 'failed' });
    throw error;
  }
}

/** A login for a client that asks to be let in, or one at the dashboard. */
function wayOf({ request }: OidcLogin): 'oauth' | 'dashboard' {
  return request === undefined ? 'dashboard' : 'oauth';
}

interface Account {
  readonly user: UserSettings;
  readonly person: OidcPerson;
}

/**
 * A link on a page of another site may begin a login, as one on the company's own does. What such a page loads without
 * leading the browser here (an image, a frame, a script) may not: it would begin logins that no person asked for.
 */
function mustBeVisited(c: Context): void {
  const destination = c.req.header('sec-fetch-dest') ?? 'document';
  if (destination !== 'document')
    throw new HubError('forbidden', 'A login begins with a visit to this address, and not as a part of another page.');
}

function arrived(c: Context) {
  return (c.env as HttpBindings).incoming;
}

function providerOf(c: Context, { providers }: Pick<OidcOptions, 'providers'>): OidcProvider {
  const provider = providers().find(({ id }) => id === c.req.param('id'));
  if (!provider) throw saying('not_found', 'provider_unknown');
  return provider;
}

function mustBeLetIn(answer: URLSearchParams, { name }: OidcProvider): void {
  if (!answer.has('error')) return;
  throw saying('forbidden', 'provider_refused', { name });
}

/** A path of the hub, and nothing that a browser takes for another host. */
function pathIn(text: string | undefined): string {
  const base = 'http://hub';
  if (text === undefined || text.length > httpLimits.returnPathChars || !/^\/(?![/\\])/.test(text)) return '/';
  const url = URL.canParse(text, base) ? new URL(text, base) : undefined;
  return url?.origin === base ? `${url.pathname.replace(/^\/+/, '/')}${url.search}` : '/';
}

function countOnce(used: Set<string>, state: string): void {
  used.add(state);
  const [oldest] = used;
  if (used.size > authLimits.logoutTokens && oldest !== undefined) used.delete(oldest);
}

/** People see these failures, and not programs. */
async function answered(c: Context, { publicUrl, log }: OidcOptions, work: () => Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HubError) tellRetryAfter(c, error);
    else log.error('login at a provider failed', { error: errorText(error) });
    const language = await pageLanguage(c);
    const [status, text] =
      error instanceof HubError ? [error.status, language.failure(error)] : [500, language.text('wentWrong')];
    return oauthPage(c, {
      status: status as ContentfulStatusCode,
      language,
      title: language.text('notLoggedIn'),
      content: html`<p>${text}</p>
        <p><a href="${publicUrl.prefix}/">${language.text('backToHub')}</a></p>`,
    });
  }
}
