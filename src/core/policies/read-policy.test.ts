import { afterEach, describe, expect, test, vi } from 'vitest';
import { coreLimits } from '../limits.ts';
import { remark } from '../remarks.ts';
import { withCedar } from './cedar.ts';
import { readPolicy } from './read-policy.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const plain = 'forbid(principal, action, resource);';
const when = (condition: string): string => `forbid(principal, action, resource) when { ${condition} };`;

describe('a text that cannot be read', () => {
  test('says its line and column', () => {
    const { problems, statements, warnings } = readPolicy(`${plain}\nforbid(principal, action resource);`);
    expect(problems).toEqual([{ line: 2, column: 26, message: expect.stringContaining('unexpected token') as string }]);
    expect([statements, warnings]).toEqual([[], []]);
    expect(readPolicy('// ä€😀\nforbid(principal, action resource);').problems[0]).toMatchObject({
      line: 2,
      column: 26,
    });
    expect(readPolicy('/').problems).toMatchObject([{ line: 1, column: 1 }]);
  });

  test('says all that the engine says of it', () => {
    const failing = (error: object): string[] => {
      const errors = [{ message: 'wrong', help: null, code: null, url: null, severity: null, ...error }];
      withCedar((cedar) => vi.spyOn(cedar, 'policySetTextToParts').mockReturnValueOnce({ type: 'failure', errors }));
      return readPolicy(`/* ${JSON.stringify(error)} */`).problems.map(
        ({ line, column, message }) => `${line}:${column} ${message}`,
      );
    };
    expect(failing({})).toEqual(['1:1 wrong']);
    expect(failing({ help: '' })).toEqual(['1:1 wrong']);
    expect(failing({ help: 'do this' })).toEqual(['1:1 wrong; do this']);
    expect(failing({ help: 'do that', sourceLocations: [{ label: 'here', start: 3, end: 4 }] })).toEqual([
      '1:4 wrong; here; do that',
    ]);
    expect(failing({ sourceLocations: [{ label: null, start: 2, end: 4 }] })).toEqual(['1:3 wrong']);
  });

  test.each([
    ['', 'has no policy.'],
    ['// a comment alone', 'has no policy.'],
    [
      'forbid(principal == ?principal, action, resource);',
      'has a template (?principal or ?resource), which is not supported.',
    ],
    [
      `${plain}${' '.repeat(coreLimits.policyChars)}`,
      `is longer than ${coreLimits.policyChars} characters. Make several policies of it.`,
    ],
  ])('%.60s', (text, message) => {
    expect(readPolicy(text)).toEqual({ statements: [], warnings: [], problems: [{ line: 1, column: 1, message }] });
    // The engine goes on.
    expect(readPolicy(plain).problems).toEqual([]);
  });

  test('because it does not end is a fault of the policy', () => {
    const text = `forbid(principal, action, resource) when { context.scope == "${'\\"'.repeat(10_000)}`;
    expect(readPolicy(text).problems[0]?.message).toContain('strings are closed');
  });

  test('because the engine fails is said too, in bounds', () => {
    withCedar((cedar) =>
      vi.spyOn(cedar, 'policySetTextToParts').mockImplementationOnce(() => {
        throw new Error('e'.repeat(300));
      }),
    );
    expect(readPolicy(`// the engine fails\n${plain}`)).toEqual({
      statements: [],
      warnings: [],
      problems: [{ line: 1, column: 1, message: `cannot be read (${'e'.repeat(200)}). Make it simpler.` }],
    });
    const error = { help: null, code: null, url: null, severity: null };
    const errors = [
      { ...error, message: 'a' },
      { ...error, message: 'b' },
    ];
    withCedar((cedar) => vi.spyOn(cedar, 'policyToJson').mockReturnValueOnce({ type: 'failure', errors }));
    expect(readPolicy(`// it has no JSON\n${plain}`).problems).toEqual([
      { line: 1, column: 1, message: 'cannot be read (a; b). Make it simpler.' },
    ]);
  });
});

describe('a text is read', () => {
  test('up to its longest', () => {
    expect(readPolicy(plain.padEnd(coreLimits.policyChars, ' ')).problems).toEqual([]);
  });

  test('once, and forgotten after many others', async () => {
    vi.resetModules();
    const fresh = await import('./read-policy.ts');
    const first = fresh.readPolicy(plain);
    for (let n = 1; n < coreLimits.policies; n++) fresh.readPolicy(`// ${n}`);
    expect(fresh.readPolicy(plain)).toBe(first);
    fresh.readPolicy('// one more');
    const again = fresh.readPolicy(plain);
    expect(again).not.toBe(first);
    expect(again).toEqual(first);
    fresh.readPolicy('// and another');
    expect(fresh.readPolicy(plain)).toBe(again);
  });

  test('with every forbid in it, who is asked and what is told', () => {
    const { statements } = readPolicy(
      [
        plain,
        'permit(principal, action, resource);',
        '@approve("caller") @message("Ask.") forbid(principal, action, resource);',
        '@approve(" ops ") @message("") forbid(principal, action, resource);',
        `@approve @message forbid(principal, action, resource);`,
        `@message("${'m'.repeat(coreLimits.policyMessageChars)}n") forbid(principal, action, resource);`,
      ].join('\n'),
    );
    expect(statements.map(({ approve, message }) => [approve, message])).toEqual([
      [undefined, undefined],
      ['caller', 'Ask.'],
      ['ops', undefined],
      ['', undefined],
      [undefined, 'm'.repeat(coreLimits.policyMessageChars)],
    ]);
    expect(statements[0]).toMatchObject({ text: plain, json: { effect: 'forbid', principal: { op: 'All' } } });
  });
});

describe('brackets', () => {
  /** A policy with as many brackets within each other. */
  const deep = (levels: number, before = ''): string =>
    `${before}${when(`${'('.repeat(levels - 1)}true${')'.repeat(levels - 1)}`)}`;
  const fault = (line: number, column: number) => [
    { line, column, message: `is nested deeper than ${coreLimits.policyDepth} brackets.` },
  ];

  test.each(['', '"\\""', '"(" ', '// (', '/', '()[]{}'])('are counted after %j', (before) => {
    const policy = deep(coreLimits.policyDepth + 1, `${before}\n`);
    const column = 'forbid(principal, action, resource) when { '.length + coreLimits.policyDepth;
    expect(readPolicy(policy).problems).toEqual(fault(2, column));
  });

  test('up to a bound', () => {
    expect(readPolicy(deep(coreLimits.policyDepth)).problems).toEqual([]);
    expect(readPolicy(deep(3_000)).problems).toEqual(fault(1, 107));
    for (const [open, close] of ['[]', '{}'])
      expect(readPolicy(when(`${`${open}`.repeat(100)}${`${close}`.repeat(100)}`)).problems).toMatchObject(
        fault(1, 107),
      );
  });

  test('beside each other are no nesting', () => {
    const parts = ['(true)', '[1] == [1]', '{} == {}'].map((part) => Array(100).fill(part).join(' && '));
    expect(readPolicy(when(parts.join(' && '))).problems).toEqual([]);
  });

  test('in texts and comments are no nesting, and end none', () => {
    const much = (bracket: string) => bracket.repeat(500);
    expect(readPolicy(when(`context.scope == "${much('(')}" // ${much('{')}\n`)).problems).toEqual([]);
    expect(readPolicy(when(`context.scope == "\\"${much('(')}\\\\" // "\n`)).problems).toEqual([]);
    expect(readPolicy(when(`context.scope == "\n${much('[')}"`)).problems).toEqual([]);
    const ended = `"${much(')')}" ${`")" // )\n`.repeat(100)}`;
    expect(readPolicy(`${ended}${deep(coreLimits.policyDepth + 1)}`).problems).toMatchObject([
      { message: `is nested deeper than ${coreLimits.policyDepth} brackets.` },
    ]);
  });
});

describe('what a policy reads', () => {
  const everything = ['arguments', 'scope', 'mode', 'client', 'address', 'time'];
  test.each<readonly [string, readonly string[], readonly string[] | 'all']>([
    ['true', [], []],
    ['principal.role == "admin" && principal has name', [], []],
    ['principal.arguments.a == 1', [], []],
    ['context.scope == ""', ['scope'], []],
    ['context has client', ['client'], []],
    ['context has client && context.client == "x" || !(context.time == context.time)', ['client', 'time'], []],
    ['context.other.deep == 1', ['other'], []],
    ['context has arguments', ['arguments'], []],
    ['context has arguments.a', ['arguments'], ['a']],
    ['context.arguments has a', ['arguments'], ['a']],
    ['context.arguments has a.b', ['arguments'], ['a']],
    ['context.arguments.a.b has c', ['arguments'], ['a']],
    [
      'context.arguments.a == 1 && context.arguments["b c"].d.contains(context.scope)',
      ['arguments', 'scope'],
      ['a', 'b c'],
    ],
    ['[context.arguments.a, {x: context.arguments.b}].isEmpty()', ['arguments'], ['a', 'b']],
    ['context.arguments == {}', ['arguments'], 'all'],
    ['context.arguments.a == context.arguments', ['arguments'], 'all'],
    ['context.arguments == {} && context.arguments has a', ['arguments'], 'all'],
    ['context == {}', everything, 'all'],
    ['(if true then context else context).scope == ""', everything, 'all'],
    ['(if true then context.arguments else {}).a == 1', ['arguments'], 'all'],
  ])('%s', (condition, members, args) => {
    const [statement] = readPolicy(when(condition)).statements;
    expect([...(statement?.reads.members ?? [])]).toEqual(members);
    const { args: read = new Set() } = statement?.reads ?? {};
    expect(read === 'all' ? read : [...read]).toEqual(args);
  });

  test('is that of all its conditions', () => {
    const text = `forbid(principal, action, resource) when { context.scope == "" } unless { context.arguments has a };`;
    const reads = readPolicy(text).statements[0]?.reads;
    expect(reads).toEqual({ members: new Set(['scope', 'arguments']), args: new Set(['a']) });
  });

  test.each([
    ['true', 0],
    ['context.scope == "pattern"', 0],
    ['context.scope like "a*bc"', 4],
    ['context.scope like "*" || [context.scope like "ab"] == [{pattern: context.client like "c"}]', 4],
  ])('has patterns of so many characters: %s', (condition, chars) => {
    expect(readPolicy(when(condition)).statements[0]?.patternChars).toBe(chars);
  });
});

describe('what does not do what its author may expect is said', () => {
  const permit = 'is a permit, which has no effect: what a caller reaches is allowed unless a forbid fits';
  const unnamed = 'has @approve without a name: "caller", "admin" or the name of a group';
  const strange = 'asks for context.tool, which calls do not have (arguments, scope, mode, client, address, time)';
  const address = (name: string) =>
    `compares context.scope with "${name}": it is the name of the group or server alone, whatever is before it in the address; context.mode is "tools", "smart" or "code"`;
  test.each<readonly [string, readonly string[]]>([
    [plain, []],
    [when('context has arguments && context.scope == ""'), []],
    ['@approve("caller") forbid(principal, action, resource);', []],
    ['permit(principal, action, resource);', [permit]],
    [
      '@approve("x") permit(principal, action, resource);',
      [permit, 'has @approve on a permit; it belongs on a forbid'],
    ],
    ['@approve forbid(principal, action, resource);', [unnamed]],
    ['@approve(" ") forbid(principal, action, resource);', [unnamed]],
    [when('context.tool == "x" && context.tool == "y"'), [strange]],
    [
      when('["$smart", "dev"].contains(context.scope) || context.scope like "$code/*"'),
      [address('$smart'), address('$code/*')],
    ],
    [when('context.scope == "$smarter" || context.client == "dev"'), []],
    [when('context.client == "$smart/x"'), []],
  ])('%s', (text, messages) => {
    const { warnings, problems } = readPolicy(`${plain}\n\n  ${text}\n${plain}`);
    expect(problems).toEqual([]);
    expect(warnings).toEqual(
      messages.map((message) => ({ line: 3, column: 3, message, said: expect.anything() as unknown })),
    );
    for (const { message, said } of warnings) expect(remark(said.code, said.values).text).toBe(message);
  });
});
