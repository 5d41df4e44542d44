import { queryOptions } from '@tanstack/react-query';
import { get } from '../api/client.ts';
import type { WaitingApprovals } from '../api/types.ts';

/** The calls that wait for the answer of this user. */
export const waitingQuery = queryOptions({
  queryKey: ['approvals', 'waiting'],
  queryFn: ({ signal }) => get<WaitingApprovals>('/approvals/waiting', signal),
});

/** When the newest of these calls began, unless `least` is later. */
export function newestOf(calls: WaitingApprovals['newest'], least = ''): string {
  return calls.reduce((last, { createdAt }) => (createdAt > last ? createdAt : last), least);
}
