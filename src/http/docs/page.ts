import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import { components } from '../../core/answers/components.ts';
import { pageStyle } from '../frame/page-style.ts';
import { contentOf, type Described } from './document.ts';

const style = `${pageStyle}
.method { display: inline-block; min-width: 4.2rem; font: .8rem ui-monospace, monospace; }
.who { color: var(--soft); font-weight: 400; }
summary code { font-weight: 400; }
`;

/** Nothing but the page's own style sheet, and that by its hash. */
export const docsPolicy: readonly string[] = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

type Html = ReturnType<typeof html>;

/** The document for people to read: no script, nothing from anywhere else. */
export function docsPage(
  operations: readonly Described[],
  { mount, version }: { mount: string; version: string },
): Html {
  const names = [...new Set(operations.map(({ subject }) => subject))];
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Tool Hub management API</title>
        ${raw(`<style>${style}</style>`)}
      </head>
      <body>
        <header>
          <h1>Management API</h1>
          <p>
            Tool Hub ${version}. Everything below is under <code>${mount}</code>. As OpenAPI 3.1:
            <a href="${mount}/docs/openapi.json">openapi.json</a>.
          </p>
        </header>
        <main>
          <p>
            Get a token with <code>POST /auth/login</code>, or make an access key, and send it as
            <code>Authorization: Bearer</code>. Answers are <code>{success, data, message}</code>, failures
            <code>{success: false, message, errors}</code>, unless said otherwise.
          </p>
          ${names.map((name) =>
            subject(
              name,
              operations.filter((operation) => operation.subject === name),
            ),
          )}
          <section aria-labelledby="shapes">
            <h2 id="shapes">Shapes</h2>
            <p>What <code>$ref</code> points to above.</p>
            ${Object.entries(components).map(
              ([name, schema]) =>
                html`<details>
                  <summary>${name}</summary>
                  ${shown(name, schema)}
                </details>`,
            )}
          </section>
        </main>
      </body>
    </html>`;
}

function subject(name: string, operations: readonly Described[]): Html {
  const id = name.toLowerCase().replaceAll(' ', '-');
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${name}</h2>
    ${operations.map(operation)}
  </section>`;
}

function operation(described: Described): Html {
  const { method, path, summary, description, open, admin, query = {}, headers = {}, body, answer } = described;
  const who = open ? 'anybody' : admin ? 'admins' : '';
  return html`<details>
    <summary>
      <span class="method">${method}</span
      ><code>${path}</code> ${who === '' ? '' : html`<span class="who">&middot; ${who}</span>`}<br />
      <span class="who">${summary}</span>
    </summary>
    ${description === undefined ? '' : html`<p>${description}</p>`} ${shown('Query', query)}
    ${shown('Headers', headers)}
    ${body ? Object.entries(contentOf(body)).map(([type, { schema }]) => shown(`Body (${type})`, schema)) : ''}
    ${answer ? ('bare' in answer ? shown('Answer', answer.bare) : shown('Answer, in data', answer.data)) : ''}
  </details>`;
}

function shown(title: string, value: object): Html | string {
  if (Object.keys(value).length === 0) return '';
  return html`<p>${title}</p>
    <pre tabindex="0" aria-label="${title}"><code>${JSON.stringify(value, null, 2)}</code></pre>`;
}
