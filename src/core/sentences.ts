import { type ErrorCode, HubError, type HubErrorOptions } from './errors.ts';
import { coreLimits } from './limits.ts';
import { filled } from './reasons.ts';

/**
 * What the hub says to people who use the dashboard and cannot do something, by name, so that pages can say it in their
 * own language (decisions/0053). `{{name}}` stands for a value. What is not here is said in English alone.
 */
export const sentenceTable = {
  wrong_login: 'Wrong username or password.',
  wrong_password: '{{attempt}}: the password is wrong.',
  wrong_current_password: '{{attempt}}: the current password is wrong.',
  too_many_logins: 'Too many failed logins. Try again in {{time}}.',
  login_over: 'The access token is not valid, or no longer. Log in again.',
  admins_only: 'Only admins may do this.',
  read_only: 'This hub is read-only (READONLY).',
  not_yours: '{{attempt}}: it belongs to {{owner}}. Ask them or an admin.',
  name_taken: '{{attempt}}: the name "{{name}}" is taken. Choose another.',
  no_server: 'There is no server "{{name}}".',
  no_group: 'There is no group "{{name}}".',
  no_user: 'There is no user "{{name}}".',
  no_activity: 'There is no activity "{{name}}".',
  no_such_tool: 'Unknown tool: there is no "{{name}}" on a server "{{server}}".',
  no_such_prompt: 'Unknown prompt: there is no "{{name}}" on a server "{{server}}".',
  server_installing: 'Server "{{server}}" is still being installed, which may take minutes. Try again later.',
  server_connecting: 'Server "{{server}}" is still connecting. Try again in a moment.',
  server_away: 'Server "{{server}}" is not connected. Next attempt in {{seconds}} s.',
  server_faulty: 'Server "{{server}}" gave no proper answer. Its owner and admins see why in the log.',
  server_late: 'Server "{{server}}" did not answer within {{seconds}} s.',
  server_disabled: '{{attempt}}: it is disabled. Enable it instead.',
  own_account: '{{attempt}}: it is your own account. Ask another admin.',
  no_other_admin: '{{attempt}}: there is no other admin. Make another user an admin first.',
  no_key: 'There is no access key "{{name}}".',
  too_many_keys: '{{attempt}}: there are {{most}} already. Delete one first.',
  not_in_group: '{{attempt}}: the server is not in the group. Add it first.',
  private_address:
    '{{attempt}}: {{address}} is not on the public internet. Only admins connect servers inside this network.',
  programs_for_admins: "{{attempt}}: only admins start programs on the hub's machine.",
  logins_at_once: 'Too many logins at once. Try again in a few seconds.',
  upload_too_large: 'The upload is larger than {{megabytes}} MB.',
  pin_changed: 'The {{kind}} "{{name}}" of server "{{server}}" has changed since you looked at it. Compare it again.',
} as const;

export type SentenceCode = keyof typeof sentenceTable;

/** A sentence by name, and what it names. */
export interface Sentence {
  readonly code: SentenceCode;
  readonly values: Readonly<Record<string, string>>;
}

/** The error whose message is that sentence. */
export function saying(
  errorCode: ErrorCode,
  code: SentenceCode,
  values: Sentence['values'] = {},
  options: HubErrorOptions = {},
): HubError {
  return new HubError(errorCode, filled(sentenceTable[code], values), {
    ...options,
    said: withValues({ code, values }),
  });
}

/** Names come from requests, and may be of any length. */
function withValues({ code, values }: Sentence): Sentence {
  const short = Object.entries(values).map(([name, value]) => [name, value.slice(0, coreLimits.saidValueChars)]);
  return { code, values: Object.fromEntries(short) as Sentence['values'] };
}
