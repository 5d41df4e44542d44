import { Hono } from 'hono';
import { oauthCallbackRoutes, type OAuthCallbackOptions } from './oauth-callback.ts';
import { signInPageRoutes, type SignInPageOptions } from './sign-in-page.ts';

export interface OAuthRoutesOptions extends Omit<SignInPageOptions, 'begin' | 'settings'> {
  readonly settings: { readonly current: ReturnType<SignInPageOptions['settings']> };
  readonly signIns: Pick<OAuthCallbackOptions, 'finish' | 'clientDocument'> & Pick<SignInPageOptions, 'begin'>;
}

/** Where people begin to sign in to servers, and where they come back to. */
export function oauthRoutes({ settings, signIns, ...page }: OAuthRoutesOptions): Hono {
  const { begin, finish, clientDocument } = signIns;
  const { cookies, log } = page;
  const routes = new Hono();
  routes.route('/', oauthCallbackRoutes({ finish, clientDocument, cookies, log }));
  routes.route('/', signInPageRoutes({ ...page, settings: () => settings.current, begin }));
  return routes;
}
