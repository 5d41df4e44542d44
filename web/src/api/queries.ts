import { partialMatchKey, QueryClient, type QueryKey, queryOptions, useQuery } from '@tanstack/react-query';
import { ApiError, get, pathOf, queryOf } from './client.ts';
import type {
  ClientSeen,
  Connect,
  Grant,
  Group,
  GroupServer,
  Key,
  LoginSession,
  Me,
  SecondFactor,
  ServerDetails,
  ServerNames,
  ServerSummary,
  User,
  UserCredential,
} from './types.ts';

/** What the pages read. Everything here is asked for again when the hub says that something has changed (`live.ts`). */

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 20_000,
      // What was refused is refused again; what could not be reached may be there in a moment.
      retry: (failures, error) =>
        failures < 3 && error instanceof ApiError && (error.status === 0 || error.status === 503),
      retryDelay: (attempt) => Math.min(4_000, 500 * 2 ** attempt),
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

/**
 * What the hub has no more, or is being asked to remove: a page that still shows it would only hear that it is not
 * there.
 */
const leaving = new Map<QueryKey, 'asked' | 'gone'>();

/** The key of changes that are shown before the hub has answered. */
export const guessing = ['shown at once'];

/**
 * Asks again for everything that is shown and that the hub can have changed: by the last of the changes that are shown
 * already, since what the hub says before it has them all would take them off the page for a moment. `ending` of them
 * are over.
 */
export function refresh(ending = 0): void {
  if (queryClient.isMutating({ mutationKey: guessing }) > ending) return;
  for (const [queryKey, state] of leaving) {
    if (state === 'asked' || queryClient.getQueryCache().findAll({ queryKey, type: 'active' }).length > 0) continue;
    queryClient.removeQueries({ queryKey });
    leaving.delete(queryKey);
  }
  const isLeaving = (key: QueryKey): boolean => [...leaving.keys()].some((each) => partialMatchKey(key, each));
  void queryClient.invalidateQueries({
    predicate: ({ meta, queryKey }) => meta?.['live'] !== false && !isLeaving(queryKey),
  });
}

/**
 * Nothing below `keys` is asked for any more, until what is called says that they stay, or no page shows them any
 * longer.
 */
export async function startRemoving(keys: readonly QueryKey[]): Promise<(removed: boolean) => void> {
  for (const key of keys) leaving.set(key, 'asked');
  await Promise.all(keys.map((queryKey) => queryClient.cancelQueries({ queryKey })));
  return (removed) => {
    for (const key of keys) {
      if (removed) leaving.set(key, 'gone');
      else leaving.delete(key);
    }
  };
}

export const meQuery = queryOptions({ queryKey: ['me'], queryFn: ({ signal }) => get<Me>('/auth/user', signal) });

/** Who is logged in. Only below the shell, which has waited for it. */
export function useMe(): Me {
  const { data } = useQuery(meQuery);
  if (!data) throw new Error('useMe outside of the shell');
  return data;
}

export const serversQuery = queryOptions({
  queryKey: ['servers'],
  queryFn: ({ signal }) => get<readonly ServerSummary[]>('/servers?items=count', signal),
});

/** The names of all servers and tools, to search them. */
export const serverNamesQuery = queryOptions({
  queryKey: ['server-names'],
  queryFn: ({ signal }) => get<readonly ServerNames[]>('/servers?items=names', signal),
});

/** The tools in which all words are found, by server. */
export const foundToolsQuery = (q: string) =>
  queryOptions({
    queryKey: ['server-names', q],
    queryFn: ({ signal }) => get<readonly ServerNames[]>(`/servers${queryOf({ items: 'names', q })}`, signal),
    enabled: q !== '',
  });

export const serverQuery = (name: string) =>
  queryOptions({
    queryKey: ['servers', name],
    queryFn: ({ signal }) => get<ServerDetails>(`/servers${pathOf(name)}`, signal),
  });

export const groupsQuery = queryOptions({
  queryKey: ['groups'],
  queryFn: ({ signal }) => get<readonly Group[]>('/groups', signal),
});

export const groupQuery = (id: string) =>
  queryOptions({ queryKey: ['groups', id], queryFn: ({ signal }) => get<Group>(`/groups${pathOf(id)}`, signal) });

export const groupServersQuery = (id: string) =>
  queryOptions({
    queryKey: ['groups', id, 'servers'],
    queryFn: ({ signal }) => get<readonly GroupServer[]>(`/groups${pathOf(id)}/server-configs`, signal),
  });

export const usersQuery = queryOptions({
  queryKey: ['users'],
  queryFn: ({ signal }) => get<readonly User[]>('/users', signal),
});

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: ({ signal }) => get<readonly LoginSession[]>('/auth/sessions', signal),
});

export const secondFactorQuery = queryOptions({
  queryKey: ['second-factor'],
  queryFn: ({ signal }) => get<SecondFactor>('/auth/second-factor', signal),
});

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => get<readonly Key[]>('/auth/keys', signal),
});

/** The clients that connected last, newest first. */
export const clientsQuery = queryOptions({
  queryKey: ['clients'],
  queryFn: ({ signal }) => get<readonly ClientSeen[]>('/clients', signal),
});

export const grantsQuery = queryOptions({
  queryKey: ['grants'],
  queryFn: ({ signal }) => get<readonly Grant[]>('/auth/grants', signal),
});

export const credentialsQuery = queryOptions({
  queryKey: ['credentials'],
  queryFn: ({ signal }) => get<readonly UserCredential[]>('/credentials', signal),
});

export interface ConnectScope {
  readonly group?: string;
  readonly server?: string;
  readonly smart?: boolean;
  readonly code?: boolean;
  /** The texts have the place of a key in any case, or in none. */
  readonly key?: boolean;
}

export const connectQuery = ({ group, server, smart, code, key }: ConnectScope) =>
  queryOptions({
    queryKey: ['connect', group, server, smart, code, key],
    queryFn: ({ signal }) =>
      get<Connect>(
        `/connect${queryOf({ group, server, smart: smart ? 'true' : undefined, code: code ? 'true' : undefined, key: key?.toString() })}`,
        signal,
      ),
  });
