import { coreLimits } from './limits.ts';
import { filled, type Named } from './reasons.ts';

/**
 * What the hub says of things that it lists: why a change of a server may be dangerous, what a policy names that is not
 * there, what of an override may be a mistake, and why a step of a decision went as it did. By name, so that pages can
 * say it in their own language (decisions/0053). `{{name}}` stands for a value.
 */
export const remarkTable = {
  // What a change of a server means (`pins/pin-risk.ts`).
  pin_unseen: 'It has characters that are not seen, which can hide instructions.',
  pin_scripts: 'It mixes letters of several scripts in one word, which can look like another word.',
  pin_overrules: 'It tells the model to ignore, forget or overrule other instructions.',
  pin_hides: 'It tells the model to hide something from the user.',
  pin_tags: 'It has tags that look like instructions of the system.',
  pin_files: 'It sends the model to files that hold secrets.',
  pin_conversation: 'It wants the conversation, or the instructions of the model, as an argument.',
  pin_first: 'It tells the model to call this tool before, or in place of, others.',
  pin_base64: 'It has a long text in Base64.',
  pin_not_reading: 'It no longer says that it only reads.',
  pin_destroying: 'It no longer says that it destroys nothing.',
  pin_new: 'It is new, and does not say that it only reads.',
  pin_instructions: 'The instructions for the model have changed.',
  pin_description: 'The description has changed.',
  pin_world: 'It no longer says that it stays within its own world.',
  pin_output: 'What it answers has changed.',
  pin_prompt_arguments: 'Its arguments have changed.',
  pin_page: 'The page that it shows has changed.',
  pin_arguments_new: 'It has new arguments: {{names}}.',
  pin_arguments_wider: 'It takes more than before in {{names}}.',
  pin_arguments_changed: 'Arguments have changed: {{names}}.',
  pin_arguments_gone: 'Arguments are gone: {{names}}.',
  pin_arguments_any: 'It takes arguments of any name now.',

  // What a policy does not do. The first ones have a place in the text, which stands before them.
  policy_permit: 'is a permit, which has no effect: what a caller reaches is allowed unless a forbid fits',
  policy_permit_asks: 'has @approve on a permit; it belongs on a forbid',
  policy_asks_unnamed: 'has @approve without a name: "caller", "admin" or the name of a group',
  policy_scope_address:
    'compares context.scope with "{{name}}": it is the name of the group or server alone, whatever is before it in the address; context.mode is "tools", "smart" or "code"',
  policy_context: 'asks for context.{{name}}, which calls do not have ({{members}})',
  policy_no_action: '{{entity}} is no action. There are: {{actions}}.',
  policy_no_server: 'There is no server "{{name}}" ({{entity}}).',
  policy_no_group: 'There is no group with the name "{{name}}" ({{entity}}).',
  policy_no_user: 'There is no user "{{name}}" ({{entity}}).',
  policy_no_key: 'There is no access key with the id "{{name}}" ({{entity}}).',
  policy_no_kind: '{{entity}} is no kind of thing that the hub has.',
  policy_names_no_server: '{{entity}} names no server: expected "<server>/<name>".',
  policy_not_offered: 'Server "{{server}}" offers no such thing ({{entity}}).',
  policy_no_argument: 'The tool {{tool}} has no argument "{{name}}".',
  policy_no_approver: 'There is no group "{{name}}" that @approve could ask.',

  // What an override of a tool may not do (`http/frame/tool-override.ts`).
  override_unchecked: 'Server "{{server}}" has not listed its tools yet, so the override could not be checked.',
  override_no_tool: 'Server "{{server}}" offers no tool "{{tool}}" now.',
  override_no_argument: 'The tool has no argument {{names}} now.',
  override_unfit: 'The tool does not take the value of "{{path}}": {{why}}.',

  // The steps of a decision (`access/explain.ts`).
  why_not_asked: 'Not asked: {{step}} refuses.',
  why_visible: 'The tool is visible.',
  why_reached: 'The server is within reach.',
  why_key_group: 'The access key "{{name}}" opens a group with it.',
  why_key: 'The access key "{{name}}" opens it ({{scope}}).',
  why_owner: '{{user}} owns the server.',
  why_listed: 'The server is on the list of {{user}}.',
  why_admin: '{{user}} is an admin.',
  why_public: 'The server is public.',
  why_local: 'The server has no visibility, and the caller is on this machine.',
  why_shared: 'The server is shared with {{user}}.',
  why_group: 'The group "{{name}}" gives access.',
  why_not_here: 'There is no tool "{{name}}" on this endpoint.',
  why_caller_gone: 'The user or key does not exist, is disabled, or has expired.',
  why_not_offered: 'No server offers a tool "{{name}}".',
  why_no_server: 'There is no server "{{server}}".',
  why_server_off: 'Server "{{server}}" is switched off.',
  why_no_endpoint: 'The endpoint {{endpoint}} does not exist for this caller.',
  why_other_endpoint: 'Server "{{server}}" is not on the endpoint {{endpoint}}.',
  why_no_access:
    'The caller has no access to server "{{server}}": it is not theirs, not public, and in none of their groups.',
  why_not_connected: 'Server "{{server}}" has not listed its tools yet: it is not connected.',
  why_no_such_tool: 'Server "{{server}}" offers no tool "{{name}}".',
  why_tool_off: 'The tool is switched off on server "{{server}}".',
  why_only_reads: 'The key only reads, and the tool does not say that it only reads.',
  why_group_hides: 'The group "{{name}}", or the groups that give access, do not show this tool.',
  why_groups_hide: 'The groups that give access do not show this tool.',
  why_pins_off: 'Pins are off for this server.',
  why_pin_held: 'The tool is {{state}} and waits for the approval of an admin.',
  why_pin_rejected_held: 'The tool is rejected and waits for the approval of an admin.',
  why_pin_approved: 'The tool is approved.',
  why_pin_told: 'The tool is {{state}}.',
  why_pin_rejected: 'The tool is rejected.',
  why_secrets: 'The arguments hold {{kinds}}, and the server is sent no secrets.',
  why_policy: 'The policy "{{policy}}" forbids it.',
  why_policy_asks: 'The policy "{{policy}}" asks first.',
  why_policies_ignored: 'No policy fits. These ask for arguments that were not given: {{policies}}.',
  why_no_policy_fits: 'No policy fits.',
  why_no_policies: 'There are no policies.',
  why_no_approval: 'No approval is needed.',
  why_asks_caller: 'The call waits for the yes of the caller.',
  why_asks_admin: 'The call waits for the yes of an admin.',
  why_asks_group: 'The call waits for the yes of a member of group "{{name}}".',
  why_no_limit: 'No limit applies.',
  why_within_limits: 'Within the limits of {{names}}.',
  why_limit: 'The limit of {{what}} is reached: {{limit}} {{allowed}}.',
} as const;

export type RemarkCode = keyof typeof remarkTable;

/** A remark by name, and what it names: strings of at most `saidValueChars`. */
export type NamedRemark = Named<RemarkCode>;

/** A remark in English, and by name. */
export interface Remark {
  readonly text: string;
  readonly said: NamedRemark;
}

/** A remark as the reason of something: its text with its name beside it. */
export interface Because {
  readonly reason: string;
  readonly said: NamedRemark;
}

export function because(...given: Parameters<typeof remark>): Because {
  const { text, said } = remark(...given);
  return { reason: text, said };
}

/** The text in at most so many characters; dots stand at its end where some are left out. */
export function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** The remark of that name, with these values at its places. */
export function remark(code: RemarkCode, values: NamedRemark['values'] = {}): Remark {
  // Names come from servers and requests, and may be of any length.
  const short = Object.entries(values).map(([name, value]) => [name, cut(value, coreLimits.saidValueChars)]);
  return {
    text: filled(remarkTable[code], values),
    said: { code, values: Object.fromEntries(short) as NamedRemark['values'] },
  };
}
