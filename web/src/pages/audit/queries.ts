import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { get, queryOf } from '../../api/client.ts';
import type { AuditCheck, AuditRecord } from '../../api/types.ts';

export type AuditFilter = Readonly<Record<'actor' | 'action' | 'target' | 'since' | 'until', string | undefined>>;

const pageSize = 50;

/** Newest first, a page at a time. Not live: each reading writes what the hub has counted so far. */
export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', filter],
    queryFn: ({ signal, pageParam }) =>
      get<readonly AuditRecord[]>(`/audit${queryOf({ ...filter, limit: pageSize, before: pageParam })}`, signal),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (last) => (last.length < pageSize ? undefined : last.at(-1)?.id),
    placeholderData: keepPreviousData,
    meta: { live: false },
  });

/** Asked for by a button alone. */
export const checkQuery = queryOptions({
  queryKey: ['audit-check'],
  queryFn: ({ signal }) => get<AuditCheck>('/audit/check', signal),
  enabled: false,
  gcTime: 0,
  meta: { live: false },
});
