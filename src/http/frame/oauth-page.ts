import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { html, raw } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { pageHeaders } from './page-headers.ts';
import type { PageLanguage } from './page-texts/page-language.ts';
import { pageStyle } from './page-style.ts';
import { passkeyScript } from './passkey-script.ts';

/** A small page of a sign-in. */
export interface OAuthPage {
  readonly status: ContentfulStatusCode;
  readonly language: Pick<PageLanguage, 'tag'>;
  readonly title: string;
  readonly content: ReturnType<typeof html>;
  readonly hasForm?: boolean;
  /** The form asks for a passkey too. */
  readonly hasPasskey?: boolean;
}

const formStyle = `
form { max-width: 20rem; }
label { display: block; margin-top: .8rem; }
input, button { display: block; width: 100%; margin-top: .25rem; padding: .6rem; font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: .4rem; }
fieldset { margin: 1rem 0 0; border: 1px solid var(--line); border-radius: .4rem; }
.choice { margin-top: .4rem; }
.choice input { display: inline; width: auto; margin: 0 .4rem 0 0; }
button { margin-top: 1.2rem; color: var(--paper); background: var(--link); border-color: var(--link); font-weight: 600; cursor: pointer; }
[hidden] { display: none; }
button[value=deny] { color: var(--ink); background: var(--card); border-color: var(--line); }
input:focus-visible, button:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
`;
const style = pageStyle + formStyle;

const sourceOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const policy = ["default-src 'none'", `style-src ${sourceOf(style)}`, "base-uri 'none'", "frame-ancestors 'none'"];

const scriptSource = `script-src ${sourceOf(passkeyScript)}`;

/**
 * The address of such a page may hold a code, so nothing may learn it from here: no picture, no referrer, no cache, and
 * no script but the one that asks for a passkey.
 */
export function oauthPage(
  c: Context,
  { status, language, title, content, hasForm = false, hasPasskey = false }: OAuthPage,
) {
  // A form is answered with the way to the authorization server, which may be anywhere, and browsers hold redirects
  // against `form-action` too.
  pageHeaders(c, {
    policy: [...policy, ...(hasPasskey ? [scriptSource] : []), ...(hasForm ? [] : ["form-action 'none'"])],
    // Without any, browsers send a form with `Origin: null`, which the hub takes for another site's.
    referrer: hasForm ? 'same-origin' : 'no-referrer',
  });
  c.header('Cache-Control', 'no-store');
  return c.html(
    html`<!doctype html>
      <html lang="${language.tag}">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <title>${title} &middot; Tool Hub</title>
          ${raw(`<style>${style}</style>`)}
        </head>
        <body>
          <main>
            <h1>${title}</h1>
            ${content}
          </main>
          ${hasPasskey ? raw(`<script>${passkeyScript}</script>`) : ''}
        </body>
      </html>`,
    status,
  );
}
