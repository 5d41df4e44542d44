import { createHash, randomUUID } from 'node:crypto';
import { isObject } from '../../core/protocol/rpc.ts';
import { mcpLimits } from '../limits.ts';
import type { ClientRequest } from '../request.ts';
import type { CountedRound } from '../server-requests/request-state.ts';

/**
 * Rounds of a call of 2026-07-28 whose server asks its client (Multi Round-Trip Requests) are one call for limits. What
 * lets the next one pass is in the sealed state, for the same arguments, once, and not without end: a client that makes
 * another call of it, or the same again, is counted.
 */

/** Undefined for a call that is not counted, and past the rounds that one call may have. */
export function nextRound(request: ClientRequest, round: number | undefined): CountedRound | undefined {
  if (round === undefined || round >= mcpLimits.roundsOfCall) return undefined;
  const untilSecond = Math.ceil((Date.now() + mcpLimits.requestStateMs) / 1_000);
  return { use: randomUUID(), untilSecond, number: round + 1, arguments: argumentsOf(request) };
}

/** The round that a request brings, where it goes on with the same call. */
export function roundOf(round: CountedRound | undefined, request: ClientRequest): CountedRound | undefined {
  // Arguments may be long, and nearly no call has rounds.
  return round && round.arguments === argumentsOf(request) ? round : undefined;
}

function argumentsOf({ message: { params } }: ClientRequest): string {
  const given = isObject(params) ? params['arguments'] : undefined;
  return createHash('sha256')
    .update(JSON.stringify(given ?? {}))
    .digest('base64url');
}
