import { describe, expect, test } from 'vitest';
import { HubError } from '../core/errors.ts';
import { overrideProblems } from '../core/access/tool-override.ts';
import { addressesInput, parseInput, timeInput } from '../core/input.ts';
import { type ProblemCode, problemNamed, problemTable, problemText } from '../core/problems.ts';
import { compileSchema } from '../core/schema/check.ts';
import type { ToolOverride } from '../core/settings/server.ts';
import { newReport } from './document/report.ts';
import { groupNameInput } from './group/group-input.ts';
import { parseClientConfig } from './import/client-config.ts';
import { newKeyInput } from './key/key-input.ts';
import { checkServer } from './server/check-server.ts';
import { slotValueProblem } from './server/credential-template.ts';
import { serverNameProblem } from './server/server-entry.ts';
import { newPromptInput, newResourceInput } from './own/own-shape.ts';
import { readGuards } from './system/guards-shape.ts';
import { readPolicies } from './system/policies-shape.ts';
import { newUserInput, usernameInput } from './user/user-input.ts';

// What forms are refused for has a name, found by its words: a sentence that is made elsewhere in other words would be
// said in English alone.

type Schema = Parameters<typeof parseInput>[0];

function refused(schema: Schema, value: unknown): readonly string[] {
  try {
    parseInput(schema, value, 'Cannot');
    return [];
  } catch (error) {
    return error instanceof HubError ? error.problems.map(({ message }) => message) : [String(error)];
  }
}

const server = (config: unknown, name = 'x') => checkServer(name, config).problems.map(({ message }) => message);
const slots = (credentialTemplate: unknown) => server({ command: 'x', args: [], credentialTemplate });
const fine = 'forbid(principal, action, resource);';
const policies = (given: Parameters<typeof readPolicies>[0]) => {
  const report = newReport();
  readPolicies(given, [], report);
  return report.problems.map(({ message }) => message);
};
const guard = { on: ['call' as const], url: 'https://guard.example' };
const guards = (given: Parameters<typeof readGuards>[0]) => {
  const report = newReport();
  readGuards(given, () => true, report);
  return report.problems.map(({ message }) => message);
};
const tools = [
  { key: 't', text: '{"name":"t","inputSchema":{"properties":{"q":{}},"required":["q"]}}' },
  { key: 'u', text: '{"name":"u"}' },
];
const overridden = (override: ToolOverride) => overrideProblems(tools, 't', override).map(({ message }) => message);
const fits = (schema: unknown, value: unknown) => compileSchema(schema)(value).problems.map(({ message }) => message);
const pasted = (mcpServers: object) =>
  parseClientConfig(JSON.stringify({ mcpServers })).notes.map(({ message }) => message);
const read = (text: string) => parseClientConfig(text).problems.map(({ message }) => message);
const slot = { target: 'headers', name: 'X' } as const;

const cases: readonly (readonly [ProblemCode, () => readonly (string | undefined)[]])[] = [
  ['required', () => refused(newKeyInput, {})],
  ['empty', () => refused(newKeyInput, { name: ' ' })],
  ['at_most', () => refused(usernameInput, 'a'.repeat(500))],
  ['at_most_too', () => refused(newKeyInput, { name: 'a'.repeat(5_000) })],
  ['at_least', () => refused(newUserInput, { username: 'ann', password: 'x' })],
  ['dots_only', () => refused(groupNameInput, '...')],
  ['reserved_word', () => refused(groupNameInput, '__proto__')],
  ['reserved_name', () => refused(usernameInput, '__proto__')],
  ['username_letters', () => refused(usernameInput, 'a b')],
  ['group_name_letters', () => refused(groupNameInput, 'a/b')],
  ['email_form', () => refused(newUserInput, { username: 'ann', email: 'ann' })],
  ['email_form', () => refused(newUserInput, { username: 'ann', email: 'a\nb@c.example' })],
  ['email_form', () => refused(newUserInput, { username: 'ann', email: 'a@b@c.example' })],
  ['password_or_email', () => refused(newUserInput, { username: 'ann' })],
  ['time_form', () => refused(timeInput, 'tomorrow')],
  ['address_range', () => refused(addressesInput, ['here'])],
  ['no_text', () => [serverNameProblem('')]],
  ['longer', () => [serverNameProblem('a'.repeat(500))]],
  ['server_name_letters', () => [serverNameProblem('a b')]],
  ['server_name_dots', () => [serverNameProblem('.a')]],
  ['taken_by_hub', () => server({ command: 'x' }, '__proto__')],
  ['no_command', () => server({ type: 'stdio' })],
  ['no_command', () => server({ type: 'stdio', url: 'https://x.example' })],
  ['no_url', () => server({ type: 'sse', url: '' })],
  ['url_scheme', () => server({ url: 'example.com' })],
  ['url_other_scheme', () => server({ url: 'ftp://example.com' })],
  ['url_host', () => server({ url: 'https:///mcp' })],
  ['url_form', () => server({ url: 'https://a b/' })],
  ['variable_name', () => server({ command: 'x', env: { 'A=B': 'c' } })],
  ['header_name', () => server({ url: 'https://x.example', credentialTemplate: [{ target: 'headers', name: 'a b' }] })],
  ['header_line', () => [slotValueProblem(slot, 'a\nb')]],
  ['header_control', () => [slotValueProblem(slot, 'a\u0001b')]],
  ['header_latin', () => [slotValueProblem(slot, '钥')]],
  ['more_than', () => [slotValueProblem(slot, 'a'.repeat(1_000_000))]],
  ['nul', () => [slotValueProblem({ target: 'env', name: 'X' }, 'a\0')]],
  ['slot_target', () => slots([{ name: 'x' }])],
  [
    'slot_twice',
    () =>
      slots([
        { target: 'env', name: 'A' },
        { target: 'env', name: 'A' },
      ]),
  ],
  ['slot_no_headers', () => slots([{ target: 'headers', name: 'A' }])],
  ['slot_no_place', () => slots([{ target: 'args', name: 'team' }])],
  ['slot_no_variables', () => server({ url: 'https://x.example', credentialTemplate: [{ target: 'env', name: 'A' }] })],
  [
    'slot_no_arguments',
    () => server({ url: 'https://x.example', credentialTemplate: [{ target: 'args', name: 'A' }] }),
  ],
  ['own_name_letters', () => refused(newPromptInput, { name: 'a b', template: '' })],
  ['argument_letters', () => refused(newPromptInput, { name: 'a', template: '', arguments: [{ name: 'a b' }] })],
  ['uri', () => refused(newResourceInput, { uri: 'a b', content: '' })],
  ['tool_name_letters', () => server({ command: 'x', tools: { t: { name: 'a b' } } })],
  ['tool_name_taken', () => server({ command: 'x', tools: { t: { name: 'a' }, u: { name: 'a' } } })],
  [
    'range_calls',
    () => refused(newUserInput, { username: 'ann', password: 'longer than it', limits: { callsPerDay: 0 } }),
  ],
  ['id_letters', () => policies([{ id: 'a/b', text: fine }])],
  [
    'same_as',
    () =>
      policies([
        { id: 'a', text: fine },
        { id: 'a', text: fine },
      ]),
  ],
  ['id_digits', () => guards([{ ...guard, id: '7' }])],
  ['id_secrets', () => guards([{ ...guard, id: 'secrets' }])],
  ['tool_name_in_use', () => overridden({ name: 'u' })],
  ['hidden_required', () => overridden({ arguments: [['q', { hidden: true }]] })],
  [
    'policy_unreadable',
    () => policies([{ id: 'a', text: `forbid(principal, action, resource) when { context${'.a'.repeat(15_000)} };` }]),
  ],
  ['policy_empty', () => policies([{ id: 'a', text: '' }])],
  ['policy_template', () => policies([{ id: 'a', text: 'forbid(principal == ?principal, action, resource);' }])],
  ['policy_deep', () => policies([{ id: 'a', text: '('.repeat(10_000) }])],
  ['policy_long', () => policies([{ id: 'a', text: ' '.repeat(1_000_000) }])],
  ['value_type', () => fits({ type: 'string' }, 1)],
  ['value_one_of', () => fits({ enum: ['a', 'b'] }, 1)],
  ['value_not_here', () => fits({ properties: { a: false } }, { a: 1 })],
  ['value_allowed', () => server({ command: 'x', type: 'nope' })],
  ['pasted_renamed', () => pasted({ 'a b': { command: 'x' } })],
  ['pasted_renumbered', () => pasted({ 'a b': { command: 'x' }, 'a-b': { command: 'x' } })],
  ['pasted_object', () => read('{"mcpServers": {"a": 1, "b": {"command": "x"}}}')],
  ['pasted_object', () => read('{"mcpServers": {"a": {"command": "x", "env": []}}}')],
  ['pasted_array', () => read('{"mcpServers": {}, "groups": {}}')],
  ['pasted_texts', () => read('{"mcpServers": {"a": {"command": "x", "args": "y"}}}')],
  ['pasted_text', () => read('{"mcpServers": {"a": {"command": "x", "args": [{}]}}}')],
  ['pasted_some_text', () => read('{"mcpServers": {"a": {"url": 1}}}')],
  ['pasted_missing', () => read('{"mcpServers": {"a": {"type": "http"}}}')],
  ['pasted_no_start', () => read('{"mcpServers": {"a": {}, "b": {"command": "x"}}}')],
  ['pasted_extension', () => read('{"context_servers": {"a": {"settings": {}}}}')],
  ['pasted_program', () => read('{"mcpServers": {"a": {"command": 1}}}')],
  ['pasted_neither', () => read('claude mcp add x')],
  ['pasted_no_name', () => read('claude mcp add')],
  ['pasted_quotes_json', () => read("claude mcp add-json x '{'")],
  ['pasted_quotes', () => read("claude mcp add-json x '1'")],
  [
    'pasted_too_many',
    () => read(JSON.stringify({ mcpServers: Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [i, {}])) })),
  ],
  ['pasted_env_file', () => pasted({ a: { command: 'x', envFile: '.env' } })],
  ['pasted_only_tools', () => pasted({ a: { command: 'x', includeTools: ['a'] } })],
  ['pasted_transport', () => pasted({ a: { url: 'https://x.example', type: 'carrier pigeon' } })],
  ['pasted_editor_variable', () => pasted({ a: { command: 'x', args: ['${workspaceFolder}'] } })],
  ['type_object', () => server({ command: 'x', options: 1 })],
  ['type_array', () => server({ command: 'x', args: 'y' })],
  ['type_string', () => server({ command: 'x', args: [1] })],
  ['type_boolean', () => server({ command: 'x', enabled: 'true' })],
  ['unknown_member', () => server({ command: 'x', sandbox: { nope: 1 } })],
  ['pasted_unknown', () => parseClientConfig('some words').problems.map(({ message }) => message)],
  ['pasted_json', () => parseClientConfig('{"mcpServers": {').problems.map(({ message }) => message)],
];

describe('what is wrong with a value', () => {
  test.each(cases)('has the name %s', (code, messages) => {
    expect(messages().map((message) => problemNamed(message ?? '')?.code)).toContain(code);
  });

  test('is found by each sentence of the table, with what it names, and by no other', () => {
    for (const code of Object.keys(problemTable) as ProblemCode[]) {
      const names = [...problemTable[code].matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name);
      const isNumber = (name: string) => name === 'most' || name === 'least';
      const values = Object.fromEntries(names.map((name) => [name, isNumber(name) ? '7' : `a ${name} of "{{it}}"`]));
      expect(problemNamed(problemText(code, values))).toEqual({ code, values });
    }
    expect(problemNamed('is odd')).toBeUndefined();
    expect(problemNamed('line 2, column 3: has no policy.')).toEqual({ code: 'policy_empty', values: {} });
    expect(problemNamed('must be at most 7 arguments')).toBeUndefined();
    expect(problemNamed(`must have at least ${'9'.repeat(1_000)} characters`)).toBeUndefined();
  });
});
