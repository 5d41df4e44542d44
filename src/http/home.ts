import { createHash } from 'node:crypto';
import type { Context, Handler } from 'hono';
import { html, raw } from 'hono/html';
import { allSnippets } from '../snippets/all.ts';
import type { Snippet } from '../snippets/snippet.ts';
import type { Health } from './health.ts';
import { homeStyle } from './home-style.ts';

export interface HomeOptions {
  readonly hubUrl: (c: Context) => string;
  readonly health: () => Health;
  readonly keyRequired: () => boolean;
}

/** Nothing but the page's own style sheet, and that by its hash. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(homeStyle).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The first page: what this is, how it is, how to connect a client and to add a server. Anyone may open it, so it names no server, no group, no tool,
 * no user, and no path of this machine.
 */
export function homeRoute({ hubUrl, health, keyRequired }: HomeOptions): Handler {
  return (c) => {
    c.header('Content-Security-Policy', policy);
    c.header('X-Content-Type-Options', 'nosniff');
    c.header('Referrer-Policy', 'no-referrer');
    c.header('Cache-Control', 'no-store');
    return c.html(page(hubUrl(c), health(), keyRequired()));
  };
}

type Html = ReturnType<typeof html>;

function page(hubUrl: string, health: Health, keyRequired: boolean): Html {
  const mcpUrl = `${hubUrl}/mcp`;
  const token = keyRequired ? 'YOUR_ACCESS_KEY' : undefined;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Tool Hub</title>
        ${raw(`<style>${homeStyle}</style>`)}
      </head>
      <body>
        <header>
          <h1>Tool Hub</h1>
          <p>One address for all your MCP tool servers.</p>
        </header>
        <main>
          ${status(health)} ${endpoints(hubUrl)}
          <section aria-labelledby="connect">
            <h2 id="connect">Connect a client</h2>
            <p>Choose yours and paste. Click the text to select all of it.</p>
            ${keyRequired ? html`<p>This hub asks for an access key: put yours where it says <code>YOUR_ACCESS_KEY</code>.</p>` : ''}
            ${allSnippets({ name: 'toolhub', url: mcpUrl, token }).map(client)}
          </section>
          ${addServer()}
        </main>
        <footer>
          <p>
            Tool Hub ${health.version} · <a href="/health">health</a> · documents: <code>README.md</code>,
            <code>docs/configuration.md</code>, <code>docs/connect-clients.md</code>
          </p>
        </footer>
      </body>
    </html>`;
}

const states = {
  healthy: 'All servers are connected',
  unhealthy: 'The hub cannot serve',
};

function status({ status, servers, message }: Health): Html {
  const empty = servers.total === 0 && status === 'healthy';
  return html`<section aria-labelledby="status">
    <h2 id="status">Status</h2>
    <p class="state ${status}">
      ${empty ? 'Ready, but no server yet' : status === 'degraded' ? message : states[status]}
    </p>
    ${empty ? html`<p><a href="#add">Add one</a> to begin.</p>` : html`<p>${servers.connected} of ${servers.total} connected.</p>`}
    ${servers.disconnected > 0 ? html`<p>The terminal of the hub says which are missing and why; so does <code>toolhub doctor</code>.</p>` : ''}
  </section>`;
}

function endpoints(hubUrl: string): Html {
  return html`<section aria-labelledby="endpoints">
    <h2 id="endpoints">Endpoints</h2>
    <dl>
      <dt>All servers</dt>
      <dd><code>${hubUrl}/mcp</code></dd>
      <dt>One group, or one server</dt>
      <dd>
        <code>${hubUrl}/mcp/<var>name</var></code>
      </dd>
      <dt>Legacy SSE, for older clients</dt>
      <dd>
        <code>${hubUrl}/sse</code> and <code>${hubUrl}/sse/<var>name</var></code>
      </dd>
    </dl>
  </section>`;
}

function client(snippet: Snippet, index: number): Html {
  return html`<details name="client" ${index === 0 ? 'open' : ''}>
    <summary>${snippet.title}</summary>
    <p>${snippet.where}</p>
    <pre tabindex="0" aria-label="${snippet.title} settings"><code>${snippet.text}</code></pre>
    ${snippet.installUrl === undefined ? '' : html`<p><a href="${snippet.installUrl}">Add to ${snippet.title}</a></p>`}
  </details>`;
}

const example = `{
  "mcpServers": {
    "memory": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"] },
    "docs": { "type": "streamable-http", "url": "https://example.com/mcp" }
  }
}`;

function addServer(): Html {
  return html`<section aria-labelledby="add">
    <h2 id="add">Add a server</h2>
    <p>
      Put it into the settings file (<code>mcp_settings.json</code>, the hub says where when it starts) in the form you
      know from other clients. The hub sees the change by itself, connects, and tells every client.
    </p>
    <pre tabindex="0" aria-label="Example settings"><code>${example}</code></pre>
  </section>`;
}
