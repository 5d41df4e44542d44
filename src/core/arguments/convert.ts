import type { Problem } from '../errors.ts';
import { childPath } from '../json/path.ts';
import { coreLimits } from '../limits.ts';
import { isObject } from '../protocol/rpc.ts';
import { resolveRef } from '../schema/ref.ts';
import { fromText, kindOf, shown, typesOf } from '../schema/types.ts';

/**
 * Conversion of tool arguments to the types of the tool's input schema (CONTRACT §4, Tool call), for callers that can
 * only send text: query parameters, forms, language models that quote numbers. What fits already is never touched, text
 * becomes another type only when it is exactly that type's JSON, and what cannot be converted is a problem, not a
 * guess. Whether the result keeps all rules of the schema is for `schema-check`.
 */

export interface Converted {
  /** Shares what did not change with the input, which is never changed itself. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
}

export interface ConvertOptions {
  /** `?tag=a` for a list of tags: a query cannot say that one value is a list. */
  readonly wrapSingles?: boolean;
}

/** `schema` is what a server sent and may be anything; what makes no sense in it converts nothing. */
export function convertArguments(schema: unknown, value: unknown, options: ConvertOptions = {}): Converted {
  const { value: converted, problems } = convert(
    { root: schema, steps: 0, wrapSingles: options.wrapSingles ?? false },
    { schema, value, path: '', depth: 0 },
  );
  return { value: converted, problems: problems.slice(0, coreLimits.problems) };
}

interface Walk {
  readonly root: unknown;
  readonly wrapSingles: boolean;
  /** Schemas looked at so far: alternatives within alternatives multiply, and schemas come from strangers. */
  steps: number;
}

interface Place {
  readonly schema: unknown;
  readonly value: unknown;
  readonly path: string;
  readonly depth: number;
}

interface Outcome {
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /**
   * False when the value breaks a rule that tells alternatives apart (`const`, `enum`, `required`, a member too many).
   */
  readonly fits: boolean;
}

function convert(walk: Walk, { schema, value, path, depth }: Place): Outcome {
  if (!isObject(schema)) return { value, problems: [], fits: schema !== false };
  if (depth > coreLimits.schemaDepth || ++walk.steps > coreLimits.conversionSteps)
    return { value, problems: [], fits: true };

  const problems: Problem[] = [];
  let now = value;
  let fits = true;
  const take = (outcome: Outcome) => {
    now = outcome.value;
    fits &&= outcome.fits;
    problems.push(...outcome.problems);
  };
  const within = (inner: unknown) => convert(walk, { schema: inner, value: now, path, depth: depth + 1 });

  if (typeof schema['$ref'] === 'string') take(within(resolveRef(walk.root, schema['$ref'])));
  take(toType(walk, schema, now, path));
  take(toListed(schema, now));
  for (const inner of list(schema['allOf'])) take(within(inner));
  for (const alternatives of [list(schema['anyOf']), list(schema['oneOf'])]) {
    if (alternatives.length > 0) take(choose(alternatives.map(within), now, path));
  }
  if (Array.isArray(now)) take(eachElement(walk, schema, now, { path, depth }));
  else if (isObject(now)) take(eachMember(walk, schema, now, { path, depth }));
  return { value: now, problems, fits };
}

function toType(walk: Walk, schema: Record<string, unknown>, value: unknown, path: string): Outcome {
  const types = typesOf(schema);
  if (types === undefined || types.has(kindOf(value)) || (types.has('number') && kindOf(value) === 'integer')) {
    return { value, problems: [], fits: true };
  }
  if (typeof value === 'string') {
    const read = fromText(value, types);
    if (read !== undefined) return { value: read.value, problems: [], fits: true };
  }
  if (walk.wrapSingles && types.has('array')) return { value: [value], problems: [], fits: true };
  const message = `expected ${[...types].join(' or ')}, got ${shown(value)}`;
  return { value, problems: [{ path, message }], fits: false };
}

/**
 * `enum` and `const`: text that is not listed itself, but is the JSON of exactly one listed value, becomes that value.
 */
function toListed(schema: Record<string, unknown>, value: unknown): Outcome {
  const listed = [...list(schema['enum']), ...(Object.hasOwn(schema, 'const') ? [schema['const']] : [])];
  if (listed.length === 0 || isObject(value) || Array.isArray(value)) return { value, problems: [], fits: true };
  if (listed.includes(value)) return { value, problems: [], fits: true };
  const types = new Set(
    listed.map(kindOf).filter((kind) => kind !== 'string' && kind !== 'object' && kind !== 'array'),
  );
  const read = typeof value === 'string' ? fromText(value, types) : undefined;
  // A schema with a type says by it what text means; there the value has been converted already or must not be.
  if (read && typesOf(schema) === undefined && listed.includes(read.value)) {
    return { value: read.value, problems: [], fits: true };
  }
  return { value, problems: [], fits: false };
}

/**
 * The alternative that takes the value as it is, else the first that can be converted to, else the one that comes
 * closest.
 */
function choose(outcomes: readonly Outcome[], value: unknown, path: string): Outcome {
  const possible = outcomes.filter(({ problems }) => problems.length === 0);
  const fitting = possible.filter(({ fits }) => fits);
  const chosen = fitting.find((outcome) => outcome.value === value) ?? fitting[0] ?? possible[0];
  if (chosen) return chosen;
  // An alternative of the right type with something wrong inside it tells more than those of another type.
  const close = outcomes.find(({ problems }) => problems.every((problem) => problem.path !== path));
  if (close) return close;
  const messages = outcomes.flatMap(({ problems }) =>
    problems.map(({ message }) => message.split(', got ', 1)[0] ?? ''),
  );
  const expected = [...new Set(messages.map((message) => message.replace(/^expected /, '')))];
  const message = `expected ${expected.join(' or ')}, got ${shown(value)}`;
  return { value, problems: [{ path, message }], fits: false };
}

function eachMember(
  walk: Walk,
  schema: Record<string, unknown>,
  value: Record<string, unknown>,
  { path, depth }: { path: string; depth: number },
): Outcome {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  // Which members a pattern means is not looked into: patterns of strangers are run under guard only. They stay as they
  // are.
  const others = schema['patternProperties'] === undefined ? schema['additionalProperties'] : undefined;
  let fits = list(schema['required']).every((key) => typeof key !== 'string' || Object.hasOwn(value, key));
  let changed = false;
  const problems: Problem[] = [];
  const entries = Object.entries(value).map(([key, member]): [string, unknown] => {
    const inner = Object.hasOwn(properties, key) ? properties[key] : others;
    if (inner === undefined) return [key, member];
    const outcome = convert(walk, { schema: inner, value: member, path: childPath(path, key), depth: depth + 1 });
    fits &&= outcome.fits;
    changed ||= outcome.value !== member;
    problems.push(...outcome.problems);
    return [key, outcome.value];
  });
  // fromEntries defines members instead of assigning them, so `__proto__` stays an ordinary one.
  return { value: changed ? Object.fromEntries(entries) : value, problems, fits };
}

function eachElement(
  walk: Walk,
  schema: Record<string, unknown>,
  value: readonly unknown[],
  { path, depth }: { path: string; depth: number },
): Outcome {
  // Draft 7 writes a tuple as an array of `items`.
  const [first, rest] = Array.isArray(schema['items'])
    ? [schema['items'] as unknown[], schema['additionalItems']]
    : [list(schema['prefixItems']), schema['items']];
  let fits = true;
  let changed = false;
  const problems: Problem[] = [];
  const elements = value.map((element, i) => {
    const inner = i < first.length ? first[i] : rest;
    if (inner === undefined) return element;
    const outcome = convert(walk, { schema: inner, value: element, path: childPath(path, i), depth: depth + 1 });
    fits &&= outcome.fits;
    changed ||= outcome.value !== element;
    problems.push(...outcome.problems);
    return outcome.value;
  });
  return { value: changed ? elements : value, problems, fits };
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
