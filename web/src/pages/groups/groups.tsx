import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Boxes, Plus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { groupsQuery } from '../../api/queries.ts';
import type { Group } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Empty, Loading, Page } from '../../ui/page.tsx';
import { GroupDialog } from './group-dialog.tsx';
import { many } from '../../lib/format.ts';

const route = getRouteApi('/shell/groups');

export function Groups() {
  const { t } = useTranslation();
  const { add } = route.useSearch();
  const navigate = useNavigate({ from: '/groups' });
  const groups = useQuery(groupsQuery);
  const open = (yes: boolean) => void navigate({ search: { add: yes ? 'form' : undefined } });
  const button = !boot.readonly && (
    <Button look="primary" icon={Plus} onClick={() => open(true)}>
      {t('groups.create')}
    </Button>
  );
  return (
    <Page title={t('nav.groups')} lead={t('groups.lead')} actions={button}>
      {groups.error ? (
        <Failure error={groups.error} retry={() => void groups.refetch()} />
      ) : !groups.data ? (
        <Loading />
      ) : groups.data.length === 0 ? (
        <div className="panel">
          <Empty icon={Boxes} title={t('groups.emptyTitle')} text={t('groups.emptyText')}>
            {button}
          </Empty>
        </div>
      ) : (
        <ul className="grid grid-cols-1 gap-4 sm:grid-cols-2 lg:grid-cols-3" aria-label={t('nav.groups')}>
          {groups.data.map((group) => (
            <li key={group.id} className="min-w-0">
              <Card group={group} />
            </li>
          ))}
        </ul>
      )}
      {add !== undefined && <GroupDialog onClose={() => open(false)} />}
    </Page>
  );
}

function Card({ group: { name, description, servers } }: { readonly group: Group }) {
  const { t } = useTranslation();
  return (
    <Link
      to="/groups/$id"
      params={{ id: name }}
      className="panel hover:border-edge flex h-full min-h-28 flex-col gap-1 p-4 transition-colors"
    >
      <span className="font-medium break-words">{name}</span>
      <span className="text-soft line-clamp-2 text-sm break-words">{description}</span>
      <span className="text-soft mt-auto pt-2 text-xs">
        {servers.length === 0 ? t('groups.noServers') : t('groups.servers', many(servers.length))}
        {servers.length > 0 && <span className="block truncate">{servers.join(', ')}</span>}
      </span>
    </Link>
  );
}
