import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { errorText, HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { fail } from '../frame/reply.ts';
import { httpLimits } from '../limits.ts';
import type { SignInCookies } from './cookie.ts';
import { oauthPage } from '../frame/oauth-page.ts';
import { type Content, type PageLanguage, pageLanguage } from '../frame/page-texts/page-language.ts';

export interface OAuthCallbackOptions {
  /**
   * Finishes a sign-in with what an authorization server sent back, in the browser that has this secret; gives the
   * server's name. Throws HubError with what to do.
   */
  readonly finish: (query: URLSearchParams, browser: string | undefined) => Promise<string>;
  /** What the hub says of itself to authorization servers; undefined when they could not fetch it. */
  readonly clientDocument: () => object | undefined;
  readonly cookies: SignInCookies;
  readonly log: Logger;
}

/**
 * Where people come back to after they signed in to a server (SPEC, System; CONTRACT §4, OAuth callback), and the
 * document by which authorization servers know the hub. Open to all and never below `BASE_PATH`: the `state` of an
 * answer and the cookie say that it was asked for here.
 */
export function oauthCallbackRoutes({ finish, clientDocument, cookies, log }: OAuthCallbackOptions): Hono {
  const routes = new Hono();

  routes.get('/oauth/callback', async (c) => {
    try {
      const { search } = new URL(c.req.url);
      if (search.length > httpLimits.callbackChars) throw new HubError('invalid_input', 'The answer is too long.');
      const query = new URLSearchParams(search);
      const server = await finish(query, cookies.take(c, query.get('state') ?? ''));
      return await page(c, 200, ({ text }) => [text('signedIn', { server }), text('signedInLead')]);
    } catch (error) {
      if (error instanceof HubError) {
        log.warn('sign-in not finished', { error: error.message });
        const status = error.status as ContentfulStatusCode;
        return page(c, status, ({ text, failure }) => [text('notSignedIn'), failure(error)]);
      }
      log.error('sign-in failed', { error: errorText(error) });
      return page(c, 500, ({ text }) => [text('notSignedIn'), text('wentWrongBeginAgain')]);
    }
  });

  routes.get('/oauth/client-metadata.json', (c) => {
    const document = clientDocument();
    if (!document) return fail(c, new HubError('not_found', 'This hub has no public https address.'));
    c.header('Cache-Control', 'public, max-age=300');
    return c.json(document);
  });

  return routes;
}

/** A page whose title and text are made for its language. */
async function page(
  c: Context,
  status: ContentfulStatusCode,
  say: (language: PageLanguage) => readonly [title: string, text: Content | string],
): Promise<Response> {
  const language = await pageLanguage(c);
  const [title, text] = say(language);
  return oauthPage(c, { status, language, title, content: html`<p>${text}</p>` });
}
