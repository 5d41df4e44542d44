import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import { serverQuery, serversQuery } from '../../api/queries.ts';
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

/** What is asked for about one server alone. */
export function ofServer(name: string) {
  return [serverQuery(name).queryKey, ['connect', undefined, name]];
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
    removes: ofServer,
    done: (_result, name) => {
      toast.good(t('servers.deleted', { name }));
      done?.();
    },
  });
  return async (name: string) => {
    const title = t('servers.deleteTitle', { name });
    if (await confirm({ title, text: t('servers.deleteText'), action: t('common.delete') })) remove.mutate(name);
  };
}

interface SignIn {
  readonly name: string;
  /** Null where the browser opens none. */
  readonly tab: Window | null;
}

/** Opens the other side's login in a tab of its own; the hub hears of its end. */
export function useSignIn() {
  const { mutate, isPending } = useAction<SignIn, { data: { authorizationUrl: string } }>({
    async run({ name, tab }) {
      try {
        return await ask(`/servers${pathOf(name)}/oauth/authorize`, { method: 'POST' });
      } catch (error) {
        tab?.close();
        throw error;
      }
    },
    done({ data: { authorizationUrl } }, { tab }) {
      // Only an address of the web: a server could name anything.
      if (!/^https?:/i.test(authorizationUrl)) tab?.close();
      else (tab ?? window).location.assign(authorizationUrl);
    },
  });
  const start = (name: string) => {
    // At once: browsers refuse a tab that is opened after an answer has been waited for.
    const tab = window.open('about:blank', '_blank');
    if (tab) tab.opener = null;
    mutate({ name, tab });
  };
  return { start, isPending };
}

/** Of one's own sign-in, on a server where each user has one. */
export function useSignOut() {
  return useAction<string>({
    run: (name) => ask(`/servers${pathOf(name)}/oauth/disconnect`, { method: 'POST', body: { scope: 'tokens' } }),
  });
}
