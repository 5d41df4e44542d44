import { html } from 'hono/html';
import type { LoggedIn, LoginAttempt } from '../../auth/login.ts';
import type { PasskeyAnswer } from '../../auth/second-factor/passkeys.ts';
import { principalOf, withPasswordAlone } from '../../core/access/principal.ts';
import type { FactorAsked, HubError } from '../../core/errors.ts';
import { parseInput } from '../../core/input.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { passkeyAnswer } from '../../settings/user/user-input.ts';
import { mustHaveFactor } from './caller.ts';
import type { Content, PageLanguage } from './page-texts/page-language.ts';

/**
 * What a login form sent: name and password, or the code or passkey that was asked for after them. Throws HubError
 * `invalid_input` for what no browser answers for a passkey.
 */
export function shownIn(
  form: URLSearchParams,
): Pick<LoginAttempt, 'username' | 'password'> | Pick<LoginAttempt, 'challenge' | 'code' | 'passkey'> {
  const challenge = form.get('challenge');
  const passkey = form.get('passkey') || undefined;
  if (challenge !== null && passkey !== undefined) return { challenge, passkey: passkeyIn(passkey) };
  if (challenge !== null) return { challenge, code: form.get('code')?.trim() || undefined };
  return { username: form.get('username') ?? '', password: form.get('password') ?? '' };
}

function passkeyIn(text: string): PasskeyAnswer {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  return parseInput(passkeyAnswer, value, 'Cannot log in with this passkey');
}

/**
 * The fields of a login form, which works without script: for name and password, or for the code of a user who has
 * shown both. What the form carries of them says no more than that. A page that asks for a passkey as well has
 * `passkeyScript`.
 */
export function loginFields({ text }: PageLanguage, asked: FactorAsked | undefined) {
  if (asked === undefined)
    return html`<label>${text('username')} <input name="username" autocomplete="username" required /></label>
      <label
        >${text('password')} <input name="password" type="password" autocomplete="current-password" required
      /></label>`;
  const codes = text(asked.methods.includes('totp') ? 'code' : 'recoveryCode');
  return html`<input type="hidden" name="challenge" value="${asked.challenge}" />
    ${
      asked.passkey === undefined
        ? ''
        : html`<input type="hidden" name="passkey" />
            <button
              type="button"
              data-passkey="${JSON.stringify(asked.passkey)}"
              data-failed="${text('noPasskey')}"
              hidden
            >
              ${text('usePasskey')}
            </button>
            <p class="unhealthy" role="alert" data-passkey-problem></p>`
    }
    <label
      >${codes} <input name="code" autocomplete="one-time-code" autocapitalize="none" required autofocus
    /></label>`;
}

/** Who logs in with a password: all users, the one that `breakGlass` names, or no one. */
export function passwordsFor({ system }: Pick<Settings, 'system'>): 'all' | 'one' | 'none' {
  if (system.passwordLogin !== false) return 'all';
  return system.breakGlass === undefined ? 'none' : 'one';
}

/** The form as a page shows it: folded away where it is for one admin, and open once that admin has used it. */
export function passwordForm({ text }: PageLanguage, form: Content, whose: 'all' | 'one' | 'none', isInUse: boolean) {
  if (isInUse && whose !== 'none') return form;
  if (whose === 'one')
    return html`<details>
      <summary>${text('oneAdmin')}</summary>
      ${form}
    </details>`;
  return whose === 'all' ? form : '';
}

/** What the page says above the form; nothing where a user is asked for the code for the first time. */
export function problemOf({ failure }: PageLanguage, error: HubError): Content | undefined {
  return error.secondFactor?.wrong === false ? undefined : failure(error);
}

/** Who logged in with such a form. Throws HubError `second_factor_setup_required`. */
export function principalFrom({ user, secondFactor }: LoggedIn, settings: Settings) {
  const principal = secondFactor ? principalOf(user) : withPasswordAlone(user);
  mustHaveFactor({ principal, settings });
  return principal;
}
