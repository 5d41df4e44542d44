import { useQuery } from '@tanstack/react-query';
import { get, pathOf } from '../../api/client.ts';
import type { Activity, JsonObject } from '../../api/types.ts';
import { isObject } from '../../lib/json.ts';

/** A recorded call that is to be made again: what can be put into the form, or why nothing can. */
export type Replay =
  | { readonly kind: 'filled'; readonly args: JsonObject; readonly at: string; readonly hasMasked: boolean }
  | { readonly kind: 'missing'; readonly why: 'notKept' | 'cut' | 'gone' };

/** What the hub writes in place of a secret. */
const mask = '••••';

/**
 * The arguments of a recorded call of this tool. Nothing is run by it: an address may come from anywhere. Undefined
 * while the hub is asked, and where no call is named.
 */
export function useReplay(id: string | undefined, server: string): { replay: Replay | undefined; isLoading: boolean } {
  const { data, isPending, error } = useQuery({
    queryKey: ['activity', id],
    queryFn: ({ signal }) => get<Activity>(`/activities${pathOf(id ?? '')}`, signal),
    enabled: id !== undefined,
    retry: false,
    meta: { live: false },
  });
  if (id === undefined) return { replay: undefined, isLoading: false };
  if (error) return { replay: { kind: 'missing', why: 'gone' }, isLoading: false };
  if (isPending) return { replay: undefined, isLoading: true };
  return { replay: data.server === server ? replayOf(data) : undefined, isLoading: false };
}

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
