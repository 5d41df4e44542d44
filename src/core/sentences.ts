import { type ErrorCode, HubError, type HubErrorOptions } from './errors.ts';
import { coreLimits } from './limits.ts';
import { filled, type Named } from './reasons.ts';

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
  server_lost:
    'The connection to server "{{server}}" ended before the answer came. Whether the call was carried out is not known.',
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
  no_credentials: 'Users set no credentials for server "{{name}}".',
  changed_meanwhile: '{{attempt}}: another request has just changed it. Log in again.',
  no_session: 'There is no such session.',
  owner_for_admins: '{{attempt}}: only admins give it to another user.',
  public_for_admins:
    '{{attempt}}: only admins make {{things}} public. Share it with "visibility": "group" and "sharedWithUsers", or ask an admin.',
  payloads_for_admins: '{{attempt}}: only admins decide that arguments and results of calls are kept.',
  payloads_never:
    '{{attempt}}: its calls carry what callers set for themselves, and arguments and results of those are never kept.',
  secrets_for_admins: '{{attempt}}: only admins decide what becomes of secrets in calls (secretsInCalls).',
  headers_for_admins: '{{attempt}}: only admins decide which headers of requests are passed on.',
  sign_in_for_admins: '{{attempt}}: only admins decide that each user signs in alone (oauth.perUser), and to what.',
  credentials_for_admins:
    '{{attempt}}: only admins decide that users set credentials of their own (credentialTemplate), and where those go.',
  files_for_admins: "{{attempt}}: only admins have files of the hub's machine filled in (${file:…}).",
  bundle_folder: '{{attempt}}: only an uploaded bundle says where it is unpacked.',
  keys_of_others: '{{attempt}}: only admins create keys that are not their own.',
  reindex_running: 'A reindex pass is already running.',
  no_second_factor: 'User "{{name}}" has no second factor.',
  factor_gone: '{{attempt}}: there is none.',
  last_factor: '{{attempt}}: this hub demands a second factor. Set up another one first.',
  factor_of_provider: '{{attempt}}: you log in at a provider, which asks for a second factor of its own.',
  no_grant: 'There is no such grant.',
  no_guard: 'There is no guard "{{name}}" that is switched on.',
  backup_running: '{{attempt}}: the hub is making one already. Try again when that is done.',
  too_many_pages: 'Too many pages follow the changes. Close one, or try again later.',
  server_not_in_group: 'Server "{{name}}" is not in group "{{group}}".',
  group_not_yours: 'The group "{{name}}" is not yours to change.',
  no_item: 'Server "{{server}}" has no {{kind}} "{{name}}".',
  no_pins: 'There are no pins of a server "{{name}}".',
  pins_of_other_version:
    'Another version of the hub has kept the pins of server "{{name}}", and this one cannot read them. Decide at a hub of that version, or upgrade this one.',
  no_approval: 'There is no approval "{{name}}".',
  approval_expired: 'The question has expired. The caller has to make the call again.',
  already_approved: 'This was approved already by {{by}}.',
  already_denied: 'This was denied already by {{by}}.',
  already_withdrawn: 'This was withdrawn already by {{by}}.',
  asker_gone: 'This was withdrawn already: the caller has no access any more.',
  calls_wait: '{{count}} calls of this caller wait for approval already. Wait for their answers first.',
  approvals_full: 'Too many calls wait for approval. Try again later.',
  no_database:
    'This needs the database: this hub runs without one (DB_URL=off). Start it without DB_URL, or with the address of a PostgreSQL.',
  database_opening: 'This needs the database: it is still opening; try again in a moment.',
  database_down: 'This needs the database: it is down; the hub keeps trying, try again in a moment.',
  settings_busy: 'Cannot change the settings: others keep changing the {{name}}. Try again.',
  settings_broken: 'Cannot change the settings: the {{name}} cannot be used as it is now. Correct it first. {{why}}',
  names_taken: '{{attempt}}. There are servers of these names already: {{names}}. Rename or delete them first.',
  too_many_own: 'There are {{most}} {{kind}} already. Delete one first.',
  own_taken: 'A {{kind}} with the {{member}} "{{name}}" already exists.',
  no_own: 'Built-in {{kind}} not found.',
  override_name_only:
    '{{attempt}}: of the tool "{{tool}}" you may change the name alone, not its texts, annotations or arguments. Leave those as they are, or ask the owner of server "{{server}}" or an admin.',
  app_unknown:
    'This hub does not know the app that sent you here, or no longer. Remove the hub from the app and add it again.',
  app_elsewhere: 'The app wants to be answered at an address that it did not register. Nothing was sent there.',
  app_undescribed: 'The app says that it is described at {{url}}, but {{why}}.',
  app_address:
    'The app calls itself by an address that cannot be one: it needs https, a path, no query and no fragment.',
  apps_looked_up: 'Too many apps are being looked up. Try again in a moment.',
  apps_new: 'Too many new apps from this address. Try again later.',
  registrations_many: 'Too many registrations from this address. Try again later.',
  page_over: 'This page was open for too long, or your account has changed. Begin again in the app.',
  reach_none: 'Choose what it may reach.',
  reach_many: 'These are too many: choose groups, {{most}} names at most.',
  reach_unknown: 'There is no group or server "{{name}}" for you.',
  reach_all_for_api: 'To let it manage the hub, choose everything above.',
  challenge_over: 'That took too long, or the account has changed. Give the password again.',
  login_changed: 'The account has just changed. Log in again.',
  code_refused: 'The code is wrong, or was used already.',
  passkey_refused: 'The passkey was not accepted.',
  factor_demanded:
    'This hub demands a second factor. Set it up first: on the page "Account" of the dashboard, or POST /api/auth/second-factor/totp. If you have one, log in with it.',
  sign_in_over: 'This sign-in cannot be finished. It has expired, or was used already. Begin again.',
  sign_in_elsewhere: 'This sign-in cannot be finished. It was begun in another browser. Begin here: {{where}}',
  sign_in_server_gone: 'This sign-in cannot be finished. The server it was for is gone.',
  sign_in_user: 'This sign-in cannot be finished. The user who began it may not sign in to the server any more.',
  sign_in_set_up_again: 'This sign-in cannot be finished. Server "{{server}}" was set up again meanwhile. Begin again.',
  sign_in_no_code: 'This sign-in cannot be finished. The answer has no code. Begin again.',
  sign_in_refused: 'Signing in to server "{{server}}" was refused there{{why}}. Begin again if that was a mistake.',
  provider_unknown: 'There is no such provider.',
  provider_login_old: 'This login was begun too long ago. Begin again in the app.',
  provider_login_late: 'This login took too long. Begin again in the app.',
  provider_login_elsewhere: 'This login was not begun in this browser, or it was used already.',
  provider_logins_at_once: 'Too many people log in at this moment. Try again.',
  provider_logins_failed: 'Too many logins from this address did not work. Try again later.',
  provider_refused:
    '{{name}} did not let you in. Go back to the hub and begin the login again, or ask those who manage {{name}} for access.',
  provider_not_its_answer:
    'This address is not one that {{name}} sends people to. Go back to the hub and begin the login again.',
  provider_login_used:
    '{{name}} does not know this login any more: it was used already, or took too long. Go back to the hub and begin the login again.',
  provider_away:
    '{{name}} cannot be reached at this moment, so no one can log in there. Wait a little, then begin the login again.',
  provider_login_failed:
    'The login at {{name}} did not work. Go back to the hub and begin the login again. If it fails again, tell an admin of the hub, whose log says why.',
  provider_no_account:
    'You have no account on this hub. Ask an admin to invite you, by the e-mail address that your provider has verified.',
  provider_account_changed: 'Your account has just changed. Begin again.',
} as const;

export type SentenceCode = keyof typeof sentenceTable;

/** A sentence by name, and what it names. */
export type Sentence = Named<SentenceCode>;

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
