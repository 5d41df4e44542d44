import { unknownServer } from '../core/activity.ts';
import { isObject } from '../core/protocol/rpc.ts';
import type { Principal } from '../core/access/principal.ts';
import { scopeId } from '../core/access/scope.ts';
import type { ClientRequest } from './request.ts';

/** A tool call that no server has seen. */
export interface RefusedCall {
  readonly principal: Principal;
  readonly address: string | undefined;
  /** As text, like `dev`. */
  readonly scope: string;
  /** As the caller named them: there may be no such thing. */
  readonly server: string;
  readonly tool: string;
  readonly ms: number;
  /** What the caller was told, arguments left out. */
  readonly error: string;
  /** W3C trace context, not checked. */
  readonly traceparent: string | undefined;
}

/**
 * A refused `tools/call` for the record. Its server is known only of a tool the caller sees, and on the endpoint of one
 * server: a call of a hidden tool leaves the same record as a call of a tool that does not exist.
 */
export function refusedCall(request: ClientRequest, error: string): RefusedCall {
  const { principal, address, scope, view, message } = request;
  const params = isObject(message.params) ? message.params : {};
  const meta = isObject(params['_meta']) ? params['_meta'] : {};
  const named = nameIn(params, view.smart !== undefined);
  const target = view.tool(named);
  const [only] = view.kind === 'server' ? view.servers : [];
  const { traceparent } = meta;
  return {
    principal,
    address,
    scope: scopeId(scope),
    server: target?.server ?? only ?? unknownServer,
    tool: (target?.key ?? named).slice(0, 200),
    ms: 0,
    error,
    traceparent: typeof traceparent === 'string' ? traceparent : undefined,
  };
}

/** The tool that a call is about: on a smart endpoint the one that `call_tool` was to call. */
function nameIn({ name, arguments: given }: Record<string, unknown>, isSmart: boolean): string {
  const named = isSmart && name === 'call_tool' && isObject(given) ? given['toolName'] : name;
  return typeof named === 'string' ? named : '';
}
