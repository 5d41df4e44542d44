import { z } from 'zod';
import { parseCidr } from './address.ts';
import { HubError, type Problem } from './errors.ts';
import { jsonPath } from './json/path.ts';
import { coreLimits } from './limits.ts';
import { problemTable } from './problems.ts';

/**
 * Reads the body of a request by its schema. `attempt` begins the message (`Cannot create the group`). Throws HubError
 * `invalid_input` with every problem at its path.
 */
export function parseInput<T extends z.ZodType>(schema: T, input: unknown, attempt: string): z.infer<T> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw invalid(
    attempt,
    result.error.issues.map((issue) => ({ path: jsonPath(issue.path), message: reworded(issue.message) })),
  );
}

/** HubError `invalid_input` whose message names the first problem and how many more there are. */
export function invalid(attempt: string, problems: readonly Problem[]): HubError {
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  const what = first ? `: ${first.path === '' ? '' : `${first.path} `}${first.message}${more}` : '';
  return new HubError('invalid_input', `${attempt}${what.replace(/\.$/, '')}.`, {
    problems: problems.slice(0, coreLimits.problems),
  });
}

function reworded(message: string): string {
  if (message.endsWith('received undefined')) return problemTable.required;
  return message
    .replace(/^Invalid input: /, '')
    .replace(/^Unrecognized keys?: /, 'has no such member: ')
    .replace(
      /^Too (?:big|small): expected \w+ to (be|have) ([<>])=(?=\d)/,
      (_, verb: string, sign: string) => `must ${verb} at ${sign === '<' ? 'most' : 'least'} `,
    );
}

/**
 * Milliseconds since the epoch of a time in ISO 8601 (`2030-01-31T12:00:00Z`, with any offset, or a date alone, which
 * is its beginning in UTC); undefined for anything else, a time without an offset among it: it would mean another
 * moment on each machine.
 */
export function readTime(text: string): number | undefined {
  const isTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/i.test(text);
  const day = Date.parse(text.slice(0, 10));
  // The 30th of February would be the 2nd of March.
  const isDay = !Number.isNaN(day) && new Date(day).toISOString().startsWith(text.slice(0, 10));
  const at = isTime && isDay ? Date.parse(text.toUpperCase()) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

export const timeProblem = problemTable.time_form;

/** A time; given on as ISO 8601 in UTC. */
export const timeInput = z.string({ error: timeProblem }).transform((text, context) => {
  const at = readTime(text.trim());
  if (at !== undefined) return new Date(at).toISOString();
  context.addIssue({ code: 'custom', message: timeProblem });
  return z.NEVER;
});

export const addressProblem = problemTable.address_range;

/** IP addresses and ranges of them (CIDR). */
export const addressesInput = z
  .array(
    z
      .string()
      .trim()
      .refine((text) => parseCidr(text) !== undefined, addressProblem),
  )
  .max(coreLimits.keyAddresses)
  .transform((texts) => [...new Set(texts)]);

/** What is "all" or exactly the names given. */
export const selectionInput = z.union([z.literal('all'), z.array(z.string().min(1)).max(coreLimits.listItems)], {
  error: 'must be "all" or an array of names',
});

export const visibilityInput = z.enum(['private', 'group', 'public'], {
  error: 'must be "private", "group" or "public"',
});

/** A list of names of servers, groups or users. */
export const namesInput = z
  .array(z.string().trim().min(1, problemTable.empty))
  .max(coreLimits.listedNames)
  .transform((names) => [...new Set(names)]);

export const descriptionInput = z.string().max(coreLimits.textChars);

/** Members of every JavaScript object, which would be found where nothing is. */
export function isForbiddenName(name: string): boolean {
  return name === '__proto__' || name === 'constructor' || name === 'prototype';
}

/** At least one of the members that an update may have. */
export function notEmpty(value: object): boolean {
  return Object.values(value).some((member) => member !== undefined);
}
