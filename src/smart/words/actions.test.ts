import { describe, expect, test } from 'vitest';
import { actionAsked, actionsOfTool } from './actions.ts';

/** How well a tool of that name does what a query asks for. */
function fit(query: string, name: string, description = ''): 'same' | 'near' | 'other' | 'unknown' {
  const asked = actionAsked(query);
  const does = actionsOfTool(name, description);
  if (!asked || does === 0) return 'unknown';
  if ((does & asked.same) !== 0) return 'same';
  return (does & asked.near) === 0 ? 'other' : 'near';
}

describe('what is asked for', () => {
  test.each([
    ['delete the branch', 'delete_branch', 'same'],
    ['delete the branch', 'create_branch', 'other'],
    ['please remove this user', 'userDelete', 'same'],
    ['create a new issue', 'issue_write', 'same'],
    ['show me my servers', 'server_list', 'same'],
    ['show me my servers', 'server_get', 'near'],
    ['show me the details of server x', 'server_get', 'same'],
    ['what certificates are in the vault', 'certificate_list', 'same'],
    ['find my old mails', 'search_inbox', 'same'],
    ['find my old mails', 'list_messages', 'same'],
    ['find my old mails', 'send_message', 'other'],
    ['get the invoice', 'create_or_get_invoice', 'same'],
    ['convert 5 miles', 'unit_calculator', 'same'],
    ['the weather in Rome', 'get_weather', 'unknown'],
    ['stop the machine', 'start_machine', 'other'],
  ])('"%s" and %s: %s', (query, name, expected) => {
    expect(fit(query, name)).toBe(expected);
  });
});

test('a name without an action leaves it to the first words of the description', () => {
  expect(fit('delete a file', 'trash', 'Deletes a file for ever.')).toBe('same');
  expect(fit('delete a file', 'trash', 'This tool, when called, deletes a file.')).toBe('unknown');
  expect(fit('delete a file', 'create_file', 'Deletes nothing.')).toBe('other');
});

test('verbs that come later in a long request are not what it asks first', () => {
  expect(actionAsked('my colleague told me yesterday that somebody wanted to delete it')).toBeUndefined();
});

test('texts of any kind and length are looked at only where they begin', () => {
  const before = process.cpuUsage();
  for (const text of ['', '🚀', '删除文件', 'x'.repeat(10_000_000), 'word '.repeat(2_000_000)]) {
    expect(actionAsked(text)).toBeUndefined();
    expect(actionsOfTool(text, text)).toBe(0);
  }
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
});
