import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Login } from '../../auth/login.ts';
import { siteOf } from '../../auth/second-factor/passkeys.ts';
import type { AuditSink } from '../../core/audit.ts';
import type { ByteBudget } from '../../core/byte-budget.ts';
import { errorText, HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { bodyText, limitBody } from '../frame/body.ts';
import { type Caller, callerNow } from '../frame/caller.ts';
import type { Arrived } from '../frame/client-address.ts';
import { loginFields, passwordForm, passwordsFor, principalFrom, problemOf, shownIn } from '../frame/login-form.ts';
import type { PublicUrl } from '../frame/public-url.ts';
import { httpLimits } from '../limits.ts';
import type { SignInCookies } from './cookie.ts';
import { oauthPage } from '../frame/oauth-page.ts';
import { type Content, type PageLanguage, pageLanguage } from '../frame/page-texts/page-language.ts';
import { serverToSignInTo, type SignInBeginning } from './server-oauth.ts';

export interface SignInPageOptions {
  readonly settings: () => Settings;
  readonly login: Login;
  readonly addressOf: (req: Arrived) => string;
  readonly begin: SignInBeginning;
  /** Where people can log in besides, or instead. */
  readonly providers: () => readonly { readonly id: string; readonly name: string }[];
  readonly publicUrl: Pick<PublicUrl, 'prefix' | 'origin'>;
  readonly cookies: SignInCookies;
  /** The memory for bodies. */
  readonly bodies: ByteBudget;
  readonly audit: Pick<AuditSink, 'record'>;
  readonly log: Logger;
  /** For entries about security. */
  readonly security: Logger;
}

/**
 * `/oauth/sign-in/<server>`: the address that is given to users who have to sign in to a server. It is the same for all
 * users and no secret, because a user who opens it has to log in to the hub first. The sign-in at the server then
 * belongs to that user of the hub. The page says nothing about the server before that. Never below `BASE_PATH`.
 */
export function signInPageRoutes(options: SignInPageOptions): Hono {
  const { settings, login, addressOf, begin, publicUrl, cookies, bodies, audit, log, security } = options;
  const routes = new Hono();

  async function form(c: Context, status: ContentfulStatusCode, error?: HubError) {
    return formPage(c, status, waysIn(c.req.param('server') ?? '', options), await pageLanguage(c), error);
  }

  async function callerFrom(c: Context): Promise<Caller> {
    limitBody(c.req.raw, { most: httpLimits.smallBodyBytes, budget: bodies, isKnown: false });
    const form = new URLSearchParams(await bodyText(c.req.raw));
    const { incoming } = c.env as HttpBindings;
    const address = addressOf(incoming);
    const site = siteOf(publicUrl.origin(incoming));
    const loggedIn = await login({ ...shownIn(form), address, site, via: 'dashboard' });
    const principal = principalFrom(loggedIn, settings());
    const { username: target } = loggedIn.user;
    security.info('login', { user: target, address });
    const actor = { kind: 'user', name: target } as const;
    audit.record({ actor, address, via: 'dashboard', action: 'login', target });
    return callerNow(() => ({ principal }), settings, address);
  }

  routes.get('/oauth/sign-in/:server', (c) => form(c, 200));

  routes.post('/oauth/sign-in/:server', async (c) => {
    // A page of another site must not begin a sign-in as another user in this browser.
    const site = c.req.header('sec-fetch-site');
    if (site !== undefined && site !== 'same-origin') return message(c, 403, ({ text }) => text('sentByOtherOpenThis'));
    const name = c.req.param('server');
    try {
      const caller = await callerFrom(c);
      const server = serverToSignInTo(caller, name, `Cannot sign in to server "${name}"`);
      const begun = await begin(server, caller.user?.username ?? '');
      log.info('sign-in begun', { server: name, by: caller.user?.username ?? '' });
      cookies.give(c, begun);
      c.header('Cache-Control', 'no-store');
      c.header('Referrer-Policy', 'no-referrer');
      return c.redirect(begun.authorizationUrl, 303);
    } catch (error) {
      if (!(error instanceof HubError)) {
        log.error('sign-in not begun', { error: errorText(error) });
        return message(c, 500, ({ text }) => text('wentWrong'));
      }
      const status = error.status as ContentfulStatusCode;
      const { code, secondFactor } = error;
      if (code === 'unauthenticated' || code === 'too_many' || secondFactor) return form(c, status, error);
      return message(c, status, ({ failure }) => failure(error));
    }
  });

  return routes;
}

async function message(
  c: Context,
  status: ContentfulStatusCode,
  say: (language: PageLanguage) => Content | string,
): Promise<Response> {
  const language = await pageLanguage(c);
  return oauthPage(c, {
    status,
    language,
    title: language.text('notSignedIn'),
    content: html`<p>${say(language)}</p>`,
  });
}

interface WaysIn {
  readonly server: string;
  readonly passwords: ReturnType<typeof passwordsFor>;
  readonly providers: readonly { readonly name: string; readonly href: string }[];
}

/** After a login at a provider the dashboard shows the server, with a button that signs in to it. */
function waysIn(server: string, { settings, providers, publicUrl }: SignInPageOptions): WaysIn {
  const query = new URLSearchParams({ return: `/servers/${encodeURIComponent(server)}` }).toString();
  return {
    server,
    passwords: passwordsFor(settings()),
    providers: providers().map(({ id, name }) => ({
      name,
      href: `${publicUrl.prefix}/api/auth/oidc/${id}/start?${query}`,
    })),
  };
}

function formPage(
  c: Context,
  status: ContentfulStatusCode,
  { server, passwords, providers }: WaysIn,
  language: PageLanguage,
  error?: HubError,
) {
  const { text, rich } = language;
  const asked = error?.secondFactor;
  const problem = error && problemOf(language, error);
  const fields = html`<form method="post">
    ${loginFields(language, asked)}
    <button>${text('continueButton')}</button>
  </form>`;
  const content = html`<p>${text('signInLead')}</p>
    ${problem === undefined ? '' : html`<p class="unhealthy" role="alert">${problem}</p>`}
    ${(asked ? [] : providers).map(({ name, href }) => {
      const link = html`<a href="${href}">${text('logInWith', { provider: name })}</a>`;
      return html`<p>${rich('signInAfter', { link })}</p>`;
    })}
    ${passwordForm(language, fields, passwords, asked !== undefined || problem !== undefined)}`;
  return oauthPage(c, {
    status,
    language,
    title: text('signIn', { server }),
    content,
    hasForm: true,
    hasPasskey: asked?.passkey !== undefined,
  });
}
