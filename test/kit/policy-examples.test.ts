import { expect, test } from 'vitest';
import { examples } from '../../web/src/pages/policies/examples.ts';
import { policySet } from '../../src/core/policies/policy-set.ts';
import { readPolicy } from '../../src/core/policies/read-policy.ts';

// The policies that the dashboard offers to begin with do what their names say.

type Name = keyof typeof examples;

interface Call {
  readonly tool: string;
  readonly args?: Record<string, unknown>;
  readonly destructive?: boolean;
  readonly readOnly?: boolean;
  readonly groups?: readonly string[];
  readonly address?: string;
}

function judged(name: Name, { tool, args = {}, destructive = false, readOnly = false, groups = [], address }: Call) {
  const [server = '', key = ''] = tool.split('/');
  return policySet([{ id: name, text: examples[name], enabled: true }])?.judge({
    principal: { type: 'User', id: 'ann', groups, role: 'user', name: 'ann' },
    action: 'call',
    resource: { type: 'Tool', server, key, readOnly, destructive, openWorld: false },
    context: { arguments: args, scope: '', mode: 'tools', client: undefined, address, time: 0 },
  }).kind;
}

const query = (sql: unknown): Call => ({ tool: 'db/query', args: { sql } });
const mail = (args: Record<string, unknown>): Call => ({ tool: 'mail/send', args });

test.each(Object.keys(examples) as Name[])('the example "%s" is read without a warning', (name) => {
  expect(readPolicy(examples[name])).toMatchObject({ problems: [], warnings: [], statements: [{}] });
});

test.each<readonly [Name, 'refuse' | 'ask', Call]>([
  ['production', 'refuse', { tool: 'production/drop', destructive: true }],
  ['select', 'refuse', query('DROP TABLE t')],
  ['select', 'refuse', query('SELECT 1; DROP TABLE t')],
  ['select', 'refuse', query(['SELECT 1'])],
  ['select', 'refuse', { tool: 'db/query' }],
  ['mail', 'refuse', mail({ to: 'eve@evil.test' })],
  ['mail', 'refuse', mail({ to: 'eve@evil.test,ann@example.com' })],
  ['mail', 'refuse', mail({ to: 'ann@example.com', bcc: 'eve@evil.test' })],
  ['mail', 'refuse', mail({ to: ['ann@example.com', 'eve@evil.test'] })],
  ['mail', 'refuse', mail({})],
  ['ask', 'ask', { tool: 'any/drop', destructive: true }],
  ['office', 'refuse', { tool: 'billing/pay', address: '203.0.113.7' }],
  ['office', 'refuse', { tool: 'billing/pay' }],
  ['group', 'refuse', { tool: 'cloud/stop', groups: ['dev'] }],
])('the example "%s" does "%s" for %o', (name, kind, call) => {
  expect(judged(name, call)).toBe(kind);
});

test.each<readonly [Name, Call]>([
  ['production', { tool: 'production/read' }],
  ['production', { tool: 'staging/drop', destructive: true }],
  ['select', query('SELECT name FROM t')],
  ['select', query('select 1')],
  ['select', { tool: 'db/list' }],
  ['mail', mail({ to: 'ann@example.com' })],
  ['ask', { tool: 'any/read', readOnly: true }],
  ['office', { tool: 'billing/pay', address: '10.1.2.3' }],
  ['group', { tool: 'cloud/stop', groups: ['ops'] }],
  ['group', { tool: 'cloud/list', readOnly: true }],
])('the example "%s" lets %o pass', (name, call) => {
  expect(judged(name, call)).toBe('none');
});
