import { afterEach, describe, expect, test, vi } from 'vitest';
import { ann, context, query } from '../../../test/kit/policy-call.ts';
import { coreLimits } from '../limits.ts';
import { withCedar } from './cedar.ts';
import {
  type PolicyContext,
  type PolicyPrincipal,
  type PolicyQuestion,
  type PolicyResource,
  policySet,
  policySetOf,
} from './policy-set.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

interface Asked {
  readonly args?: Record<string, unknown>;
  readonly principal?: PolicyPrincipal;
  readonly resource?: PolicyResource;
  readonly context?: Partial<PolicyContext>;
  readonly action?: PolicyQuestion['action'];
}

/** Policies under the names p0, p1 …, and what they say of a call. */
function setOf(...texts: string[]) {
  const set = policySet(texts.map((text, i) => ({ id: `p${i}`, text, enabled: true })));
  return (asked: Asked = {}) => {
    const { args = {}, principal = ann, resource = query, action = 'call' } = asked;
    return set?.judge({ principal, action, resource, context: { ...context, ...asked.context, arguments: args } });
  };
}

function judge(texts: string | readonly string[], asked: Asked = {}) {
  return setOf(...(typeof texts === 'string' ? [texts] : texts))(asked);
}

const refused = expect.objectContaining({ kind: 'refuse' });
const passes = { kind: 'none', ignored: [] };
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
    [when('context.arguments == {"a": 1, "b": [2]}'), { args: { a: 1, b: [2] } }],
    [when('context has address && context has client && context has scope && context has time'), {}],
    [when('principal.name == "ann"'), {}],
    [when('principal in Group::"dev" && resource == Tool::"db/query" && action == Action::"call"'), {}],
    ['forbid(principal, action in Action::"call", resource);', {}],
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
    [when('!(context has client)'), {}],
    [when('context.client == ""'), { context: { client: undefined } }],
    ['permit(principal, action, resource);', {}],
  ])('%s does not fit', (text, asked: Asked) => {
    expect(judge(text, asked) ?? passes).toMatchObject({ kind: 'none' });
  });

  test('says its id and its message; a refusal wins over a question, and another person over the caller', () => {
    const plain = '@message("No.") forbid(principal, action, resource);';
    const caller = '@approve("caller") forbid(principal, action, resource);';
    const admin = '@approve("admin") @message("Ask.") forbid(principal, action, resource);';
    expect(judge([caller, plain])).toEqual({ kind: 'refuse', policy: 'p1', message: 'No.' });
    expect(judge([caller, admin])).toEqual({ kind: 'ask', policy: 'p1', who: 'admin', message: 'Ask.' });
    expect(judge([caller])).toEqual({ kind: 'ask', policy: 'p0', who: 'caller', message: undefined });
    expect(judge([plain, plain])).toEqual({ kind: 'refuse', policy: 'p0', message: 'No.' });
    expect(judge(['@approve forbid(principal, action, resource);'])).toMatchObject({ kind: 'ask', who: 'admin' });
  });

  test('that does not fit leaves the others in force', () => {
    const [a, b] = [when('context.client == "other"'), when('context.client == "agent"')];
    expect(judge([a, b])).toEqual({ kind: 'refuse', policy: 'p1', message: undefined });
    // Asked for a member that is not there, and named no more where another policy decides.
    expect(judge([when('context.arguments.sql like "*"'), b])).toEqual({
      kind: 'refuse',
      policy: 'p1',
      message: undefined,
    });
  });

  test('that asks for what the call does not have is named', () => {
    expect(judge(when('context.arguments.sql like "*"'))).toEqual({ kind: 'none', ignored: ['p0'] });
    expect(judge(when('principal.nothing == 1'))).toEqual({ kind: 'none', ignored: ['p0'] });
    expect(judge(when('resource.nothing == 1'))).toEqual({ kind: 'none', ignored: ['p0'] });
    const principal = { ...ann, id: 'a\n`"b' };
    expect(judge(when('principal.nothing == 1'), { principal })).toEqual({ kind: 'none', ignored: ['p0'] });
    const other = when('context.client == "other"');
    expect(judge([other, when('resource.nothing == 1'), other])).toEqual({ kind: 'none', ignored: ['p1'] });
  });
});

describe('a policy of the settings', () => {
  test('that is switched off is none', () => {
    expect(policySet([{ id: 'a', text: 'forbid(principal, action, resource);', enabled: false }])).toBeUndefined();
    expect(policySetOf(undefined)).toBeUndefined();
    expect(policySetOf([])).toBeUndefined();
  });

  test('is read once for a snapshot of the settings', () => {
    const text = 'forbid(principal, action, resource);';
    const policies = [{ id: 'a', text, enabled: true, isFile: false }];
    expect(policySetOf(policies)).toBeDefined();
    expect(policySetOf(policies)).toBe(policySetOf(policies));
    expect(policySetOf([...policies])).not.toBe(policySetOf(policies));
  });
});

describe('a policy concerns only what it names', () => {
  const asked = [
    ['call', 'Tool', 'db', 'query'],
    ['call', 'Tool', 'db', 'other'],
    ['call', 'Tool', 'files', 'query'],
    ['readResource', 'Resource', 'db', 'query'],
    ['readResource', 'Resource', 'db', 'other'],
    ['getPrompt', 'Prompt', 'db', 'query'],
  ] as const;

  test.each([
    ['action, resource', [0, 1, 2, 3, 4, 5]],
    ['action, resource == Tool::"db/query"', [0]],
    ['action, resource == Resource::"db/other"', [4]],
    ['action, resource == Server::"db"', []],
    ['action, resource in Server::"db"', [0, 1, 3, 4, 5]],
    ['action, resource in Tool::"db/query"', [0]],
    ['action, resource in Group::"db"', []],
    ['action, resource is Prompt', [5]],
    ['action, resource is Tool in Server::"db"', [0, 1]],
    ['action, resource is Resource in Server::"other"', []],
    ['action == Action::"call", resource', [0, 1, 2]],
    ['action == Other::"call", resource', []],
    ['action in [Action::"readResource", Action::"getPrompt"], resource', [3, 4, 5]],
    ['action == Action::"getPrompt", resource in Server::"files"', []],
  ])('%s', (named, places) => {
    const set = policySet([{ id: 'a', text: `forbid(principal, ${named});`, enabled: true }]);
    // Twice: what was found out is kept.
    for (let i = 0; i < 2; i++)
      expect(
        asked.flatMap(([action, type, server, key], at) => (set?.concerns(action, type, server, key) ? [at] : [])),
      ).toEqual(places);
  });

  test.each([
    ['readResource', 'Resource'],
    ['getPrompt', 'Prompt'],
  ] as const)('%s, also of what has a name like that of a tool which was asked about before', (action, type) => {
    const texts = [
      `forbid(principal, action == Action::"${action}", resource);`,
      'forbid(principal, action, resource is Tool);',
    ];
    const resource = { ...query, type };
    for (const [i, text] of texts.entries()) {
      const call = setOf(text);
      for (const key of [`${action}\nquery`, 'query'])
        expect(call({ resource: { ...query, key } })).toEqual(i === 0 ? passes : refused);
      expect(call({ action, resource })).toEqual(i === 0 ? refused : passes);
    }
  });

  test.each([
    ['principal', 'ann bob key anonymous'],
    ['principal == User::"ann"', 'ann'],
    ['principal == Key::"ann"', 'key'],
    ['principal in Group::"dev"', 'ann key'],
    ['principal in User::"bob"', 'bob'],
    ['principal in Server::"dev"', ''],
    ['principal is User', 'ann bob'],
    ['principal is User in Group::"dev"', 'ann'],
    ['principal is Anonymous', 'anonymous'],
  ])('%s: %s', (named, names) => {
    const callers: Readonly<Record<string, PolicyPrincipal>> = {
      ann,
      bob: { ...ann, id: 'bob', name: 'bob', groups: [] },
      key: { ...ann, type: 'Key' },
      anonymous: { ...ann, type: 'Anonymous', id: '', groups: [] },
    };
    // What cannot be judged is refused to those alone whom the policy is about.
    const text = `forbid(${named}, action, resource) when { if true then context.arguments.n > 3 else false };`;
    const call = setOf(text);
    const refusedTo = Object.keys(callers).filter(
      (name) => call({ principal: callers[name] ?? ann, args: { n: 1e300 } })?.kind === 'refuse',
    );
    expect(refusedTo.join(' ')).toBe(names);
  });
});

test('a policy holds at whatever place it stands among the others', () => {
  const first = 'forbid(principal, action, resource == Tool::"db/drop") when { "first place" == "first place" };';
  const second = 'forbid(principal, action, resource == Tool::"db/query") when { "second place" == "second place" };';
  expect(judge([first, second])).toMatchObject({ kind: 'refuse', policy: 'p1' });
  expect(judge([second])).toMatchObject({ kind: 'refuse', policy: 'p0' });
  expect(judge([first, first, second])).toMatchObject({ kind: 'refuse', policy: 'p2' });
});

// Written so that only Cedar can answer.
const reads = when('if true then context.arguments.x == "1" else false');

describe('a call that no policy can judge is refused', () => {
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
    expect(judge(text, { args })).toEqual({
      kind: 'refuse',
      policy: 'p0',
      message: expect.stringMatching(/^The policy cannot judge this call: ./) as string,
    });
    // Not where no policy looks at it.
    expect(judge(when('context.arguments.other == "1"'), { args })).toMatchObject({ kind: 'none' });
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
    expect(set?.judge({ ...question, unclear: () => 'a name twice' })).toEqual({
      kind: 'refuse',
      policy: 'a',
      message: 'The policy cannot judge this call: a name twice',
    });
    expect(set?.judge({ ...question, unclear: () => undefined })).toMatchObject({ kind: 'none' });
    const other = policySet([{ id: 'a', text: when('context.client == "other"'), enabled: true }]);
    expect(other?.judge({ ...question, unclear: () => 'a name twice' })).toEqual(passes);
  });

  test('with the policy that reads the arguments', () => {
    const [plain, whole] = [when('context.scope == "x"'), when('if true then context.arguments == {} else false')];
    const args = { x: 1e300 };
    expect(judge([plain, reads], { args })).toMatchObject({ kind: 'refuse', policy: 'p1' });
    expect(judge([reads, whole], { args: { y: 1e300 } })).toMatchObject({ kind: 'refuse', policy: 'p0' });
    expect(judge([plain], { args })).toEqual(passes);
  });

  test('but not arguments that only a policy about another caller reads', () => {
    const bobs = 'forbid(principal == User::"bob", action, resource) when { context.arguments.x == context.scope };';
    const args = { x: 1e300 };
    expect(judge([bobs, when('context.client == "other"')], { args })).toEqual(passes);
    const bob = { ...ann, id: 'bob' };
    expect(judge([bobs, when('context.client == "other"')], { args, principal: bob })).toMatchObject({ policy: 'p0' });
  });

  test('but arguments that only a policy reads which cannot fit are not looked at', () => {
    const drops = 'forbid(principal, action, resource) when { context.arguments has a && context.arguments.b == 1 };';
    const agents = when('if true then context.client == "agent" else false');
    const args = { b: 1e300 };
    expect(judge([drops, agents], { args })).toEqual({ kind: 'refuse', policy: 'p1', message: undefined });
    expect(judge([drops, agents], { args: { ...args, a: 1 } })).toMatchObject({ policy: 'p0' });
  });
});

test('what is no fault of the arguments is no verdict', () => {
  const args = {
    get x(): string {
      throw new TypeError('a fault in the hub');
    },
  };
  expect(() => judge(reads, { args })).toThrow('a fault in the hub');
});

describe('a call is refused', () => {
  test('for what the engine says of it', () => {
    const address = when('context has address');
    expect(judge(address, { context: { address: 'nowhere' } })).toMatchObject({
      kind: 'refuse',
      policy: 'p0',
      message: expect.stringMatching(/^The policy cannot judge this call: .*(?:ip|nowhere)/) as string,
    });
  });

  test('with the first of what the engine says, which may quote the arguments', () => {
    const start = 'The policy cannot judge this call: ';
    const args = { x: 'a'.repeat(10_000) };
    expect(judge(when('context.arguments.x < 1'), { args })).toMatchObject({
      message: expect.stringMatching(/^The policy cannot judge this call: .{10,200}$/s) as string,
    });
    const error = { help: null, code: null, url: null, severity: null };
    const errors = ['a', 'e'.repeat(300)].map((message) => ({ ...error, message }));
    withCedar((cedar) =>
      vi.spyOn(cedar, 'statefulIsAuthorized').mockReturnValueOnce({ type: 'failure', errors, warnings: [] }),
    );
    expect(judge(when('context.client == "agent"'))).toMatchObject({ message: `${start}a; ${'e'.repeat(197)}` });
  });

  test('while the engine fails, and judged again by the next one', () => {
    const call = setOf(when('context.client == "agent"'));
    const client = (name: string) => call({ context: { client: name } });
    expect(client('other')).toEqual(passes);
    withCedar((cedar) => vi.spyOn(cedar, 'statefulIsAuthorized')).mockImplementation(() => {
      throw new Error('e'.repeat(300));
    });
    expect(client('another')).toEqual({
      kind: 'refuse',
      policy: 'p0',
      message: `The policy cannot judge this call: ${'e'.repeat(200)}`,
    });
    expect(client('a third')).toEqual(passes);
    expect(client('agent')).toEqual(refused);
  });
});
