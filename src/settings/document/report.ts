import type { z } from 'zod';
import type { Problem } from '../../core/errors.ts';
import { HubError, listed } from '../../core/errors.ts';
import { problemText } from '../../core/problems.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { settingsLimits } from '../limits.ts';

export type Path = readonly (string | number)[];

/** Collects what is wrong (refused) and what is odd (accepted, logged) with a document, each at its JSON path. */
export interface Report {
  problem(path: Path, message: string): void;
  warn(path: Path, message: string): void;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

export function newReport(): Report {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  // Several rules may refuse the same value; the first problem is the most helpful.
  const refused = new Set<string>();
  const warned = new Set<string>();
  return {
    problems,
    warnings,
    problem(path, message) {
      const at = pathText(path);
      if (refused.has(at)) return;
      refused.add(at);
      problems.push({ path: at, message });
    },
    warn(path, message) {
      const at = pathText(path);
      if (warned.has(`${at}: ${message}`)) return;
      warned.add(`${at}: ${message}`);
      warnings.push({ path: at, message });
    },
  };
}

/** `mcpServers.github.args[2]`; names that would blur the path are quoted: `mcpServers["my.server"]`. */
export function pathText(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(part)) text += text === '' ? part : `.${part}`;
    else text += `[${JSON.stringify(part)}]`;
  }
  return text === '' ? '(the whole document)' : text;
}

/** HubError `invalid_input` with every problem; its text has one per line, up to `settingsLimits.problemLines`. */
export function notAccepted(problems: readonly Problem[]): HubError {
  const lines = problems.slice(0, settingsLimits.problemLines).map(({ path, message }) => `${path}: ${message}`);
  if (problems.length > lines.length) lines.push(`… and ${problems.length - lines.length} more`);
  const text =
    problems.length === 1
      ? `Settings not accepted: ${lines[0]}`
      : `Settings not accepted, ${problems.length} problems:\n${lines.join('\n')}`;
  return new HubError('invalid_input', text, { problems });
}

/**
 * A value as a message may show it: numbers and the like in full, text only as its kind, because it may be a secret.
 */
export function found(value: unknown, path: Path): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (isObject(value)) return 'an object';
  if (typeof value === 'string') return value === '' ? 'an empty string' : 'a string';
  return isSecret(path) ? `a ${typeof value}` : `${typeof value} ${JSON.stringify(value)}`;
}

/** Members that hold credentials, or anything beneath them. */
const secretNames =
  /^(env|headers|oauth|security|specSecurity|proxy|password|token|tokenHash|.*secret|.*apikey|bearerAuthKey)$/i;

/** Whether the value at this path may be a credential, or have one in it. */
export function isSecret(path: Path): boolean {
  return path.some((part) => typeof part === 'string' && secretNames.test(part));
}

const unnamed = 'not accepted';

/** Whether this is what `issueText` says of an issue that it has no sentence for. */
export function isUnnamed(message: string): boolean {
  return message.startsWith(unnamed);
}

/** The sentence for an issue that a schema found and has no words of its own for. */
export function issueText(issue: z.core.$ZodRawIssue, base: Path = []): string {
  const path = [...base, ...(issue.path ?? [])].filter((part) => typeof part !== 'symbol');
  const input: unknown = issue.input;
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${kind(issue.expected)}, found ${foundFor(issue.expected, input, path)}${hint(issue.expected, input)}`;
    case 'invalid_value': {
      const allowed = issue.values.map((value) => JSON.stringify(value)).join(', ');
      return problemText('value_allowed', { values: allowed, found: shown(input, path) });
    }
    case 'unrecognized_keys':
      return problemText('unknown_member', { names: listed(issue.keys.map((key) => `"${key.slice(0, 50)}"`)) });
    default:
      return `${unnamed} (${issue.code}), found ${found(input, path)}`;
  }
}

/** A word that is one of a few allowed ones, so that seeing it tells the slip. */
export function shown(value: unknown, path: Path): string {
  return typeof value === 'string' && !isSecret(path) ? JSON.stringify(value.slice(0, 40)) : found(value, path);
}

/** Text where a number or a boolean should be is no credential. */
function foundFor(expected: string, value: unknown, path: Path): string {
  return ['number', 'int', 'boolean'].includes(expected) ? shown(value, path) : found(value, path);
}

function kind(expected: string): string {
  const kinds: Record<string, string> = { int: 'a whole number', record: 'object' };
  return Object.hasOwn(kinds, expected) ? (kinds[expected] ?? expected) : expected;
}

function hint(expected: string, input: unknown): string {
  if (expected === 'string' && (typeof input === 'number' || typeof input === 'boolean')) return ': put it in quotes';
  if (expected === 'boolean' && (input === 'true' || input === 'false')) return `: write ${input} without quotes`;
  if ((expected === 'number' || expected === 'int') && typeof input === 'string')
    return ': write the number without quotes';
  if (expected === 'array' && typeof input === 'string') return ': write ["…"], one string per item';
  return '';
}

/** Reports a value that an earlier entry has already. */
export function unique(seen: Map<string, Path>, value: string, path: Path, rule: string, report: Report): void {
  const first = seen.get(value);
  if (first === undefined) seen.set(value, path);
  else report.problem(path, problemText('same_as', { path: pathText(first), rule }));
}
