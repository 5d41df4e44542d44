import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { AppWindow, Unplug } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../api/client.ts';
import { grantsQuery, useMe } from '../api/queries.ts';
import type { Grant } from '../api/types.ts';
import { boot } from '../boot.ts';
import { guess, useAction } from '../lib/action.ts';
import { date, relative } from '../lib/format.ts';
import { Badge } from '../ui/badge.tsx';
import { buttonClass, IconButton } from '../ui/button.tsx';
import { confirm } from '../ui/confirm.tsx';
import { Failure } from '../ui/failure.tsx';
import { Empty, Loading, Page } from '../ui/page.tsx';
import { toast } from '../ui/toast.tsx';
import { VirtualList } from '../ui/virtual-list.tsx';

/** The clients that users let in by OAuth: one's own, and for admins those of all users. */
export function Apps() {
  const { t } = useTranslation();
  const me = useMe();
  const grants = useQuery(grantsQuery);
  return (
    <Page title={t('nav.apps')} lead={t(me.isAdmin ? 'apps.lead' : 'apps.leadOwn')}>
      <div className="panel">
        {grants.error ? (
          <Failure error={grants.error} retry={() => void grants.refetch()} />
        ) : !grants.data ? (
          <Loading />
        ) : grants.data.length === 0 ? (
          <Empty icon={AppWindow} title={t('apps.emptyTitle')} text={t('apps.emptyText')}>
            <Link to="/account/connect" className={buttonClass()}>
              {t('nav.connect')}
            </Link>
          </Empty>
        ) : (
          <VirtualList
            label={t('nav.apps')}
            items={grants.data}
            keyOf={({ id }) => id}
            height={78}
            render={(grant) => <AppRow grant={grant} />}
          />
        )}
      </div>
    </Page>
  );
}

function AppRow({ grant }: { readonly grant: Grant }) {
  const { t } = useTranslation();
  const me = useMe();
  const { id, username, clientName, clientHost, resource, scope, reach, createdAt, lastUsedAt } = grant;
  const end = useAction({
    run: () => ask(`/auth/grants${pathOf(id)}`, { method: 'DELETE' }),
    at: () => [guess<readonly Grant[]>(grantsQuery.queryKey, (all) => all.filter((other) => other.id !== id))],
    done: () => toast.good(t('apps.ended', { name: clientName })),
  });
  const askFirst = async () => {
    const title = t('apps.endTitle', { name: clientName });
    if (await confirm({ title, text: t('apps.endText'), action: t('apps.end') })) end.mutate();
  };
  return (
    <div className="flex items-center gap-3 px-4 py-2.5">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-2 text-sm font-medium break-all">
          {clientName}
          <Badge>{clientHost}</Badge>
          {me.isAdmin && <Badge>{t('apps.ofUser', { username })}</Badge>}
          {scope !== 'mcp' && <Badge tone="warn">{t('apps.manages')}</Badge>}
        </p>
        <p className="text-soft truncate text-xs">
          <code>{resource}</code> · {reach.includes('all') ? t('apps.everything') : reach.join(', ')}
        </p>
        <p className="text-soft truncate text-xs">
          {t('apps.times', { since: date(createdAt), used: relative(lastUsedAt) })}
        </p>
      </div>
      {!boot.readonly && (
        <IconButton icon={Unplug} label={t('apps.endOf', { name: clientName })} onClick={() => void askFirst()} />
      )}
    </div>
  );
}
