import { expect, test } from 'vitest';
import { entry, group, server, settings, user } from '../../../test/kit/snapshots.ts';
import type { Settings } from '../settings/settings.ts';
import { judge } from './decision.ts';
import { principalOf } from './principal.ts';
import type { Scope } from './scope.ts';

// What policies know of the endpoint of a call.

/** Whether a forbid under this condition fits at the endpoint. */
function fits(scope: Scope, condition: string): boolean {
  const groups = [group('dev', [entry('db')], { id: 'i-dev' })];
  const plain = settings({ groups, servers: [server('db')], users: [user('ann')] });
  const text = `forbid(principal, action, resource) when { ${condition} };`;
  const policies = [{ id: 'p', text, enabled: true, isFile: false }];
  const governed: Settings = { ...plain, system: { ...plain.system, policies } };
  const target = { server: 'db', key: 'query' };
  const caller = { principal: principalOf(user('ann')), client: undefined, address: undefined };
  const call = { ...caller, scope, action: 'call', target, args: {}, now: Date.now() } as const;
  return judge({ settings: governed, catalogue: { offers: new Map() }, ...call })?.policy.kind === 'refuse';
}

const named = (name: string): Scope => ({ kind: 'named', name });
const smart = (name?: string): Scope => ({ kind: 'smart', group: name });
const code = (name?: string): Scope => ({ kind: 'smart', group: name, code: true });

test.each<[Scope, string]>([
  [named('dev'), 'dev'],
  [named('i-dev'), 'dev'],
  [smart('dev'), 'dev'],
  [smart('i-dev'), 'dev'],
  [code('dev'), 'dev'],
  [named('db'), 'db'],
  [{ kind: 'server', name: 'db' }, 'db'],
  // Who trusts the group of that name has not said so of the server.
  [{ kind: 'server', name: 'dev' }, '$server/dev'],
  [named('none'), 'none'],
  [{ kind: 'all' }, ''],
  [smart(), ''],
  [code(), ''],
])('the scope of %j is the name %j', (scope, name) => {
  expect(fits(scope, `context.scope == "${name}"`)).toBe(true);
  expect(fits(scope, `context.scope != "${name}"`)).toBe(false);
});

test.each<[string, readonly Scope[]]>([
  ['tools', [named('dev'), { kind: 'all' }, { kind: 'server', name: 'db' }]],
  ['smart', [smart('dev'), smart()]],
  ['code', [code('dev'), code()]],
])('the mode is %j where tools are called so', (mode, scopes) => {
  for (const scope of scopes)
    expect(['tools', 'smart', 'code'].filter((one) => fits(scope, `context.mode == "${one}"`))).toEqual([mode]);
});
