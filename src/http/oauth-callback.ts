import { createHash } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { html, raw } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { errorText, HubError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { homeStyle } from './home-style.ts';
import { fail } from './reply.ts';

export interface OAuthCallbackOptions {
  /** Finishes a sign-in with what an authorization server sent back; gives the server's name. Throws HubError with what to do. */
  readonly finish: (query: URLSearchParams) => Promise<string>;
  /** What the hub says of itself to authorization servers; undefined when they could not fetch it. */
  readonly clientDocument: () => object | undefined;
  readonly log: Logger;
}

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(homeStyle).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Where people come back to after they signed in to a server (SPEC, System; CONTRACT §4, OAuth callback), and the document by which authorization servers
 * know the hub. Open to all and never below `BASE_PATH`: the `state` of an answer is what says that somebody asked for it.
 */
export function oauthCallbackRoutes({ finish, clientDocument, log }: OAuthCallbackOptions): Hono {
  const routes = new Hono();

  routes.get('/oauth/callback', async (c) => {
    try {
      const { search } = new URL(c.req.url);
      if (search.length > limits.callbackChars) throw new HubError('invalid_input', 'The answer is far too long.');
      const server = await finish(new URLSearchParams(search));
      return page(c, 200, `Signed in to ${server}`, 'The hub connects to it now. You can close this window.');
    } catch (error) {
      if (error instanceof HubError) {
        log.warn('sign-in not finished', { error: error.message });
        return page(c, error.status as ContentfulStatusCode, 'Not signed in', error.message);
      }
      log.error('sign-in failed', { error: errorText(error) });
      return page(c, 500, 'Not signed in', 'Something went wrong in the hub. Its log says more. Begin again.');
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

/** The address of the page holds the code, so nothing may learn it from here: no script, no picture, no referrer, no cache. */
function page(c: Context, status: ContentfulStatusCode, title: string, text: string): Response | Promise<Response> {
  c.header('Content-Security-Policy', policy);
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('Referrer-Policy', 'no-referrer');
  c.header('Cache-Control', 'no-store');
  return c.html(
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <title>${title} · Tool Hub</title>
          ${raw(`<style>${homeStyle}</style>`)}
        </head>
        <body>
          <main>
            <h1>${title}</h1>
            <p>${text}</p>
          </main>
        </body>
      </html>`,
    status,
  );
}
