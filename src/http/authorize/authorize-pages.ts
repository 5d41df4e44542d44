import type { Context, ErrorHandler } from 'hono';
import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { hostOf, type OAuthClient } from '../../auth/oauth/client.ts';
import type { Asked } from '../../auth/oauth/open-authorization.ts';
import { errorText, type FactorAsked, HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { loginFields, passwordForm, type passwordsFor } from '../frame/login-form.ts';
import { type OAuthPage, oauthPage } from '../frame/oauth-page.ts';

type Content = ReturnType<typeof html>;
type PageParts = Pick<OAuthPage, 'hasForm' | 'hasPasskey'>;

/** A page that was opened by a client keeps what the client needs of it: the window that opened it. */
function answered(c: Context, status: number, title: string, content: Content, parts: PageParts) {
  const answer = oauthPage(c, { status: status as ContentfulStatusCode, title, content, ...parts });
  c.header('Cross-Origin-Opener-Policy', 'unsafe-none');
  return answer;
}

export function messagePage(c: Context, status: number, text: string) {
  return answered(c, status, 'Not connected', html`<p>${text}</p>`, {});
}

/** Tells people what routes throw. */
export function answerWithPages(log: Logger): ErrorHandler {
  return (error, c) => {
    if (!(error instanceof HubError)) {
      log.error('authorization failed', { error: errorText(error) });
      return messagePage(c, 500, 'Something went wrong in the hub. Its log says more.');
    }
    if (error.retryAfterMs !== undefined) c.header('Retry-After', String(Math.ceil(error.retryAfterMs / 1000)));
    return messagePage(c, error.status, error.message);
  };
}

function problemText(problem: string | undefined): Content | '' {
  return problem === undefined ? '' : html`<p class="unhealthy" role="alert">${problem}</p>`;
}

export interface LoginPage {
  readonly status: number;
  /** What the form carries of what the client asked for. */
  readonly request: string;
  readonly client: OAuthClient;
  readonly passwords: ReturnType<typeof passwordsFor>;
  readonly providers: readonly { readonly name: string; readonly href: string }[];
  readonly problem?: string | undefined;
  /** Set after the password of a user who has a second factor. */
  readonly asked?: FactorAsked | undefined;
}

export function loginPage(c: Context, page: LoginPage) {
  const { status, request, client, passwords, providers, problem, asked } = page;
  const form = html`<form method="post" action="authorize">
    <input type="hidden" name="request" value="${request}" />
    ${loginFields(asked)}
    <button>Continue</button>
  </form>`;
  const content = html`<p><strong>${client.name}</strong> wants to use this Tool Hub. Log in to say what it may do.</p>
    ${problemText(problem)}
    ${(asked ? [] : providers).map(({ name, href }) => html`<p><a href="${href}">Log in with ${name}</a></p>`)}
    ${passwordForm(form, passwords, asked !== undefined || problem !== undefined)}
    ${passwords !== 'none' || providers.length > 0 ? '' : html`<p>No way to log in is open for this app. Ask an admin.</p>`}`;
  return answered(c, status, 'Log in to Tool Hub', content, {
    hasForm: true,
    hasPasskey: asked?.passkey !== undefined,
  });
}

export interface Choice {
  readonly value: string;
  readonly text: string;
}

export interface ConsentPage {
  readonly status: number;
  /** What the form carries of who logged in, and what the client asked for. */
  readonly login: string;
  readonly client: OAuthClient;
  readonly asked: Asked;
  readonly username: string;
  readonly isAdmin: boolean;
  readonly groups: readonly Choice[];
  readonly servers: readonly Choice[];
  readonly problem?: string;
}

/** A document proves only who gets what is sent to a web server: any program on a computer can listen there. */
function proofOf({ id, isProven }: OAuthClient, { redirectUri }: Asked): Content {
  if (!isProven) return html`It has not proved who it is: any app can call itself that.`;
  const { host } = new URL(id);
  return redirectUri.startsWith('https:')
    ? html`It has proved who it is: <strong>${host}</strong> vouches for it.`
    : html`It has not proved that it is the app of <strong>${host}</strong>: any app on your computer can say so.`;
}

export function consentPage(
  c: Context,
  { status, login, client, asked, username, isAdmin, groups, servers, problem }: ConsentPage,
) {
  const proof = proofOf(client, asked);
  const choices = (title: string, from: readonly Choice[]): Content | '' =>
    from.length === 0
      ? ''
      : html`<fieldset>
          <legend>${title}</legend>
          ${from.map(
            ({ value, text }) =>
              html`<label class="choice"><input type="checkbox" name="reach" value="${value}" /> ${text}</label>`,
          )}
        </fieldset>`;
  const manage = asked.wantsApi
    ? html`<fieldset>
        <legend>More that it asks for</legend>
        <label class="choice"
          ><input type="checkbox" name="scope" value="api" /> Manage this hub as you can: servers, groups, settings,
          logs, but no accounts, passwords, keys and apps.
          ${isAdmin ? html`<strong>You are an admin: it could run any program where the hub runs.</strong>` : ''}</label
        >
      </fieldset>`
    : '';
  const content = html`<p>
      <strong>${client.name}</strong> wants to use the tools of this hub as <strong>${username}</strong>.
    </p>
    <p>It gets its answer at <strong>${hostOf(asked.redirectUri)}</strong>. ${proof}</p>
    <p>
      It asks for <code>${asked.resource}</code>. It may list and call what is
      there${asked.wantsApi ? '' : ', and change no settings'}.
    </p>
    ${problemText(problem)}
    <form method="post" action="authorize">
      <input type="hidden" name="login" value="${login}" />
      <fieldset>
        <legend>What it may reach</legend>
        <label class="choice"
          ><input type="checkbox" name="reach" value="all" checked /> Everything you may use there, unless you choose
          below</label
        >
      </fieldset>
      ${choices('Only these groups', groups)} ${choices('Only these servers', servers)} ${manage}
      <button name="decision" value="allow">Allow</button>
      <button name="decision" value="deny">Deny</button>
    </form>`;
  return answered(c, status, `Let ${client.name} in?`, content, { hasForm: true });
}
