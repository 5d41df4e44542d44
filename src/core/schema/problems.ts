import type { OutputUnit } from '@cfworker/json-schema';
import type { Problem } from '../errors.ts';
import { childPath } from '../json/path.ts';
import { childAt, pointerKey } from '../json/pointer.ts';
import { coreLimits } from '../limits.ts';
import { problemTable, problemText } from '../problems.ts';

/**
 * The checker's errors as problems that people can act on: the innermost ones, each once, at the path of what is wrong.
 */
export function problemsOf(errors: readonly OutputUnit[], value: unknown): Problem[] {
  const problems = new Map<string, Problem>();
  for (const error of withoutNoise(errors)) {
    if (problems.size >= coreLimits.problems) break;
    const problem = toProblem(error, value);
    problems.set(`${problem.path}\n${problem.message}`, problem);
  }
  return [...problems.values()];
}

/** Keywords whose errors only say that something further in is wrong. */
const wrappers = new Set([
  'properties',
  'items',
  'prefixItems',
  'patternProperties',
  'additionalProperties',
  'additionalItems',
  'unevaluatedProperties',
  'unevaluatedItems',
  'allOf',
  '$ref',
  '$recursiveRef',
  'if',
  'dependentSchemas',
]);

function withoutNoise(errors: readonly OutputUnit[]): OutputUnit[] {
  const kept: OutputUnit[] = [];
  for (let i = 0; i < errors.length && kept.length < coreLimits.problems * 5; i++) {
    const error = errors[i];
    if (!error || wrappers.has(error.keyword)) continue;
    if (error.keyword !== 'anyOf' && error.keyword !== 'oneOf') {
      kept.push(error);
      continue;
    }
    // The errors of its alternatives follow at once. The ones deeper in tell what is wrong with the alternative that
    // was meant; without any, none was, and the types that would have done are the news.
    let end = i + 1;
    while (end < errors.length && isWithin(errors[end], error)) end++;
    const inner = withoutNoise(errors.slice(i + 1, end));
    const deeper = inner.filter(({ instanceLocation }) => instanceLocation !== error.instanceLocation);
    kept.push(...(deeper.length > 0 ? deeper : [{ ...error, error: alternatives(error, inner) }]));
    i = end - 1;
  }
  return kept;
}

function isWithin(inner: OutputUnit | undefined, outer: OutputUnit): boolean {
  if (inner === undefined) return false;
  // A `false` schema reports where the value is, not where the schema is.
  const byValue = inner.keyword === 'false' && inner.instanceLocation.startsWith(`${outer.instanceLocation}/`);
  return byValue || inner.keywordLocation.startsWith(`${outer.keywordLocation}/`);
}

function alternatives({ error }: OutputUnit, inner: readonly OutputUnit[]): string {
  if (/\((?:[2-9]|\d\d+) matches\)/.test(error)) return 'fits more than one of the alternatives';
  const messages = [...new Set(inner.map(({ keyword, error }) => reworded(keyword, error)))];
  return messages.length > 0 && messages.length <= 5 ? messages.join(', or ') : 'fits none of the alternatives';
}

function toProblem({ keyword, error, instanceLocation }: OutputUnit, value: unknown): Problem {
  const path = pathOf(instanceLocation, value);
  const missing = /^Instance does not have required property "(.*)"\.$/s.exec(error)?.[1];
  if (missing !== undefined) return { path: childPath(path, missing), message: problemTable.required };
  return { path, message: reworded(keyword, error) };
}

function reworded(keyword: string, error: string): string {
  if (keyword === 'false') return problemTable.value_not_here;
  // The library's own text says the opposite.
  if (keyword === 'maxProperties')
    return error.replace('Instance does not have at least', 'may have at most').replace(/\.$/, '');
  const type = /^Instance type "(\w+)" is invalid\. Expected "(.*)"\.$/.exec(error);
  if (type) {
    const [, found = '', wanted = ''] = type;
    return problemText('value_type', { wanted: wanted.replaceAll('", "', ' or '), found });
  }
  const required = /^Instance does not have required property ("[^]*")\.$/.exec(error);
  if (required) return `${required[1]} is required`;
  const text = error
    .replace(/^Instance does not match any of \[([^]*)\]\.$/, 'must be one of $1')
    .replace(/^Instance does not match (?=[^a-z])([^]*)\.$/, 'must be $1')
    .replace(/^Instance /, '')
    .replace(/ {2,}/g, ' ')
    .replace(/\.$/, '');
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** `#/filters/0/n` as `filters[0].n`; whether `0` is an element or a member is told by the value. */
function pathOf(location: string, value: unknown): string {
  let path = '';
  let at = value;
  for (const part of location.split('/').slice(1)) {
    const key = pointerKey(decodeURIComponent(part));
    path = childPath(path, Array.isArray(at) ? Number(key) : key);
    at = childAt(at, key);
  }
  return path;
}
