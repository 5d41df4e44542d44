import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cannotFit } from './cannot-fit.ts';
import { policySet } from './policy-set.ts';
import { readPolicy } from './read-policy.ts';

test('what JavaScript takes for not fitting does not fit for Cedar', () => {
  const words = ['', 'a', 'b', 'ab', 'aab', 'ba', 'é😀', 'DROP TABLE', '*', 'a*b'];
  const pattern = fc
    .array(fc.constantFrom('*', 'a', 'b', 'é', '😀', '\\*'), { maxLength: 5 })
    .map((parts) => parts.join(''));
  const condition = fc.oneof(
    fc.constantFrom('context.arguments has x', 'context.arguments has y'),
    pattern.map((text) => `context.arguments.x like "${text}"`),
    fc.constantFrom(...words).map((text) => `context.arguments.x == "${text}"`),
    fc.constantFrom('context.client == "agent"', '!(context.arguments has y)', 'context.arguments.x == 1'),
  );
  const value = fc.oneof(
    fc.constantFrom(...words),
    fc.string({ unit: fc.constantFrom('a', 'b', '*', 'é', '😀') }),
    fc.constantFrom(1, null, true),
  );
  fc.assert(
    fc.property(
      fc.array(condition, { minLength: 1, maxLength: 4 }),
      fc.record({ x: value, y: value }, { requiredKeys: [] }),
      (parts, args) => {
        const text = `forbid(principal, action, resource) when { ${parts.join(' && ')} };`;
        const [statement] = readPolicy(text).statements;
        if (!statement || !cannotFit(statement.json)(args)) return;
        // Written so that only Cedar can answer.
        const asked = `forbid(principal, action, resource) when { if true then ${parts.join(' && ')} else false };`;
        const verdict = policySet([{ id: 'p0', text: asked, enabled: true }])?.judge({
          principal: { type: 'User', id: 'ann', groups: [], role: 'user', name: 'ann' },
          action: 'call',
          resource: { type: 'Tool', server: 'db', key: 'query', readOnly: false, destructive: true, openWorld: true },
          context: { arguments: args, scope: '', mode: 'tools' as const, client: 'agent', address: undefined, time: 0 },
        });
        expect(verdict, `${text} ${JSON.stringify(args)}`).toMatchObject({ kind: 'none' });
      },
    ),
    { numRuns: 500 },
  );
});
