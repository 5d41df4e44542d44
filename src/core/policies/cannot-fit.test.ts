import { describe, expect, test } from 'vitest';
import { cannotFit } from './cannot-fit.ts';
import { readPolicy } from './read-policy.ts';

/** Whether the arguments alone show that a policy does not fit. */
function cannot(conditions: string, args: Readonly<Record<string, unknown>>): boolean {
  const { statements, problems } = readPolicy(`forbid(principal, action, resource) ${conditions};`);
  expect(problems).toEqual([]);
  const [statement] = statements;
  return statement !== undefined && cannotFit(statement.json)(args);
}

describe('it is seen that a policy does not fit', () => {
  test.each([
    ['context.arguments has a', {}],
    ['context.arguments has a', { b: 1 }],
    ['context.arguments has a', { a: null }],
    ['context.arguments has toString', {}],
    ['context.arguments.a == "x"', { a: 'y' }],
    ['context.arguments.a like "x*"', { a: 'y' }],
    ['context.arguments.a == "x"', { a: 'y😀' }],
    ['context.arguments has a && context.client == "x"', {}],
    ['context.arguments has a && context.arguments.a == "x"', { a: 'y' }],
    ['context.arguments has a && context.arguments has b && context.arguments has c', { a: 1, b: 1 }],
    ['context.arguments has a && (context.arguments has b && context.arguments has c)', { a: 1, b: 1 }],
    ['context.arguments has a && context.arguments has b && context.client == "x"', { a: 1 }],
  ])('%s: %j', (condition, args: Record<string, unknown>) => {
    expect(cannot(`when { ${condition} }`, args)).toBe(true);
    expect(cannot(`when { ${condition} } unless { context.arguments has z }`, args)).toBe(true);
  });
});

describe('Cedar is asked', () => {
  test.each([
    // It may fit.
    ['context.arguments has a', { a: 1 }],
    ['context.arguments has a', { a: undefined }],
    ['context.arguments.a == "x"', { a: 'x' }],
    ['context.arguments.a like "x*"', { a: 'xy' }],
    ['context.arguments has a && context.arguments.b == "x"', { a: 1, b: 'x' }],
    // Of what is not there, or no text, it has more to say than that the policy does not fit.
    ['context.arguments.a == "x"', {}],
    ['context.arguments.a == "x"', { a: 1 }],
    ['context.arguments.a like "x"', { a: ['x'] }],
    ['context.arguments.a == "x" && context.arguments has b', { a: 1 }],
    // Nor can it judge half a surrogate pair, of which servers make something else.
    ['context.arguments.a == "x"', { a: 'y\ud800' }],
    ['context.arguments.a like "x*"', { a: '\udc00x' }],
    // Of what stands before, too.
    ['context.client == "x" && context.arguments has a', {}],
    ['context.arguments has b && context.client == "x" && context.arguments has a', { b: 1 }],
    ['context.arguments has b && (context.client == "x" && context.arguments has a)', { b: 1 }],
    ['context.client == "x" && context.arguments has b && context.arguments has a', { b: 1 }],
    // Other conditions.
    ['context.arguments has a.b', {}],
    ['context has a', {}],
    ['context has arguments', {}],
    ['principal has a', {}],
    ['resource.arguments has a', {}],
    ['context.other has a', {}],
    ['context.arguments.b has a', {}],
    ['(if true then context else context).arguments has a', {}],
    ['!(context.arguments has a)', {}],
    ['context.arguments has a || context.arguments has b', {}],
    ['context.arguments.a == 1', { a: 'x' }],
    ['context.arguments.a == context.client', { a: 'x' }],
    ['"x" == context.arguments.a', { a: 'y' }],
    ['context.arguments.a != "x"', { a: 'x' }],
    ['context.client == "x"', { client: 'y', undefined: 'y' }],
    ['context.client like "x"', { client: 'y', undefined: 'y' }],
    ['context.arguments.a.b == "x"', { a: 'y', b: 'y' }],
    ['context.arguments.a.b like "x"', { a: 'y', b: 'y' }],
    ['resource.a == "x"', { a: 'y' }],
  ])('%s: %j', (condition, args: Record<string, unknown>) => {
    expect(cannot(`when { ${condition} }`, args)).toBe(false);
  });

  test.each(['', 'unless { context.arguments has a }', 'when { true } when { context.arguments has a }'])(
    'forbid %s',
    (conditions) => {
      expect(cannot(conditions, {})).toBe(false);
    },
  );
});

test.each([
  ['', [''], ['a']],
  ['ab', ['ab'], ['', 'a', 'abc', 'xab']],
  ['*', ['', 'a', '*'], []],
  ['**', ['', 'a'], []],
  ['a*', ['a', 'ab'], ['', 'ba', 'A']],
  ['*a', ['a', 'ba'], ['', 'ab']],
  ['a*b', ['ab', 'aXb', 'abab'], ['a', 'b', 'ba', 'abx', 'xab']],
  ['ab*ba', ['abba', 'abxba'], ['aba', 'ab', 'abab']],
  ['*ab*', ['ab', 'xab', 'abx', 'xabx'], ['', 'a', 'axb']],
  ['*a*b', ['ab', 'xaxb'], ['b', 'ba', 'xb']],
  ['a*b*a', ['aba', 'abba', 'axbxa'], ['aa', 'axa', 'ab', 'aab']],
  ['*ab*ab*', ['abab', 'xabxabx'], ['ab', 'aab', 'abxa']],
  ['*ab*ba', ['abba', 'ababa'], ['aba', 'baba', 'ab']],
  ['a\\*b', ['a*b'], ['ab', 'axb']],
  ['*\\*', ['*', 'a*'], ['', 'a']],
  ['é😀*', ['é😀', 'é😀x'], ['é', '😀']],
])('the pattern "%s" is compared as Cedar does', (pattern, fitting, others) => {
  const isSeen = (text: string) => cannot(`when { context.arguments.a like "${pattern}" }`, { a: text });
  expect(fitting.filter(isSeen)).toEqual([]);
  expect(others.filter((text) => !isSeen(text))).toEqual([]);
});
