import { type Edits, editObject, inFront, memberText } from '../../core/json/text.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { TraceContext } from '../../core/tracing.ts';
import type { ClientRequest } from '../request.ts';
import { traceEdits, traceMembers } from './traced-call.ts';

interface SentEdits {
  /** Of the params themselves. */
  readonly own: Edits;
  /** Of `_meta`, where there is one. */
  readonly meta: Edits;
  /** What the server is told of the trace of the request: `_meta` is added for it. */
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
    // A `_meta` that is no object is replaced.
    const edited = editObject(params, trace && given !== undefined ? { ...own, _meta: null } : own);
    const told = trace ? inFront(edited, `"_meta":{${traceMembers(trace)}}`) : edited;
    return { params: told, hasMeta, token: undefined };
  }
  const meta = memberText(params, '_meta') ?? '{}';
  const token = memberText(meta, 'progressToken');
  const all = { ...metaEdits, ...traceEdits(trace), ...(token !== undefined && { progressToken: String(id) }) };
  return { params: editObject(params, { ...own, _meta: editObject(meta, all) }), hasMeta, token };
}
