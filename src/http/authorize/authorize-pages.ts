import type { Context, ErrorHandler } from 'hono';
import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { hostOf, type OAuthClient } from '../../auth/oauth/client.ts';
import type { Asked } from '../../auth/oauth/open-authorization.ts';
import { errorText, HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { loginFields, passwordForm, type passwordsFor, problemOf } from '../frame/login-form.ts';
import { type OAuthPage, oauthPage } from '../frame/oauth-page.ts';
import { type Content, type PageLanguage, pageLanguage } from '../frame/page-texts/page-language.ts';

type PageParts = Pick<OAuthPage, 'language' | 'hasForm' | 'hasPasskey'>;

/** A page that was opened by a client keeps what the client needs of it: the window that opened it. */
function answered(c: Context, status: number, title: string, content: Content, parts: PageParts) {
  const answer = oauthPage(c, { status: status as ContentfulStatusCode, title, content, ...parts });
  c.header('Cross-Origin-Opener-Policy', 'unsafe-none');
  return answer;
}

/** A page that says what went wrong, in words made for its language. */
export async function messagePage(c: Context, status: number, say: (language: PageLanguage) => Content | string) {
  const language = await pageLanguage(c);
  return answered(c, status, language.text('notConnected'), html`<p>${say(language)}</p>`, { language });
}

/** Tells people what routes throw. */
export function answerWithPages(log: Logger): ErrorHandler {
  return (error, c) => {
    if (!(error instanceof HubError)) {
      log.error('authorization failed', { error: errorText(error) });
      return messagePage(c, 500, ({ text }) => text('wentWrong'));
    }
    if (error.retryAfterMs !== undefined) c.header('Retry-After', String(Math.ceil(error.retryAfterMs / 1000)));
    return messagePage(c, error.status, ({ failure }) => failure(error));
  };
}

function problemText(problem: Content | undefined): Content | '' {
  return problem === undefined ? '' : html`<p class="unhealthy" role="alert">${problem}</p>`;
}

export interface LoginPage {
  readonly status: number;
  /** What the form carries of what the client asked for. */
  readonly request: string;
  readonly client: OAuthClient;
  readonly passwords: ReturnType<typeof passwordsFor>;
  readonly providers: readonly { readonly name: string; readonly href: string }[];
  /** Why the login before was none; after the password of a user who has a second factor, what is asked for. */
  readonly error?: HubError;
}

export async function loginPage(c: Context, page: LoginPage) {
  const { status, request, client, passwords, providers, error } = page;
  const language = await pageLanguage(c);
  const { text, rich } = language;
  const asked = error?.secondFactor;
  const problem = error && problemOf(language, error);
  const form = html`<form method="post" action="authorize">
    <input type="hidden" name="request" value="${request}" />
    ${loginFields(language, asked)}
    <button>${text('continueButton')}</button>
  </form>`;
  const content = html`<p>${rich('logInForApp', { client: strong(client.name) })}</p>
    ${problemText(problem)}
    ${(asked ? [] : providers).map(
      ({ name, href }) => html`<p><a href="${href}">${text('logInWith', { provider: name })}</a></p>`,
    )}
    ${passwordForm(language, form, passwords, asked !== undefined || problem !== undefined)}
    ${passwords !== 'none' || providers.length > 0 ? '' : html`<p>${text('noWayIn')}</p>`}`;
  return answered(c, status, text('logIn'), content, {
    language,
    hasForm: true,
    hasPasskey: asked?.passkey !== undefined,
  });
}

function strong(text: string): Content {
  return html`<strong>${text}</strong>`;
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
  /** Why what was chosen before could not be. */
  readonly error?: HubError;
}

/** A document proves only who gets what is sent to a web server: any program on a computer can listen there. */
function proofOf({ text, rich }: PageLanguage, { id, isProven }: OAuthClient, { redirectUri }: Asked): Content {
  if (!isProven) return html`${text('notProved')}`;
  const host = strong(new URL(id).host);
  return redirectUri.startsWith('https:') ? rich('proved', { host }) : rich('onlySays', { host });
}

export async function consentPage(
  c: Context,
  { status, login, client, asked, username, isAdmin, groups, servers, error }: ConsentPage,
) {
  const language = await pageLanguage(c);
  const { text, rich } = language;
  const proof = proofOf(language, client, asked);
  const problem = error && language.failure(error);
  const choices = (title: string, from: readonly Choice[]): Content | '' =>
    from.length === 0
      ? ''
      : html`<fieldset>
          <legend>${title}</legend>
          ${from.map(
            ({ value, text: name }) =>
              html`<label class="choice"><input type="checkbox" name="reach" value="${value}" /> ${name}</label>`,
          )}
        </fieldset>`;
  const manage = asked.wantsApi
    ? html`<fieldset>
        <legend>${text('more')}</legend>
        <label class="choice"
          ><input type="checkbox" name="scope" value="api" /> ${text('manage')}
          ${isAdmin ? strong(text('manageAsAdmin')) : ''}</label
        >
      </fieldset>`
    : '';
  const content = html`<p>${rich('wantsToUse', { client: strong(client.name), user: strong(username) })}</p>
    <p>${rich('answerAt', { host: strong(hostOf(asked.redirectUri)) })} ${proof}</p>
    <p>${rich(asked.wantsApi ? 'asksForApi' : 'asksFor', { resource: html`<code>${asked.resource}</code>` })}</p>
    ${problemText(problem)}
    <form method="post" action="authorize">
      <input type="hidden" name="login" value="${login}" />
      <fieldset>
        <legend>${text('reach')}</legend>
        <label class="choice"><input type="checkbox" name="reach" value="all" checked /> ${text('everything')}</label>
      </fieldset>
      ${choices(text('onlyGroups'), groups)} ${choices(text('onlyServers'), servers)} ${manage}
      <button name="decision" value="allow">${text('allow')}</button>
      <button name="decision" value="deny">${text('deny')}</button>
    </form>`;
  return answered(c, status, text('letIn', { client: client.name }), content, { language, hasForm: true });
}
