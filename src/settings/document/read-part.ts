import { z } from 'zod';
import { isObject } from '../../core/protocol/rpc.ts';
import { settingsLimits } from '../limits.ts';
import { found, isSecret, isUnnamed, issueText, type Path, type Report } from './report.ts';

/** One part of the document as its shape says, without the members that were refused; those are in `broken`. */
export interface Part<T> {
  readonly data: T;
  readonly broken: ReadonlySet<string>;
}

/**
 * Checks a part against its shape and reports every problem at its path. What is left after the refused members are
 * taken out is returned, so that the rules about several members still run and one reading names all that is wrong.
 */
export function readPart<S extends z.ZodObject>(
  shape: S,
  value: unknown,
  path: Path,
  report: Report,
): Part<z.output<S>> | undefined {
  if (!isObject(value)) {
    report.problem(path, `expected object, found ${found(value, path)}`);
    return undefined;
  }
  const first = z.safeParse(shape, value, { error: (issue) => issueText(issue, path) });
  if (first.success) return { data: first.data, broken: new Set() };
  const broken = new Set<string>();
  for (const issue of first.error.issues) {
    for (const inner of innerIssues(issue, path)) report.problem([...path, ...namesIn(inner.path)], inner.message);
    broken.add(String(issue.path[0]));
  }
  const rest = z.safeParse(shape, Object.fromEntries(Object.entries(value).filter(([key]) => !broken.has(key))));
  return rest.success ? { data: rest.data, broken } : undefined;
}

/**
 * Of a value that may have several forms, where its shape has no words for that: what is wrong in the form that it has.
 * Not of credentials: what is told of its members does not know the names above them.
 */
function innerIssues(issue: z.core.$ZodIssue, base: Path): readonly Pick<z.core.$ZodIssue, 'path' | 'message'>[] {
  if (issue.code !== 'invalid_union' || !isUnnamed(issue.message)) return [issue];
  if (isSecret([...base, ...namesIn(issue.path)])) return [issue];
  const form = issue.errors.find((issues) => issues.length > 0 && issues.every(({ path }) => path.length > 0));
  return form?.map(({ path, message }) => ({ path: [...issue.path, ...path], message })) ?? [issue];
}

function namesIn(path: readonly PropertyKey[]): (string | number)[] {
  return path.filter((part) => typeof part !== 'symbol');
}

/** The entries of a member that should be an object; anything else is reported. */
export function readEntries(value: unknown, path: Path, report: Report): [string, unknown][] {
  if (value === undefined) return [];
  if (isObject(value)) return Object.entries(value);
  const help = Array.isArray(value) ? ', name → entry' : '';
  report.problem(path, `expected object${help}, found ${found(value, path)}`);
  return [];
}

/** The elements of a member that should be an array; anything else is reported. */
export function readElements(value: unknown, path: Path, report: Report): unknown[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  report.problem(path, `expected array, found ${found(value, path)}`);
  return [];
}

/**
 * A copy without members that are `null`: a hand-written `"alias": null` means "not given". Array elements stay, so
 * that paths hold, and inline OpenAPI documents are not looked into: `null` means something there.
 */
export function withoutNulls(value: unknown, path: Path = []): unknown {
  if (Array.isArray(value)) return value.map((element, i) => withoutNulls(element, [...path, i]));
  if (!isObject(value) || isApiDocument(path)) return value;
  const entries = Object.entries(value).filter((entry) => entry[1] !== null);
  return Object.fromEntries(entries.map(([key, member]) => [key, withoutNulls(member, [...path, key])]));
}

/**
 * `mcpServers.<name>.openapi.schema`: an API document that the operator did not write; the hub does not interpret it as
 * settings.
 */
export function isApiDocument(path: Path): boolean {
  return path.length === 4 && path[0] === 'mcpServers' && path[2] === 'openapi' && path[3] === 'schema';
}

/** True when something in the document lies deeper than `settingsLimits.settingsDepth`. */
export function isTooDeep(document: unknown): boolean {
  return isDeeperThan(document, settingsLimits.settingsDepth);
}

/** True when something in the value lies deeper than `depth`. Iterative, because a deep value is the point. */
function isDeeperThan(value: unknown, depth: number): boolean {
  let level: unknown[] = [value];
  for (let at = 0; at <= depth; at++) {
    const next: unknown[] = [];
    for (const one of level) {
      if (typeof one !== 'object' || one === null) continue;
      for (const member of Object.values(one)) if (typeof member === 'object' && member !== null) next.push(member);
    }
    if (next.length === 0) return false;
    level = next;
  }
  return true;
}
