import { HubError } from '../core/errors.ts';
import { isObject, type RpcMessage } from '../core/protocol/rpc.ts';
import type { ClientRequest } from './request.ts';
import { metaKeys } from './revisions.ts';

/** Severities of `notifications/message`, least first (2025-11-25, Logging; RFC 5424). */
const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** The level of a `logging/setLevel`. Throws HubError `invalid_input` for what is no level. */
export function levelAsked(request: ClientRequest): string {
  const level = isObject(request.message.params) ? request.message.params['level'] : undefined;
  if (typeof level !== 'string' || !levels.includes(level)) {
    throw new HubError('invalid_input', `logging/setLevel needs params.level, one of ${levels.join(', ')}.`);
  }
  return level;
}

/**
 * Whether the client that made a request wants this log message about it. A stateless client says so in each request,
 * and gets none that it did not ask for (2026-07-28, Logging).
 */
export function wantsLog(request: ClientRequest, message: RpcMessage): boolean {
  const wanted = wantedLevel(request);
  if (wanted === undefined) return !request.stateless;
  return isAtLeast(message, wanted);
}

/** From which severity on the client of a request wants log messages about it; undefined when it did not say. */
export function wantedLevel(request: ClientRequest): string | undefined {
  return request.stateless ? levelOf(request) : request.session?.logLevel;
}

/** Whether a log message is at least as severe as the wanted level. */
export function isAtLeast(message: RpcMessage, wanted: string): boolean {
  const level = isObject(message.params) ? message.params['level'] : undefined;
  return typeof level === 'string' && levels.indexOf(level) >= levels.indexOf(wanted);
}

/** The level that a stateless request asks for; undefined when it wants no log messages. */
function levelOf({ message }: ClientRequest): string | undefined {
  const meta = isObject(message.params) ? message.params['_meta'] : undefined;
  const level = isObject(meta) ? meta[metaKeys.logLevel] : undefined;
  return typeof level === 'string' && levels.includes(level) ? level : undefined;
}

/** The one that lets more through. */
export function lower(a: string, b: string): string {
  return levels.indexOf(a) <= levels.indexOf(b) ? a : b;
}
