import { filled, type Named } from './reasons.ts';

/**
 * What is wrong with a single value that a person gave in a form of the dashboard, by name, so that pages can say it in
 * their own language (decisions/0053). It follows the path of the value: `name is required`. `{{most}}` stands for a
 * value. What is not here is said in English alone.
 */
export const problemTable = {
  required: 'is required',
  empty: 'must not be empty',
  no_text: 'is empty',
  at_least: 'must have at least {{least}} characters',
  at_most: 'may have {{most}} characters at most',
  at_most_too: 'must have at most {{most}} characters',
  longer: 'is longer than {{most}} characters',
  more_than: 'has more than {{most}} characters',
  dots_only: 'must not consist of dots only',
  reserved_name: 'is a reserved name',
  reserved_word: 'is a reserved word',
  taken_by_hub: 'this name is reserved; give the server another',
  username_letters: 'may consist of letters, digits, ".", "_", "@", "+" and "-"',
  group_name_letters: 'may consist of letters, digits, ".", "_", "-" and inner spaces',
  server_name_letters: 'may consist of letters, digits, ".", "_" and "-" only',
  server_name_dots: 'must not begin with "." or contain ".."',
  password_or_email: 'is required, or the e-mail address of a user who logs in at a provider',
  email_form: 'must be an e-mail address, such as ann@example.com',
  password_common: 'is among the most common passwords, or nearly one of them. Choose another one',
  password_name: 'is the user name, or nearly. Choose another one',
  password_product: 'is the name of this program, or nearly. Choose another one',
  password_repeated: 'repeats the same few characters. Choose another one',
  password_sequence: 'is a row of the alphabet, of digits or of the keyboard. Choose another one',
  code_wrong: 'is wrong. The clock of your device may be: compare it',
  last_admin: 'must stay "admin": there is no other admin. Make another user an admin first',
  unknown_user: 'names an unknown user "{{name}}"',
  time_past: 'is in the past: it is {{now}} now',
  time_form: 'must be a time in ISO 8601 with its offset, such as 2030-01-31T12:00:00Z',
  address_range: 'must be an IP address or a range, such as 192.0.2.7, 10.0.0.0/8 or fd00::/8',
  address_range_expected: 'expected a range of addresses like "10.1.0.0/16" or a single address, found {{found}}',
  no_command: 'expected the program to start, found {{found}}',
  no_url: 'expected an address like https://example.com/mcp, found {{found}}',
  url_scheme: 'expected an address like https://example.com/mcp: it has to begin with http:// or https://',
  url_other_scheme: 'expected an address like https://example.com/mcp, found one that begins with {{scheme}}',
  url_host: 'expected an address like https://example.com/mcp, found one without a host',
  url_form:
    'expected an address like https://example.com/mcp, found one that cannot be understood (is there a space in it, or a wrong port?)',
  variable_name: 'a variable\'s name is not empty and has no "="',
  header_name: 'is no name a header can have (letters, digits and "-", no spaces, no ":")',
  header_line: 'has a line break inside; only one line can be sent',
  header_control: 'contains a control character',
  header_latin: 'contains a character outside Latin-1, which headers cannot carry',
  nul: 'contains a NUL character',
  slot_missing: 'is missing: every slot needs a value',
  slot_target: 'needs a "target": "env", "headers" or "args"',
  slot_twice: 'is there twice; keep one',
  slot_no_headers: 'a program gets no headers; use "env" or "args"',
  slot_no_variables: 'only a program has variables; use "headers"',
  slot_no_arguments: 'only a program has arguments; use "headers"',
  slot_no_place: '"args" has no {{place}}, where it goes',
  alias_twice: 'has two servers under the name "{{name}}"; give one another alias',
  separator: 'expected 1 to 8 characters without spaces and "/", for example "-" or "__", found {{found}}',
  range_bytes: 'expected a whole number from {{least}} to {{most}} bytes, found {{found}}',
  range_calls: 'expected a whole number from {{least}} to {{most}} calls, found {{found}}',
  range_characters: 'expected a whole number from {{least}} to {{most}} characters, found {{found}}',
  range_items: 'expected a whole number from {{least}} to {{most}} items (0 = all in one page), found {{found}}',
  range_megabytes: 'expected a whole number from {{least}} to {{most}} megabytes, found {{found}}',
  range_milliseconds: 'expected a whole number from {{least}} to {{most}} milliseconds, found {{found}}',
  range_port: 'expected a whole number from {{least}} to {{most}} (a port), found {{found}}',
  range_processes: 'expected a whole number from {{least}} to {{most}} processes, found {{found}}',
  range_seconds: 'expected a whole number from {{least}} to {{most}} seconds, found {{found}}',
  range_tokens: 'expected a whole number from {{least}} to {{most}} tokens, found {{found}}',
  own_name_letters: 'must be made of letters, digits, ".", "_" and "-"',
  tool_name_letters: 'must be made of letters, digits, "_" and "-"',
  argument_letters: 'must have no blanks or braces',
  uri: 'must be a URI, for example docs://guide',
  id_letters: 'expected 1 to 100 letters, digits, ".", "_", "-" and spaces',
  id_digits: 'is of digits alone, as the places of guards without an id are',
  id_secrets: 'is what the hub itself looks for; give the guard another id',
  same_as: 'is the same as {{path}}; {{rule}}',
  tool_name_taken: '"{{name}}" is the name of "{{other}}" already. Give one of them another',
  tool_name_in_use: 'is the name of another tool of the server: "{{name}}"',
  hidden_required: 'the tool requires this argument: give it a "value" or a "default", or do not hide it',
  value_type: 'expected {{wanted}}, got {{found}}',
  value_one_of: 'must be one of {{values}}',
  value_not_here: 'is not allowed here',
  value_allowed: 'allowed: {{values}}; found {{found}}',
  policy_long: 'is longer than {{most}} characters. Make several policies of it.',
  policy_deep: 'is nested deeper than {{most}} brackets.',
  policy_template: 'has a template (?principal or ?resource), which is not supported.',
  policy_empty: 'has no policy.',
  policy_unreadable: 'cannot be read ({{why}}). Make it simpler.',
  http_address: 'must be an address that begins with http:// or https://',
  pasted_nothing: 'has no server in it',
  pasted_unknown:
    'is nothing we know. Paste the settings of a client (JSON or TOML, or the part with the servers), a command line that starts a server, or a URL',
  pasted_json: 'is not valid JSON: {{why}}',
  pasted_toml: 'is not valid TOML: {{why}}',
  pasted_split: 'was split into program and arguments',
  pasted_groups: 'were left out: only servers are imported',
  pasted_member: 'is not imported; only servers and groups are',
  pasted_renamed: 'is called "{{name}}" here: a name {{why}}',
  pasted_renumbered: 'is called "{{name}}" here: there is another "{{other}}"',
  pasted_object: 'must be an object',
  pasted_array: 'must be an array',
  pasted_texts: 'must be an array of texts',
  pasted_text: 'must be a text',
  pasted_some_text: 'must be a text that is not empty',
  pasted_missing: 'is missing',
  pasted_no_start: 'is missing, and there is no url either',
  pasted_extension: 'is missing: this is an extension of the editor, which the hub cannot start',
  pasted_program: 'must be the name of a program',
  pasted_neither: 'has neither a command nor a URL',
  pasted_no_name: 'names no server',
  pasted_quotes: 'must have the server as JSON in quotes',
  pasted_quotes_json: 'must have the server as JSON in quotes ({{why}})',
  pasted_too_many: 'has {{count}} servers; only the first {{most}} were read',
  pasted_env_file: 'is not read; its variables go into "env"',
  pasted_only_tools: 'was left out: choose the tools in a group',
  pasted_transport: '{{found}} is no transport we know; it was left out',
  pasted_editor_variable: '{{found}} means something to the editor only; write what it stands for',
  type_object: 'expected object, found {{found}}',
  type_array: 'expected array, found {{found}}',
  type_string: 'expected string, found {{found}}',
  type_number: 'expected number, found {{found}}',
  type_whole: 'expected a whole number, found {{found}}',
  type_boolean: 'expected boolean, found {{found}}',
  unknown_member: 'has no such member: {{names}}',
} as const;

export type ProblemCode = keyof typeof problemTable;

/** A problem by name, and what it names. */
export type NamedProblem = Named<ProblemCode>;

type UnitIn<Code> = Code extends `range_${infer Unit}` ? Unit : never;
/** What a number is of that has to be in a range. */
export type RangeUnit = UnitIn<ProblemCode>;

/** The words of a problem with the values at their places. */
export function problemText(code: ProblemCode, values: NamedProblem['values'] = {}): string {
  return filled(problemTable[code], values);
}

/** Values that are whole numbers. */
const numbers: ReadonlySet<string> = new Set(['most', 'least']);

// The longest first: what a shorter one leaves open may be the rest of a longer one.
const longestFirst = Object.entries(problemTable).toSorted(([, one], [, other]) => other.length - one.length);
const patterns = longestFirst.map(([code, text]) => {
  const parts = text.split(/\{\{(\w+)\}\}/);
  const names = parts.filter((_, index) => index % 2 === 1);
  const source = parts.map((part, index) =>
    index % 2 === 1 ? (numbers.has(part) ? '(\\d{1,20})' : '(.{0,200})') : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
  );
  return { code: code as ProblemCode, names, pattern: new RegExp(`^${source.join('')}\\.?$`, 's') };
});

/** Where in a text of several lines a problem is: before its words. */
const place = /^line \d+, column \d+: /;

/**
 * The name of a problem, found by its words: schemas and reports know messages alone. Undefined for one that has no
 * name.
 */
export function problemNamed(message: string): NamedProblem | undefined {
  const words = message.replace(place, '');
  for (const { code, names, pattern } of patterns) {
    const match = pattern.exec(words);
    if (match) return { code, values: Object.fromEntries(names.map((name, index) => [name, match[index + 1] ?? ''])) };
  }
  return undefined;
}
