import { useQuery } from '@tanstack/react-query';
import { get, pathOf } from '../../api/client.ts';
import type { Activity } from '../../api/types.ts';
import { type Replay, replayOf } from './replay.ts';

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
