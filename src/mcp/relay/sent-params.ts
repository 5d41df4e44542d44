import { type Edits, editObject, memberText } from '../../core/json/text.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { ClientRequest } from '../request.ts';

interface SentEdits {
  /** Of the params themselves. */
  readonly own: Edits;
  /** Of `_meta`, where there is one. */
  readonly meta: Edits;
  /** The same for what the request is given of its trace: `_meta` is added for it. */
  readonly trace: Edits | undefined;
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
  const hasMeta = isObject(message.params) && isObject(message.params['_meta']);
  if (!hasMeta) {
    const edits = trace ? { ...own, _meta: editObject('{}', trace) } : own;
    return { params: editObject(params, edits), hasMeta, token: undefined };
  }
  const meta = memberText(params, '_meta') ?? '{}';
  const token = memberText(meta, 'progressToken');
  const all = { ...metaEdits, ...trace, ...(token !== undefined && { progressToken: String(id) }) };
  return { params: editObject(params, { ...own, _meta: editObject(meta, all) }), hasMeta, token };
}
