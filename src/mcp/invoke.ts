import { HubError } from '../core/errors.ts';
import { memberText } from '../core/json/text.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { dispatch, type DispatchOptions } from './dispatch.ts';
import type { Reply } from './reply.ts';
import { type ClientRequest, clientRequest } from './request.ts';

/** A request that does not come from an MCP client: from the REST API, from smart routing. */
export interface Invocation extends Pick<
  ClientRequest,
  'principal' | 'scope' | 'clientHeaders' | 'view' | 'address' | 'sessionId' | 'senderNow' | 'client' | 'within' | 'via'
> {
  readonly method: 'tools/call' | 'prompts/get' | 'resources/read';
  /** `params` as JSON text. Names are those of the view. */
  readonly params: string;
  /**
   * The caller speaks as a client of 2026-07-28: `params._meta` says what it can be asked, and a result may be
   * `input_required`.
   */
  readonly stateless?: boolean;
  /**
   * Gets each message as it is sent and received, as JSON text, the request first; of a result that is too large for a
   * text, how long it is.
   */
  readonly heard?: ((message: string | number, from: 'client' | 'server') => void) | undefined;
  /** A longer result is refused before a text is made of it. */
  readonly mostBytes?: number | undefined;
  /** Gets the params of each `notifications/progress` as JSON text; without it the server is not asked for any. */
  readonly progressed?: ((params: string) => void) | undefined;
  /** Ends the call when it aborts: the caller has left. */
  readonly signal?: AbortSignal;
}

/** What came back: the result, or the error the server itself answered with. */
export type Invoked =
  | { readonly kind: 'result'; readonly result: Record<string, unknown>; readonly text: string }
  | { readonly kind: 'error'; readonly code: number; readonly message: string };

/**
 * Makes a call in the same way as every client's: the same view, the same relay, the same activity record. Throws
 * HubError for what the hub itself refuses or could not do: `not_found`, `upstream_unavailable` (with `retryAfterMs`),
 * `timeout`, `cancelled`.
 */
export function invoke(invocation: Invocation, options: DispatchOptions): Promise<Invoked> {
  const { method, params, signal, stateless = false, heard } = invocation;
  let reply: Reply | undefined;
  const gone = (): void => reply?.gone?.();
  // Of a signal of many calls, those of one run of code, nothing is kept of one that has ended.
  signal?.addEventListener('abort', gone, { once: true });
  return new Promise<Invoked>((resolve, reject) => {
    reply = {
      notify: (text) => {
        heard?.(text, 'server');
        if (memberText(text, 'method') === '"notifications/progress"')
          invocation.progressed?.(memberText(text, 'params') ?? '{}');
      },
      answer: (text) => {
        heard?.(text, 'server');
        resolve(invoked(text));
      },
      answerLarge: (head, result, tail) => {
        heard?.(result.bytes, 'server');
        if (result.bytes > (invocation.mostBytes ?? Infinity))
          return reject(new HubError('upstream_failed', 'The result is too large.'));
        resolve(invoked(head + result.toString() + tail));
      },
      answerBytes: (head, body, tail) => resolve(invoked(head + body.toString() + tail)),
      refused: reject,
      gone: undefined,
    };
    const message = { jsonrpc: '2.0', id: 0, method, params: JSON.parse(params) as unknown };
    const { view, sessionId } = invocation;
    heard?.(`{"jsonrpc":"2.0","id":0,"method":"${method}","params":${params}}`, 'client');
    const how = { stateless, session: undefined, sessionId, view, pageSize: 0, reply };
    dispatch(clientRequest({ message, id: '0', params }, invocation, how), options);
    if (signal?.aborted) gone();
  }).finally(() => signal?.removeEventListener('abort', gone));
}

function invoked(text: string): Invoked {
  const message: unknown = JSON.parse(text);
  if (isObject(message) && isObject(message['result'])) return { kind: 'result', result: message['result'], text };
  const error = isObject(message) && isObject(message['error']) ? message['error'] : {};
  const words = error['message'];
  return { kind: 'error', code: Number(error['code']), message: typeof words === 'string' ? words : 'no message' };
}
