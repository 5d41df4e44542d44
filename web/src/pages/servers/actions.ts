import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import { queryClient, serverQuery, serversQuery } from '../../api/queries.ts';
import type { ServerDetails, ServerSummary } from '../../api/types.ts';
import { guess, useAction } from '../../lib/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { toast } from '../../ui/toast.tsx';

/** What can be done to a server, with what the page shows meanwhile. */

function inBoth(name: string, change: <T extends ServerSummary | ServerDetails>(server: T) => T) {
  return [
    guess<readonly ServerSummary[]>(serversQuery.queryKey, (all) =>
      all.map((server) => (server.name === name ? change(server) : server)),
    ),
    guess<ServerDetails>(serverQuery(name).queryKey, change),
  ];
}

export function useToggleServer() {
  return useAction<{ name: string; enabled: boolean }>({
    run: ({ name, enabled }) => ask(`/servers${pathOf(name)}/toggle`, { method: 'POST', body: { enabled } }),
    at: ({ name, enabled }) =>
      inBoth(name, (server) => ({ ...server, enabled, status: enabled ? 'connecting' : 'disabled', error: null })),
  });
}

export function useReloadServer() {
  const { t } = useTranslation();
  return useAction<string>({
    run: (name) => ask(`/servers${pathOf(name)}/reload`, { method: 'POST' }),
    at: (name) => inBoth(name, (server) => ({ ...server, status: 'connecting', error: null })),
    done: () => toast.good(t('servers.reloaded')),
  });
}

export function useDeleteServer(done?: () => void) {
  const { t } = useTranslation();
  const remove = useAction<string>({
    run: (name) => ask(`/servers${pathOf(name)}`, { method: 'DELETE' }),
    at: (name) => [
      guess<readonly ServerSummary[]>(serversQuery.queryKey, (all) => all.filter((each) => each.name !== name)),
    ],
    done: (_result, name) => {
      queryClient.removeQueries({ queryKey: serverQuery(name).queryKey });
      toast.good(t('servers.deleted', { name }));
      done?.();
    },
  });
  return async (name: string) => {
    const title = t('servers.deleteTitle', { name });
    if (await confirm({ title, text: t('servers.deleteText'), action: t('common.delete') })) remove.mutate(name);
  };
}

/** Opens the other side's login in a tab of its own; the hub hears of its end. */
export function useSignIn() {
  return useAction<string, { data: { authorizationUrl: string } }>({
    run: (name) => ask(`/servers${pathOf(name)}/oauth/authorize`, { method: 'POST' }),
    done: ({ data }) => {
      // Only an address of the web: a server could name anything.
      if (/^https?:/i.test(data.authorizationUrl)) window.open(data.authorizationUrl, '_blank', 'noopener');
    },
  });
}

/** Of one's own sign-in, on a server where each user has one. */
export function useSignOut() {
  return useAction<string>({
    run: (name) => ask(`/servers${pathOf(name)}/oauth/disconnect`, { method: 'POST', body: { scope: 'tokens' } }),
  });
}
