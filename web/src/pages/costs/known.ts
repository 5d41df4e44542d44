import { queryOptions } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ask, type Envelope, get, queryOf } from '../../api/client.ts';
import { spans } from '../../api/records.ts';
import type { ActivityStats, ServerCost } from '../../api/types.ts';
import { date, dateTime, isWithin } from '../../lib/format.ts';
import { type KnownCalls, knownCalls } from './bill.ts';

/** The endpoint whose tools are looked at: of all servers, of a group, or one that searches. */
export interface Endpoint {
  readonly group?: string | undefined;
  readonly smart?: boolean | undefined;
}

export const costsQuery = ({ group, smart = false }: Endpoint) =>
  queryOptions({
    queryKey: ['costs', group, smart],
    queryFn: ({ signal }) =>
      get<readonly ServerCost[]>(`/costs${queryOf({ group, smart: smart ? 'true' : undefined })}`, signal),
  });

/** As many as the hub tells: all that were called in a month. */
const mostTools = 10_000;
/** The calls of the last 30 days by tool. Large where there are many tools, so it is seldom asked for again. */
export const toolCallsQuery = queryOptions({
  queryKey: ['tool-calls'],
  queryFn: async ({ signal }): Promise<KnownCalls> => {
    const startDate = new Date(Date.now() - spans['30d']).toISOString();
    const query = queryOf({ kind: 'call', groupBy: 'server,tool', groups: mostTools, startDate });
    const answer = (await ask<ActivityStats>(`/activities/stats${query}`, { signal })) as Envelope<ActivityStats> & {
      incomplete?: true;
    };
    return knownCalls(answer.data, answer.incomplete === true);
  },
  refetchInterval: 60_000,
  meta: { live: false },
});

/** "In the last 30 days", or since when calls are known. */
export function useWhen({ since, isWhole }: KnownCalls): string {
  const { t } = useTranslation();
  if (isWhole || since === undefined) return t('costs.month');
  const isRecent = !isWithin(since, -2 * spans['24h']);
  return t('costs.since', { date: isRecent ? dateTime(since) : date(since) });
}
