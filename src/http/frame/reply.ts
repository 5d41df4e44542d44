import { randomUUID } from 'node:crypto';
import type { Context, ErrorHandler } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { HubError, type Problem } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { type NamedProblem, problemNamed } from '../../core/problems.ts';
import type { SentenceCode } from '../../core/sentences.ts';
import { upstreamLimits } from '../../upstream/limits.ts';

/** `{success: true, data?, message?}` (CONTRACT §3). A POST that creates passes `status: 201`. */
export function ok(
  c: Context,
  data?: unknown,
  extra: { message?: string; status?: 200 | 201; incomplete?: true | undefined } = {},
): Response {
  const { message, status = 200, incomplete } = extra;
  return c.json(
    {
      success: true,
      ...(data !== undefined && { data }),
      ...(message !== undefined && { message }),
      ...(incomplete && { incomplete }),
    },
    status,
  );
}

/** The same with data that is JSON text already. */
export function okText(c: Context, data: string): Response {
  return jsonText(c, `{"success":true,"data":${data}}`);
}

/** A body that is JSON text already. */
export function jsonText(c: Context, text: string, type = 'application/json'): Response {
  return c.body(text, 200, { 'Content-Type': type });
}

/**
 * `{success: false, message, errors?}` with the status of the error's code, and `Retry-After` in whole seconds where
 * trying again makes sense.
 */
export function fail(c: Context, error: HubError): Response {
  return failed(c, error, { success: false, message: error.message });
}

/** `{error, message, errors?}`, the failures of OpenAPI-style routes (CONTRACT §4); `error` is the code. */
export function failBare(c: Context, error: HubError): Response {
  return failed(c, error, { error: error.code, message: error.message });
}

/** `Retry-After`, in whole seconds, of an error after which trying again makes sense. */
export function tellRetryAfter(c: Context, error: HubError): void {
  // What is down is tried again by itself after this long at first; what was never there is not.
  const mayCome = error.status === 503 && error.said?.code !== 'no_database';
  const retryAfterMs = error.retryAfterMs ?? (mayCome ? upstreamLimits.backOffFirstMs : undefined);
  if (retryAfterMs !== undefined) c.header('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
}

/** Whether the first language that is asked for is another than that of the messages. */
function readsOtherThanEnglish(c: Context): boolean {
  return /^\s*(?!en\b)[a-z]{2}/i.test(c.req.header('accept-language') ?? '');
}

/** The problem with its name, where it has one: the page says it in its own language. */
function withName(problem: Problem): Problem & { said?: NamedProblem } {
  const said = problemNamed(problem.message);
  return said ? { ...problem, said } : problem;
}

/** The problems as a page in the language that is asked for needs them: with their names, unless that is English. */
export function problemsFor(c: Context, problems: readonly Problem[]): readonly (Problem & { said?: NamedProblem })[] {
  return readsOtherThanEnglish(c) ? problems.map(withName) : problems;
}

/** Failures that a client does something about, and so has to tell from others of that status. */
const forPrograms: readonly (HubError['code'] | SentenceCode)[] = [
  'reauthenticate',
  'second_factor_required',
  'second_factor_setup_required',
  'limit_exceeded',
  'no_database',
];

function failed(c: Context, error: HubError, body: Record<string, unknown>): Response {
  tellRetryAfter(c, error);
  if (error.code === 'unauthenticated') c.header('WWW-Authenticate', 'Bearer');
  const inOtherWords = readsOtherThanEnglish(c);
  const errors = error.problems.length > 0 ? { errors: problemsFor(c, error.problems) } : {};
  // For programs: a person who has to sign in finds the address in the message too.
  const signIn =
    error.authorizationUrl === undefined ? {} : { error: error.code, authorizationUrl: error.authorizationUrl };
  const credentials = error.credentialsUrl === undefined ? {} : { error: error.code, url: error.credentialsUrl };
  const code = forPrograms.find((one) => one === error.code || one === error.said?.code);
  // Routes whose `error` is the code of the error keep that (CONTRACT §4).
  const again = code === undefined || 'error' in body ? {} : { error: code };
  const refused = error.data ? { error: error.code, reason: error.code, ...error.data } : {};
  const said = error.said && inOtherWords ? { said: error.said } : {};
  const { challenge, methods, passkey } = error.secondFactor ?? {};
  const factor =
    error.secondFactor === undefined ? {} : { challenge, methods, ...(passkey !== undefined && { passkey }) };
  return c.json(
    { ...body, ...errors, ...signIn, ...credentials, ...again, ...refused, ...factor, ...said },
    error.status as ContentfulStatusCode,
  );
}

/**
 * What routes throw becomes an answer here and nowhere else. What is not a HubError is a bug: the caller gets a request
 * id and not a word of what happened, the log gets both.
 */
export function answerErrors(log: Logger, answer: typeof fail = fail): ErrorHandler {
  return (error, c) => {
    if (error instanceof HubError) return answer(c, error);
    const requestId = randomUUID();
    log.error('Unexpected error', {
      requestId,
      method: c.req.method,
      path: c.req.path,
      stack: error.stack ?? String(error),
    });
    const message = `Internal error. The log of the hub has the details under request id ${requestId}.`;
    return c.json({ ...(answer === fail ? { success: false } : { error: 'internal' }), message, requestId }, 500);
  };
}
