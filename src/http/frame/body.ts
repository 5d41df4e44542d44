import type { ByteBudget } from '../../core/byte-budget.ts';
import { HubError } from '../../core/errors.ts';
import { isNestedDeeperThan } from '../../core/json/nesting.ts';
import { coreLimits } from '../../core/limits.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { stillAllowed } from './caller.ts';
import { bodyChunks } from './unread.ts';

/** What the body of a request may take. */
export interface BodyLimit {
  /** Bytes, at most. */
  readonly most: number;
  /** Where the memory for it comes from. */
  readonly budget: ByteBudget;
  /** Whether its sender is known by a credential. */
  readonly isKnown: boolean;
}

const bodyLimits = new WeakMap<Request, BodyLimit>();

/** Says what the body of this request may take, in place of what was said before. */
export function limitBody(request: Request, limit: BodyLimit): void {
  bodyLimits.set(request, limit);
}

/**
 * The members that the JSON body of a route may have at its top; undefined where it may have any. `path` as the router
 * has it, below the API.
 */
export type MembersOf = (route: { readonly method: string; readonly path: string }) => ReadonlySet<string> | undefined;

/** Of requests whose JSON body may have these members at its top and no others. */
const bodyMembers = new WeakMap<Request, ReadonlySet<string>>();

/** A JSON body of this request with any other member at its top is `invalid_input`. */
export function limitMembers(request: Request, members: ReadonlySet<string>): void {
  bodyMembers.set(request, members);
}

/**
 * The JSON body of a request, or `fallback` when there is none. Throws HubError `wrong_type`, `invalid_input`, and what
 * `bodyText` throws. It may be nested `coreLimits.nesting` deep.
 */
export async function jsonBody(request: Request, fallback?: unknown): Promise<unknown> {
  const { value } = await jsonBodyText(request, fallback === undefined ? undefined : JSON.stringify(fallback));
  return value;
}

/** The same with the JSON text, in which every number has all its digits; `fallback` is JSON text too. */
export async function jsonBodyText(request: Request, fallback?: string): Promise<{ value: unknown; text: string }> {
  const type = request.headers.get('content-type');
  const text = await bodyText(request);
  if (text.trim() === '' && fallback !== undefined) return { value: JSON.parse(fallback) as unknown, text: fallback };
  if (type !== null && !/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
    throw new HubError('wrong_type', `Content-Type must be application/json, not "${type.slice(0, 80)}".`);
  }
  if (isNestedDeeperThan(text, coreLimits.nesting)) {
    throw new HubError('invalid_input', `The body is nested more than ${coreLimits.nesting} levels deep.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new HubError('invalid_input', 'The body is not valid JSON.');
  }
  refuseUnknown(value, bodyMembers.get(request));
  return { value, text };
}

/**
 * For a request that takes nothing: no body, or `{}`. Throws HubError `invalid_input` for another, and what `jsonBody`
 * throws.
 */
export async function requireEmptyBody(request: Request): Promise<void> {
  const value = await jsonBody(request, {});
  const members = isObject(value) ? Object.keys(value).slice(0, coreLimits.problems) : undefined;
  if (members?.length === 0) return;
  const problems = (members ?? ['']).map((name) => ({
    path: name.slice(0, coreLimits.nameChars),
    message: 'is not known here',
  }));
  throw new HubError('invalid_input', 'This request takes nothing: leave the body empty.', { problems });
}

/**
 * A mistyped member must not be lost without a word (CONTRACT §7): HubError `invalid_input` names every member at the
 * top that is none of these.
 */
export function refuseUnknown(body: unknown, members: ReadonlySet<string> | undefined): void {
  if (members === undefined || !isObject(body)) return;
  const unknown = Object.keys(body).filter((member) => !members.has(member));
  if (unknown.length === 0) return;
  const shown = unknown.slice(0, coreLimits.problems).map((name) => name.slice(0, coreLimits.nameChars));
  const more = unknown.length > shown.length ? ` and ${unknown.length - shown.length} more` : '';
  throw new HubError(
    'invalid_input',
    `The body has unknown members: ${shown.join(', ')}${more}. This request takes: ${[...members].join(', ')}.`,
    { problems: shown.map((path) => ({ path, message: 'is not known here' })) },
  );
}

/**
 * The body of a request as it is. Throws HubError `too_large` past what `limitBody` allows, `not_ready` where the
 * memory for bodies is used up. Not the middleware of Hono: that makes a new request of one whose length is not
 * announced, which the requests of the Node adapter do not allow.
 */
export async function bodyText(request: Request): Promise<string> {
  const limit = bodyLimits.get(request);
  if (!limit) throw new Error('A body is read whose limit was not set');
  const { most, budget, isKnown } = limit;
  const tooLarge = () => new HubError('too_large', `The body is larger than ${most} bytes.`);
  // Looked at before the body is: one that was never touched is read away by the server.
  const declared = Number(request.headers.get('content-length') ?? 0);
  if (declared > most) throw tooLarge();
  const receiving = budget.receive({ declared, isKnown });
  try {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of bodyChunks(request)) {
      size += chunk.length;
      if (size > most) throw tooLarge();
      receiving.add(chunk.length);
      chunks.push(chunk);
    }
    await stillAllowed(request);
    return new TextDecoder().decode(Buffer.concat(chunks));
  } finally {
    receiving.close();
  }
}
