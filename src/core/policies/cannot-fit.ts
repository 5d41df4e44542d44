import type { Expr, PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';

/** What one part of a condition comes to; undefined: Cedar has to be asked. */
type Test = (args: Readonly<Record<string, unknown>>) => boolean | undefined;

/**
 * A quick look at the arguments of a call: true only where the policy surely does not fit. Cedar takes 60 µs for an
 * answer, and most policies are about a value that most calls do not have. Known are `context.arguments has x`,
 * `context.arguments.x like "…"` and `context.arguments.x == "…"`, joined by `&&` at the beginning of the first `when`;
 * everything else is left to Cedar, and so is every policy that may fit.
 */
export function cannotFit({ conditions }: PolicyJson): (args: Readonly<Record<string, unknown>>) => boolean {
  const [first] = conditions;
  const tests = first?.kind === 'when' ? testsOf(first.body) : [];
  return (args) => {
    for (const test of tests) {
      const fits = test(args);
      if (fits !== true) return fits === false;
    }
    return false;
  };
}

/** The parts of a condition in the order in which Cedar looks at them, up to the first that is not known. */
function testsOf(expr: Expr): Test[] {
  if ('&&' in expr) {
    const { left, right } = expr['&&'] as { left: Expr; right: Expr };
    const before = testsOf(left);
    return partsOf(left) === before.length ? [...before, ...testsOf(right)] : before;
  }
  const test = testOf(expr);
  return test ? [test] : [];
}

function partsOf(expr: Expr): number {
  if (!('&&' in expr)) return 1;
  const { left, right } = expr['&&'] as { left: Expr; right: Expr };
  return partsOf(left) + partsOf(right);
}

function testOf(expr: Expr): Test | undefined {
  if ('has' in expr) return hasTest(expr.has);
  if ('like' in expr) {
    const { left, pattern } = expr.like as { left: Expr; pattern: readonly ('Wildcard' | { Literal: string })[] };
    const name = argumentOf(left);
    return name === undefined ? undefined : textTest(name, matching(pattern));
  }
  if ('==' in expr) {
    const { left, right } = expr['=='] as { left: Expr; right: Expr };
    const name = argumentOf(left);
    const value = 'Value' in right ? right.Value : undefined;
    return name === undefined || typeof value !== 'string' ? undefined : textTest(name, (text) => text === value);
  }
  return undefined;
}

function hasTest(has: unknown): Test | undefined {
  const { left, attr } = has as { left: Expr; attr: string | readonly string[] };
  if (typeof attr !== 'string' || !isArguments(left)) return undefined;
  // `null` is as if it were not there (`cedar-value.ts`).
  return (args) => Object.hasOwn(args, attr) && args[attr] !== null;
}

/**
 * A text is compared here, anything else by Cedar: also what is not there, which the verdict names, and a text with
 * half a surrogate pair, which cannot be judged.
 */
function textTest(name: string, test: (text: string) => boolean): Test {
  return (args) => {
    const value = args[name];
    return typeof value === 'string' && !/\p{Surrogate}/u.test(value) ? test(value) : undefined;
  };
}

/** The name in `context.arguments.name`. */
function argumentOf(expr: Expr): string | undefined {
  const access = accessOf(expr);
  return access && isArguments(access.left) ? access.attr : undefined;
}

function isArguments(expr: Expr): boolean {
  const access = accessOf(expr);
  return access?.attr === 'arguments' && 'Var' in access.left && access.left.Var === 'context';
}

function accessOf(expr: Expr): { readonly left: Expr; readonly attr: string } | undefined {
  return '.' in expr ? (expr['.'] as { left: Expr; attr: string }) : undefined;
}

/** Cedar's `like`: a wildcard is any number of any characters. */
function matching(pattern: readonly ('Wildcard' | { readonly Literal: string })[]): (text: string) => boolean {
  // What stands before each wildcard, and after the last.
  const pieces: string[] = [];
  let end = '';
  for (const part of pattern)
    if (part === 'Wildcard') {
      pieces.push(end);
      end = '';
    } else end += part.Literal;
  const [start, ...rest] = pieces;
  if (start === undefined) return (text) => text === end;
  return (text) => {
    if (!text.startsWith(start) || text.length < start.length + end.length || !text.endsWith(end)) return false;
    let at = start.length;
    const last = text.length - end.length;
    for (const piece of rest) {
      const found = text.indexOf(piece, at);
      if (found < 0 || found + piece.length > last) return false;
      at = found + piece.length;
    }
    return true;
  };
}
