import { queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { clientsQuery, useMe } from '../../api/queries.ts';
import { firstCallsQuery } from '../../api/records.ts';
import type { ServerSummary } from '../../api/types.ts';
import { storage } from '../../lib/storage.ts';
import { createStore, useStore } from '../../lib/store.ts';

/** With more calls than this a hub is in use, and its people need no list of first steps. */
const fewCalls = 10;

/** The list, which is loaded together with what it shows: a hub in use has none. */
const listQuery = queryOptions({
  queryKey: ['first-steps'],
  queryFn: () => import('./first-steps.tsx'),
  staleTime: Infinity,
  meta: { live: false },
});

/** For whom it was shown: it stays while the page does, since a first client may call often before the list is done. */
const shownTo = createStore<string | undefined>(undefined);

/** The first steps of who is logged in, with the list for them; undefined where they are not to be shown. */
export function useFirstSteps(
  servers: readonly ServerSummary[] | undefined,
  lately: { readonly totalCalls: number } | undefined,
) {
  const me = useMe();
  const kept = `first-steps.${me.username}`;
  const [isAway, setAway] = useState(() => storage.get(kept) !== undefined);
  const stays = useStore(shownTo) === me.username;
  // With many calls lately it need not be asked whether there were many.
  const isInUse = lately !== undefined && lately.totalCalls > fewCalls && !stays;
  const enabled = !isAway && lately !== undefined && !isInUse;
  const clients = useQuery({ ...clientsQuery, enabled });
  const calls = useQuery({ ...firstCallsQuery, enabled });
  const list = useQuery({ ...listQuery, enabled });
  const putAway = () => {
    storage.set(kept, 'away');
    setAway(true);
  };
  const isShown = !isAway && calls.data !== undefined && (stays || calls.data.pagination.total <= fewCalls);
  useEffect(() => {
    if (isShown) shownTo.set(me.username);
  }, [isShown, me.username]);
  if (isAway || isInUse) return { isPending: false, shown: undefined, putAway };
  const isPending = enabled && [clients, calls, list].some((each) => each.isPending && !each.error);
  if (!clients.data || !calls.data || !list.data || !isShown) return { isPending, shown: undefined, putAway };
  const { stepsOf, Checklist } = list.data;
  const steps = stepsOf(me, servers, clients.data, calls.data.data);
  return { isPending: false, shown: { steps, Checklist }, putAway };
}
