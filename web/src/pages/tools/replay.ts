import type { Activity, JsonObject } from '../../api/types.ts';
import { isObject } from '../../lib/json.ts';

/** A recorded call that is to be made again: what can be put into the form, or why nothing can. */
export type Replay =
  | { readonly kind: 'filled'; readonly args: JsonObject; readonly at: string; readonly hasMasked: boolean }
  | { readonly kind: 'missing'; readonly why: 'notKept' | 'cut' | 'gone' };

/** What the hub writes in place of a secret. */
const mask = '••••';

/** What a record has of the arguments of its call. */
export function replayOf({ input, timestamp }: Pick<Activity, 'input' | 'timestamp'>): Replay {
  if (input === undefined) return { kind: 'missing', why: 'notKept' };
  try {
    const params = JSON.parse(input) as unknown;
    const args = isObject(params) ? (params['arguments'] ?? {}) : undefined;
    if (!isObject(args)) return { kind: 'missing', why: 'cut' };
    return { kind: 'filled', args, at: timestamp, hasMasked: JSON.stringify(args).includes(mask) };
  } catch {
    return { kind: 'missing', why: 'cut' };
  }
}
