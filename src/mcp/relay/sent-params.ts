import { type Edits, editObject, memberText } from '../../core/json/text.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { type TraceContext, traceEdits, traceMembers } from '../../core/tracing.ts';
import type { ClientRequest } from '../request.ts';

interface SentEdits {
  /** Of the params themselves. */
  readonly own: Edits;
  /** Of `_meta`, where there is one. */
  readonly meta: Edits;
  /**
   * What is written here of the trace of the request: `_meta` is added for it. A server of 2026-07-28 is told of it
   * with all else that its requests say (`upstream/connections/link/request-writer`).
   */
  readonly trace: TraceContext | undefined;
}

/**
 * The params of a request as its server gets them: with these changes, and with the id as its progress token where the
 * client has given one. `token` is the client's, as JSON text.
 */
export function sentParams(
  { params = '{}', message }: Pick<ClientRequest, 'params' | 'message'>,
  id: number,
  { own, meta: metaEdits, trace }: SentEdits,
): { readonly params: string; readonly hasMeta: boolean; readonly token: string | undefined } {
  const given = isObject(message.params) ? message.params['_meta'] : undefined;
  const hasMeta = isObject(given);
  if (!hasMeta) {
    if (!trace) return { params: editObject(params, own), hasMeta, token: undefined };
    // A `_meta` that is no object is replaced.
    const edits = given === undefined ? own : { ...own, _meta: null };
    return { params: editObject(params, edits, `"_meta":{${traceMembers(trace)}}`), hasMeta, token: undefined };
  }
  const meta = memberText(params, '_meta') ?? '{}';
  const token = memberText(meta, 'progressToken');
  const all = {
    ...metaEdits,
    ...(trace && traceEdits(trace)),
    ...(token !== undefined && { progressToken: String(id) }),
  };
  return { params: editObject(params, { ...own, _meta: editObject(meta, all) }), hasMeta, token };
}
