import { z } from 'zod';
import { HubError } from '../../core/errors.ts';
import { type HubId, hubOf, idAt, newHubId } from '../../core/hub-id.ts';
import { principalId } from '../../core/access/principal.ts';
import { scopeId } from '../../core/access/scope.ts';
import type { Edits } from '../../core/json/text.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { Sealer } from '../../core/seal.ts';
import type { Target } from '../../core/access/view.ts';
import type { Round } from '../../governance/call-counts.ts';
import type { ClientRequest } from '../request.ts';

/** What lets another round of an approved call pass, once. */
export interface RoundPass {
  /** The ids of the approvals that the call used up. */
  readonly approvals: readonly string[];
  /** The one use that is allowed. */
  readonly use: string;
}

/** Of a call that was counted against limits: what lets its next round pass without counting it again. */
export interface CountedRound extends Round {
  /** How many rounds there were before. */
  readonly number: number;
  /** What the call's arguments are known by. */
  readonly arguments: string;
}

/**
 * What a `requestState` of the hub holds: the state that the server itself gave, if any, or the id of a suspended call
 * and of the one use that is allowed.
 */
export type StateContent =
  | {
      readonly kind: 'server';
      /** Undefined where it gave none. */
      readonly state: string | undefined;
      readonly pass?: RoundPass | undefined;
      readonly round?: CountedRound | undefined;
    }
  | { readonly kind: 'parked'; readonly id: string; readonly use: string };

/**
 * Makes and reads the `requestState` that clients of 2026-07-28 carry from one round of a call to the next (Multi
 * Round-Trip Requests, Server Requirements, 4 and 5): sealed, so that it cannot be altered, and bound to one principal,
 * endpoint, target and server, for a limited time.
 */
export interface RequestStates {
  seal(request: ClientRequest, target: Target, content: StateContent, lifeMs: number): string;
  /** Throws HubError `invalid_input`, with the same text for every fault. */
  open(token: unknown, request: ClientRequest, target: Target): StateContent;
}

export function createRequestStates(
  sealer: Sealer,
  now: () => number = Date.now,
  hub: HubId = newHubId(),
): RequestStates {
  return {
    seal(request, target, content, lifeMs) {
      const inner =
        content.kind === 'server'
          ? [
              's',
              content.state ?? null,
              content.pass?.use ?? null,
              content.pass?.approvals ?? null,
              content.round ?? null,
            ]
          : ['p', content.id, content.use];
      const sealed = sealer.seal(JSON.stringify([binding(request, target), now() + lifeMs, ...inner]));
      // The call waits at this hub; it is found by that from any other, and opened here.
      return content.kind === 'parked' ? idAt(hub, sealed) : sealed;
    },
    open(token, request, target) {
      const sealed =
        typeof token === 'string' && hubOf(token) !== undefined ? token.slice(token.indexOf('.') + 1) : token;
      const text = typeof sealed === 'string' ? sealer.open(sealed) : undefined;
      const opened = text === undefined ? undefined : contentIn(text);
      if (opened?.bound !== binding(request, target) || !(opened.until > now())) throw badState();
      return opened.content;
    },
  };
}

const countedRound = z.object({
  use: z.string(),
  untilSecond: z.number(),
  number: z.number(),
  arguments: z.string(),
}) satisfies z.ZodType<CountedRound>;

const bound = z.string();
const until = z.number();
/** What was sealed here, as this version writes it: what another version wrote in another form is refused. */
const sealedContent = z.union([
  z.tuple([
    bound,
    until,
    z.literal('s'),
    z.string().nullable(),
    z.string().nullable(),
    z.array(z.string()).nullable(),
    countedRound.nullable(),
  ]),
  z.tuple([bound, until, z.literal('p'), z.string(), z.string()]),
]);

function contentIn(text: string): { bound: string; until: number; content: StateContent } | undefined {
  const { data } = sealedContent.safeParse(JSON.parse(text));
  if (data === undefined) return undefined;
  const [bound, until] = data;
  if (data[2] === 'p') return { bound, until, content: { kind: 'parked', id: data[3], use: data[4] } };
  const [, , , state, use, approvals, round] = data;
  const pass = use !== null && approvals !== null && { pass: { use, approvals } };
  return { bound, until, content: { kind: 'server', state: state ?? undefined, ...pass, ...(round && { round }) } };
}

/** The methods that a server may answer with questions (2026-07-28, Multi Round-Trip Requests, Supported requests). */
const roundMethods: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/**
 * The state of an earlier round that a stateless client sends back. Throws HubError `invalid_input` for a state that
 * was not given for this request.
 */
export function stateIn(request: ClientRequest, target: Target, states: RequestStates): StateContent | undefined {
  const { params } = request.message;
  if (!isObject(params) || params['requestState'] === undefined) return undefined;
  return roundMethods.has(request.method) ? states.open(params['requestState'], request, target) : undefined;
}

/** Whether a request comes with the answers, or the state, of an earlier round. */
export function hasRounds({ method, message: { params } }: ClientRequest): boolean {
  if (!isObject(params) || !roundMethods.has(method)) return false;
  return params['inputResponses'] !== undefined || params['requestState'] !== undefined;
}

/** Takes them out: rounds exist only between sides that know them. */
export const noRounds: Edits = { inputResponses: null, requestState: null };

/** One text for every fault, so that a client learns nothing about the states of others. */
export function badState(): HubError {
  return new HubError(
    'invalid_input',
    'params.requestState is not valid: it expired, was used, or was given for another call, endpoint or caller. Make the call again, without it.',
  );
}

function binding({ principal, scope, method }: ClientRequest, { server, key }: Target): string {
  return JSON.stringify([principalId(principal), scopeId(scope), method, server, key]);
}
