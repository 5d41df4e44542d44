import { userOf } from '../core/access.ts';
import type { NewActivity } from '../core/activity.ts';
import { isObject } from '../core/rpc.ts';
import { scopeId } from '../core/scope.ts';
import type { Settings } from '../core/settings.ts';
import type { FinishedCall } from './relay.ts';

/** The activity record of a finished tool call (CONTRACT §4); undefined for prompts and resources, of which none is kept. */
export function activityOf(call: FinishedCall, settings: Settings): NewActivity | undefined {
  const { request, target, ms, outcome, error, answer } = call;
  if (request.method !== 'tools/call') return undefined;
  const { principal, scope, address } = request;
  const key = principal.kind === 'key' ? settings.keys.find((key) => key.id === principal.id) : undefined;
  const username = principal.kind === 'user' ? principal.username : userOf(settings, principal)?.username;
  const group = scope.kind === 'smart' ? scope.group : scope.kind === 'named' ? scope.name : undefined;
  const traceId = traceIdOf(request.message.params);
  return {
    server: target.server,
    tool: target.key,
    durationMs: Math.round(ms),
    status: outcome === 'ok' ? 'success' : outcome === 'tool_error' ? 'error' : outcome,
    principal: principal.kind,
    scope: scopeId(scope),
    resultBytes: answer === undefined ? 0 : Buffer.byteLength(answer),
    ...(error !== undefined && { errorMessage: error }),
    ...(username !== undefined && { username }),
    ...(key && { keyId: key.id, keyName: key.name }),
    ...(group !== undefined && request.view.kind === 'group' && { group }),
    ...(address !== undefined && { sourceIp: address }),
    ...(traceId !== undefined && { traceId }),
    ...(settings.system.storeToolPayload && payloads(request.params, answer)),
  };
}

/** The trace id of W3C trace context, which travels in `_meta.traceparent`. */
function traceIdOf(params: unknown): string | undefined {
  const meta = isObject(params) && isObject(params['_meta']) ? params['_meta'] : {};
  const { traceparent } = meta;
  return typeof traceparent === 'string' ? /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(traceparent)?.[1] : undefined;
}

function payloads(input: string | undefined, output: string | undefined): { input?: string; output?: string } {
  return { ...(input !== undefined && { input }), ...(output !== undefined && { output }) };
}
