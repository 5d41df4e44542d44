import { describe, expect, test } from 'vitest';
import { coreLimits } from '../limits.ts';
import {
  type PolicyContext,
  type PolicyPrincipal,
  type PolicyQuestion,
  type PolicyResource,
  policySet,
} from './policy-set.ts';
import fc from 'fast-check';
import { cannotFit } from './cannot-fit.ts';
import { readPolicy } from './read-policy.ts';

const ann: PolicyPrincipal = { type: 'User', id: 'ann', groups: ['dev'], role: 'user', name: 'ann' };
const query: PolicyResource = {
  type: 'Tool',
  server: 'db',
  key: 'query',
  readOnly: false,
  destructive: true,
  openWorld: true,
};
const context: PolicyContext = {
  arguments: {},
  scope: '',
  client: 'agent',
  address: '10.1.2.3',
  time: Date.parse('2026-11-25T10:00:00Z'),
};

interface Asked {
  readonly args?: Record<string, unknown>;
  readonly principal?: PolicyPrincipal;
  readonly resource?: PolicyResource;
  readonly context?: Partial<PolicyContext>;
  readonly action?: PolicyQuestion['action'];
}

function judge(texts: string | readonly string[], asked: Asked = {}) {
  const list = typeof texts === 'string' ? [texts] : texts;
  const set = policySet(list.map((text, i) => ({ id: `p${i}`, text, enabled: true })));
  const { args = {}, principal = ann, resource = query, action = 'call' } = asked;
  return set?.judge({ principal, action, resource, context: { ...context, ...asked.context, arguments: args } });
}

const refused = expect.objectContaining({ kind: 'refuse' });
const passes = expect.objectContaining({ kind: 'none' });
const when = (condition: string): string => `forbid(principal, action, resource) when { ${condition} };`;

describe('a policy', () => {
  test.each([
    ['forbid(principal, action, resource);', {}],
    ['forbid(principal == User::"ann", action, resource);', {}],
    ['forbid(principal in Group::"dev", action, resource);', {}],
    ['forbid(principal is User, action, resource);', {}],
    ['forbid(principal is User in Group::"dev", action, resource);', {}],
    ['forbid(principal, action == Action::"call", resource);', {}],
    ['forbid(principal, action in [Action::"getPrompt", Action::"call"], resource);', {}],
    ['forbid(principal, action, resource == Tool::"db/query");', {}],
    ['forbid(principal, action, resource in Server::"db");', {}],
    ['forbid(principal, action, resource is Tool in Server::"db");', {}],
    [when('principal.role == "user"'), {}],
    [when('resource.destructive && !resource.readOnly && resource.openWorld'), {}],
    [when('resource in Server::"db"'), {}],
    [when('context.client == "agent" && context.scope == ""'), {}],
    [when('context.address.isInRange(ip("10.0.0.0/8"))'), {}],
    [when('context.time > datetime("2026-11-25T09:59:00Z")'), {}],
    [when('context.arguments.sql like "*DROP*"'), { args: { sql: 'x; DROP TABLE t' } }],
    [when('context.arguments has a && context.arguments.a.b == 3'), { args: { a: { b: 3, c: null } } }],
    [when('context.arguments.to.contains("x@y")'), { args: { to: ['x@y', 'z'] } }],
    [when('context.arguments.price.greaterThan(decimal("1.4"))'), { args: { price: 1.5 } }],
    [when('context.arguments == {}'), {}],
    [when('context has arguments'), {}],
  ])('%s fits', (text, asked: Asked) => {
    expect(judge(text, asked)).toEqual(refused);
  });

  test.each([
    ['forbid(principal == User::"bob", action, resource);', {}],
    ['forbid(principal == Key::"ann", action, resource);', {}],
    ['forbid(principal in Group::"ops", action, resource);', {}],
    ['forbid(principal is Anonymous, action, resource);', {}],
    ['forbid(principal, action == Action::"readResource", resource);', {}],
    ['forbid(principal, action, resource == Tool::"db/other");', {}],
    ['forbid(principal, action, resource == Prompt::"db/query");', {}],
    ['forbid(principal, action, resource in Server::"other");', {}],
    [when('principal.role == "admin"'), {}],
    [when('context.address.isInRange(ip("10.0.0.0/8"))'), { context: { address: undefined } }],
    [when('context.arguments.sql like "*DROP*"'), { args: { sql: 'SELECT 1' } }],
    [when('context.arguments.sql like "*DROP*"'), { args: { other: 'DROP' } }],
    ['permit(principal, action, resource);', {}],
  ])('%s does not fit', (text, asked: Asked) => {
    expect(judge(text, asked) ?? { kind: 'none' }).toEqual(passes);
  });

  test('says its id and its message; a refusal wins over a question, and another person over the caller', () => {
    const plain = '@message("No.") forbid(principal, action, resource);';
    const caller = '@approve("caller") forbid(principal, action, resource);';
    const admin = '@approve("admin") @message("Ask.") forbid(principal, action, resource);';
    expect(judge([caller, plain])).toEqual({ kind: 'refuse', policy: 'p1', message: 'No.' });
    expect(judge([caller, admin])).toEqual({ kind: 'ask', policy: 'p1', who: 'admin', message: 'Ask.' });
    expect(judge([caller])).toEqual({ kind: 'ask', policy: 'p0', who: 'caller', message: undefined });
  });

  test('that asks for what the call does not have is named', () => {
    expect(judge(when('context.arguments.sql like "*"'))).toEqual({ kind: 'none', ignored: ['p0'] });
    expect(judge(when('principal.nothing == 1'))).toEqual({ kind: 'none', ignored: ['p0'] });
    expect(judge(when('resource.nothing == 1'))).toEqual({ kind: 'none', ignored: ['p0'] });
  });

  test('is told when it is switched off, and concerns only what it names', () => {
    expect(policySet([{ id: 'a', text: 'forbid(principal, action, resource);', enabled: false }])).toBeUndefined();
    const set = policySet([
      { id: 'a', text: 'forbid(principal, action, resource == Tool::"db/query");', enabled: true },
    ]);
    expect(set?.concerns('call', 'Tool', 'db', 'query')).toBe(true);
    expect(set?.concerns('call', 'Tool', 'db', 'other')).toBe(false);
    expect(set?.concerns('readResource', 'Resource', 'db', 'query')).toBe(false);
  });
});

describe('a call that no policy can judge is refused', () => {
  // Written so that only Cedar can answer.
  const reads = when('if true then context.arguments.x == "1" else false');
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
  test.each([
    ['a value of another type', when('context.arguments.n > 3'), { n: 'text' }],
    ['a text that is no number', when('decimal(context.arguments.n).greaterThan(decimal("1.0"))'), { n: '1' }],
    // Cedar quotes it in its message.
    [
      'a text that reads as if an attribute were missing',
      when('decimal(context.arguments.n).greaterThan(decimal("1.0"))'),
      { n: 'record does not have the attribute `n`' },
    ],
    [
      'an address that reads as if an attribute were missing',
      when('ip(context.arguments.n).isLoopback()'),
      { n: '`User::"ann"` does not have the attribute `n`' },
    ],
    ['a number that Cedar does not have', reads, { x: 1e300 }],
    ['an integer that JSON reads wrongly', reads, { x: 2 ** 60 }],
    ['arguments that are nested deeply', reads, { x: deep(500) }],
    ['arguments that are long', reads, { x: 'y'.repeat(coreLimits.policyArgumentChars + 1) }],
    ['arguments of many values', reads, { x: Array.from({ length: coreLimits.policyArgumentNodes }, (_, i) => i) }],
  ])('%s', (_, text, args) => {
    expect(judge(text, { args })).toEqual(refused);
    // Not where no policy looks at it.
    expect(judge(when('context.arguments.other == "1"'), { args })).toEqual(passes);
  });

  test('arguments and patterns that take long to compare', () => {
    const like = (chars: number) => when(`if true then context.arguments.x like "*${'a'.repeat(chars)}*" else false`);
    const x = 'b'.repeat(coreLimits.policyArgumentChars - 1);
    expect(judge(like(100), { args: { x } })).toEqual(passes);
    expect(judge(like(20_000), { args: { x } })).toMatchObject({
      kind: 'refuse',
      message: expect.stringMatching(/longer than 2\d{3} characters/) as string,
    });
    expect(judge(like(20_000), { args: { x: 'b'.repeat(2_000) } })).toEqual(passes);
    // Those of several policies count together.
    expect(judge([like(150), like(150)], { args: { x } })).toEqual(refused);
    expect(judge([like(90), like(90)], { args: { x } })).toEqual(passes);
  });

  test('arguments that look like entities stay arguments', () => {
    const args = { owner: { __entity: { type: 'User', id: 'ann' } } };
    expect(judge(when('context.arguments.owner == principal'), { args })).toEqual(passes);
  });

  test('unclear arguments', () => {
    const set = policySet([{ id: 'a', text: reads, enabled: true }]);
    const question = { principal: ann, action: 'call', resource: query, context } as const;
    expect(set?.judge({ ...question, unclear: () => 'a name twice' })).toEqual(refused);
  });
});

test('the same question is asked once, another one again', () => {
  const text = when('context.arguments.sql like "*DROP*"');
  const set = policySet([{ id: 'a', text, enabled: true }]);
  const question = { principal: ann, action: 'call', resource: query } as const;
  const ask = (args: Record<string, unknown>) => set?.judge({ ...question, context: { ...context, arguments: args } });
  const first = ask({ sql: 'DROP', other: 1 });
  expect(ask({ sql: 'DROP', other: 2 })).toBe(first);
  expect(ask({ sql: 'SELECT' })).toEqual(passes);
});

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
        expect(judge(asked, { args }), `${text} ${JSON.stringify(args)}`).toEqual(passes);
      },
    ),
    { numRuns: 500 },
  );
});

describe('reading', () => {
  test('a text with a fault says its line and column', () => {
    const { problems } = readPolicy('permit(principal, action, resource);\nforbid(principal, action resource);');
    expect(problems).toEqual([{ line: 2, column: 26, message: expect.stringContaining('unexpected token') as string }]);
    expect(readPolicy('// ä€\nforbid(principal, action resource);').problems[0]).toMatchObject({ line: 2, column: 26 });
  });

  test.each([
    ['', 'has no policy'],
    ['forbid(principal == ?principal, action, resource);', 'template'],
    ['x'.repeat(coreLimits.policyChars + 1), 'longer than'],
    [when(`${'('.repeat(3_000)}true${')'.repeat(3_000)}`), 'nested deeper'],
  ])('%.40s is refused', (text, why) => {
    expect(readPolicy(text).problems[0]?.message).toContain(why);
    // The engine goes on.
    expect(readPolicy('forbid(principal, action, resource);').problems).toEqual([]);
  });

  test('a text that does not end is a fault of the policy', () => {
    const text = `forbid(principal, action, resource) when { context.scope == "${'\\"'.repeat(10_000)}`;
    expect(readPolicy(text).problems[0]?.message).toContain('strings are closed');
  });

  test('brackets in texts and comments are no nesting', () => {
    expect(readPolicy(when(`context.scope == "${'('.repeat(500)}" // ${'{'.repeat(500)}\n`)).problems).toEqual([]);
  });

  test('what does not do what its author may expect is said', () => {
    const warnings = (text: string): string =>
      readPolicy(text)
        .warnings.map(({ message }) => message)
        .join();
    expect(warnings('permit(principal, action, resource);')).toContain('no effect');
    expect(warnings(when('context.tool == "x"'))).toContain('context.tool');
    expect(warnings('@approve forbid(principal, action, resource);')).toContain('without a name');
  });
});
