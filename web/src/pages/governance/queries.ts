import { queryOptions } from '@tanstack/react-query';
import { get } from '../../api/client.ts';
import type { Approval, Pin } from '../../api/types.ts';
import { waiting } from './waiting.ts';

/** Calls that wait for a yes, and the last that were decided. */
export const approvalsQuery = queryOptions({
  queryKey: ['approvals'],
  queryFn: ({ signal }) => get<readonly Approval[]>('/approvals', signal),
});

/** Everything that differs from what was approved. */
export const pinsQuery = queryOptions({
  queryKey: ['pins'],
  queryFn: async ({ signal }) => waiting(await get<readonly Pin[]>('/pins?hashes=true', signal)),
});
