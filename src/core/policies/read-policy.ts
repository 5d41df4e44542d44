import type { DetailedError, Expr, PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import { errorText } from '../errors.ts';
import { coreLimits } from '../limits.ts';
import { problemText } from '../problems.ts';
import { isObject } from '../protocol/rpc.ts';
import { type NamedRemark, remark, type RemarkCode } from '../remarks.ts';
import { withCedar } from './cedar.ts';

/** A text of Cedar policies (CONTRACT §9, Policies), read. */
export interface ReadPolicy {
  /** The policies in it, in its order. None where the text has problems. */
  readonly statements: readonly Statement[];
  readonly problems: readonly PolicyProblem[];
  /** What is accepted, and does not do what its author may expect. */
  readonly warnings: readonly PolicyWarning[];
}

/** Where in the text something is: lines and columns begin at 1. */
export interface PolicyProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** A warning, also by name. */
export interface PolicyWarning extends PolicyProblem {
  readonly said: NamedRemark;
}

/** One `forbid` of a text. */
export interface Statement {
  readonly text: string;
  readonly json: PolicyJson;
  /** Of `@approve("…")`: who is asked; undefined for a plain refusal. */
  readonly approve: string | undefined;
  /** Of `@message("…")`. */
  readonly message: string | undefined;
  readonly reads: ContextReads;
  /** Of all patterns of `like`: how much longer an argument takes to be compared. */
  readonly patternChars: number;
}

/** Which parts of the context a policy looks at. */
export interface ContextReads {
  /** Members of the context. */
  readonly members: ReadonlySet<string>;
  /** Members of `context.arguments`; `all` where the record is used as a whole. */
  readonly args: ReadonlySet<string> | 'all';
}

const known = new Map<string, ReadPolicy>();

/** Reads a text. Never throws. The same text is read once. */
export function readPolicy(text: string): ReadPolicy {
  let read = known.get(text);
  if (!read) {
    read = parse(text);
    if (known.size >= coreLimits.policies) known.clear();
    known.set(text, read);
  }
  return read;
}

function parse(text: string): ReadPolicy {
  if (text.length > coreLimits.policyChars)
    return broken(problemText('policy_long', { most: String(coreLimits.policyChars) }));
  const deep = tooDeep(text);
  if (deep !== undefined)
    return broken(problemText('policy_deep', { most: String(coreLimits.policyDepth) }), placeOf(text, deep));
  try {
    return withCedar((cedar) => {
      const parts = cedar.policySetTextToParts(text);
      if (parts.type === 'failure') return { ...none, problems: parts.errors.map((error) => problemOf(error, text)) };
      if (parts.policy_templates.length > 0) return broken(problemText('policy_template'));
      if (parts.policies.length === 0) return broken(problemText('policy_empty'));
      const statements = parts.policies.map((part) => {
        const json = cedar.policyToJson(part);
        // What was read as a policy has a form in JSON.
        if (json.type === 'failure') throw new Error(json.errors.map(({ message }) => message).join('; '));
        return statementOf(part, json.json);
      });
      return {
        statements: statements.filter(({ json }) => json.effect === 'forbid'),
        problems: [],
        warnings: advice(statements, text),
      };
    });
  } catch (error) {
    return broken(problemText('policy_unreadable', { why: errorText(error).slice(0, 200) }));
  }
}

const none: ReadPolicy = { statements: [], problems: [], warnings: [] };

function broken(message: string, place = { line: 1, column: 1 }): ReadPolicy {
  return { ...none, problems: [{ ...place, message }] };
}

/** Where the text is nested too deeply for the engine, whose stack is small; undefined where it is not. */
function tooDeep(text: string): number | undefined {
  let depth = 0;
  // A text that does not end ends with the policy: looked for from each of its quotes it would take the square.
  const pieces = /"(?:[^"\\]|\\.)*(?:"|$)|\/\/[^\n]*|[([{]|[)\]}]/gs;
  for (const { 0: piece, index } of text.matchAll(pieces)) {
    if ('([{'.includes(piece)) depth += 1;
    else if (')]}'.includes(piece)) depth -= 1;
    if (depth > coreLimits.policyDepth) return index;
  }
  return undefined;
}

function problemOf({ message, help, sourceLocations = [] }: DetailedError, text: string): PolicyProblem {
  const [place] = sourceLocations;
  const start = Buffer.from(text)
    .subarray(0, place?.start ?? 0)
    .toString().length;
  const more = [place?.label, help].filter((part) => typeof part === 'string' && part !== '');
  return { ...placeOf(text, start), message: [message, ...more].join('; ') };
}

function placeOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at);
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n') };
}

function statementOf(text: string, json: PolicyJson): Statement {
  // An annotation without a value is `null` here.
  const { approve, message }: Readonly<Record<string, string | null>> = json.annotations ?? {};
  const reads = { members: new Set<string>(), args: new Set<string>(), wholeArgs: false };
  for (const { body } of json.conditions) note(body, reads);
  return {
    text,
    json,
    approve: approve === undefined ? undefined : (approve ?? '').trim(),
    message: message ? message.slice(0, coreLimits.policyMessageChars) : undefined,
    reads: { members: reads.members, args: reads.wholeArgs ? 'all' : reads.args },
    patternChars: patternCharsIn(json.conditions),
  };
}

function patternCharsIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + patternCharsIn(one), 0);
  if (!isObject(value)) return 0;
  const { pattern } = value;
  // One part for each character.
  const own = Array.isArray(pattern) ? pattern.length : 0;
  return Object.values(value).reduce<number>((sum, one) => sum + patternCharsIn(one), own);
}

interface Noted {
  readonly members: Set<string>;
  readonly args: Set<string>;
  wholeArgs: boolean;
}

/** Notes what an expression reads of `context`. */
function note(expr: unknown, noted: Noted): void {
  if (Array.isArray(expr)) return expr.forEach((one) => note(one, noted));
  if (!isObject(expr)) return;
  if (expr['Var'] === 'context') {
    for (const name of contextMembers) noted.members.add(name);
    noted.wholeArgs = true;
    return;
  }
  const path = pathOf(expr as Expr);
  if (path) {
    const [member, name] = path;
    if (member !== undefined) noted.members.add(member);
    if (member === 'arguments') {
      if (name === undefined) noted.wholeArgs ||= !isObject(expr['has']);
      else noted.args.add(name);
    }
    return;
  }
  for (const value of Object.values(expr)) note(value, noted);
}

/** The names by which an expression goes into `context`: of "context.arguments.sql" both. Undefined for another. */
function pathOf(expr: Expr): readonly string[] | undefined {
  const access = ('.' in expr ? expr['.'] : 'has' in expr ? expr.has : undefined) as
    | { readonly left: Expr; readonly attr: string | readonly string[] }
    | undefined;
  if (!access) return undefined;
  const names = typeof access.attr === 'string' ? [access.attr] : access.attr;
  if ('Var' in access.left) return access.left.Var === 'context' ? names : undefined;
  const before = pathOf(access.left);
  return before && [...before, ...names];
}

/** What a policy can ask of a call besides who calls what. */
export const contextMembers = ['arguments', 'scope', 'mode', 'client', 'address', 'time'] as const;

/** Texts of a policy that are addresses of endpoints, where their names are meant. Each once. */
function addressesIn(json: unknown): string[] {
  const found = new Set<string>();
  const look = (value: unknown): void => {
    if (typeof value === 'string') {
      if (/^\$(?:smart|code)(?:\/|$)/.test(value)) found.add(value.slice(0, 100));
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    const { pattern } = value as { readonly pattern?: unknown };
    // A piece for each character; one that stands for any text is no object.
    if (Array.isArray(pattern)) look(pattern.map((one) => (isObject(one) ? String(one['Literal']) : '*')).join(''));
    for (const one of Object.values(value)) look(one);
  };
  look(json);
  return [...found];
}

function advice(statements: readonly Statement[], text: string): PolicyWarning[] {
  return statements.flatMap(({ text: part, json, approve, reads }) => {
    const place = placeOf(text, Math.max(0, text.indexOf(part)));
    const warn = (code: RemarkCode, values: NamedRemark['values'] = {}): PolicyWarning => {
      const { text: message, said } = remark(code, values);
      return { ...place, message, said };
    };
    const strange = [...reads.members].filter((name) => !(contextMembers as readonly string[]).includes(name));
    return [
      ...(json.effect === 'permit' ? [warn('policy_permit')] : []),
      ...(json.effect === 'permit' && approve !== undefined ? [warn('policy_permit_asks')] : []),
      ...(approve === '' ? [warn('policy_asks_unnamed')] : []),
      ...(reads.members.has('scope') ? addressesIn(json).map((name) => warn('policy_scope_address', { name })) : []),
      ...strange.map((name) => warn('policy_context', { name, members: contextMembers.join(', ') })),
    ];
  });
}
