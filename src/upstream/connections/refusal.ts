import { isObject } from '../../core/protocol/rpc.ts';

/** The text of a JSON-RPC error as far as it can be shown. */
export function refusal(error: unknown): string {
  if (!isObject(error)) return 'the answer has neither result nor error';
  const message = typeof error['message'] === 'string' ? error['message'] : 'no message';
  return `${message.slice(0, 500)} (${String(error['code'])})`;
}
