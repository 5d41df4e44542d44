import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import { useMe } from '../../api/queries.ts';
import type { ServerDetails } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { useAction } from '../../lib/action.ts';
import { dateTime, isPast } from '../../lib/format.ts';
import { useNow } from '../../lib/now.ts';
import { Button } from '../../ui/button.tsx';

/** Arguments and results of the calls of a server: kept for an hour, or no more. For admins. */
export function useKeepPayloads(server: string) {
  return useAction<boolean>({
    run: (keeps) =>
      keeps
        ? ask(`/servers${pathOf(server)}/payloads`, { method: 'POST', body: {} })
        : ask(`/servers${pathOf(server)}/payloads`, { method: 'DELETE' }),
  });
}

/** That they are kept now, until when, and the end of it; nothing while they are not. */
export function KeptPayloads({ server }: { readonly server: Pick<ServerDetails, 'name' | 'payloadsKeptUntil'> }) {
  const { t } = useTranslation();
  const { isAdmin } = useMe();
  const end = useKeepPayloads(server.name);
  const now = useNow(5_000);
  const { payloadsKeptUntil: until } = server;
  if (until === undefined || isPast(until, now)) return null;
  return (
    <div role="status" className="bg-warn-wash flex flex-wrap items-center gap-x-4 gap-y-2 rounded-lg px-4 py-2.5">
      <p className="text-warn min-w-0 flex-1 text-sm">{t('servers.payloadsKept', { time: dateTime(until) })}</p>
      {isAdmin && !boot.readonly && (
        <Button busy={end.isPending} onClick={() => end.mutate(false)}>
          {t('servers.endPayloads')}
        </Button>
      )}
    </div>
  );
}
