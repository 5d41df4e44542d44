import { queryOptions } from '@tanstack/react-query';
import { get, pathOf } from '../../api/client.ts';
import type { Approval, Pin } from '../../api/types.ts';
import { waiting } from './waiting.ts';

/** Calls that wait for a yes, and the last that were decided. */
export const approvalsQuery = queryOptions({
  queryKey: ['approvals'],
  queryFn: ({ signal }) => get<readonly Approval[]>('/approvals', signal),
});

/** One with its arguments as a whole, which do not change. */
export const approvalQuery = (id: string) =>
  queryOptions({
    queryKey: ['approvals', id],
    queryFn: ({ signal }) => get<Approval>(`/approvals${pathOf(id)}`, signal),
    staleTime: Infinity,
    meta: { live: false },
  });

/** Everything that differs from what was approved. */
export const pinsQuery = queryOptions({
  queryKey: ['pins'],
  queryFn: async ({ signal }) => waiting(await get<readonly Pin[]>('/pins?hashes=true', signal)),
});
