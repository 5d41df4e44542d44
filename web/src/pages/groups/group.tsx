import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Navigate, useNavigate } from '@tanstack/react-router';
import { ChevronLeft, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError, ask, pathOf } from '../../api/client.ts';
import { groupQuery, groupServersQuery, useMe } from '../../api/queries.ts';
import type { Group } from '../../api/types.ts';
import { NotFound } from '../../app/dead-ends.tsx';
import { boot } from '../../boot.ts';
import { useAction } from '../../lib/action.ts';
import { Button } from '../../ui/button.tsx';
import { confirm } from '../../ui/confirm.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Loading, Page, Panel } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { ConnectPanel } from './connect.tsx';
import { GroupContent } from './group-content.tsx';
import { GroupDialog } from './group-dialog.tsx';

const route = getRouteApi('/shell/groups/$id');

export function GroupPage() {
  const { id } = route.useParams();
  const group = useQuery(groupQuery(id));
  if (group.error instanceof ApiError && group.error.status === 404)
    return group.data && group.data.id !== id ? <Renamed id={group.data.id} /> : <NotFound />;
  if (group.data) return <Shown group={group.data} />;
  return (
    <Page title={id}>
      {group.error ? <Failure error={group.error} retry={() => void group.refetch()} /> : <Loading rows={6} />}
    </Page>
  );
}

/** A group that was shown under a name which is not there any more: it may have another one. */
function Renamed({ id }: { readonly id: string }) {
  const { data, error } = useQuery(groupQuery(id));
  if (data) return <Navigate to="/groups/$id" params={{ id: data.name }} replace />;
  return error ? <NotFound /> : <Loading rows={6} />;
}

function Shown({ group }: { readonly group: Group }) {
  const { t } = useTranslation();
  const me = useMe();
  const [editing, setEditing] = useState(false);
  const remove = useDeleteGroup(group);
  const changeable = !boot.readonly && (me.isAdmin || me.username === group.owner);
  const members = useQuery(groupServersQuery(group.id));
  return (
    <Page
      title={group.name}
      heading={
        <span className="flex items-center gap-2">
          <Link to="/groups" aria-label={t('nav.groups')} className="touch text-soft hover:text-ink -ml-1 rounded-md">
            <ChevronLeft size={20} aria-hidden />
          </Link>
          {group.name}
        </span>
      }
      lead={group.description}
      actions={
        changeable && (
          <>
            <Button icon={Pencil} onClick={() => setEditing(true)}>
              {t('common.edit')}
            </Button>
            <Button icon={Trash2} onClick={() => void remove()}>
              {t('common.delete')}
            </Button>
          </>
        )
      }
    >
      {/* With less than everything there is nothing to see of a group. */}
      {members.isPending ? (
        <Loading rows={7} />
      ) : (
        <div className="grid items-start gap-5 lg:grid-cols-2">
          <Panel
            flush
            title={t('groups.content')}
            lead={changeable ? t('groups.contentLead') : t('groups.foreign', { owner: group.owner })}
          >
            {members.error ? (
              <Failure error={members.error} retry={() => void members.refetch()} />
            ) : (
              <GroupContent group={group} members={members.data} changeable={changeable} />
            )}
          </Panel>
          <ConnectPanel scope={{ group: group.id }} />
        </div>
      )}
      {editing && <GroupDialog group={group} onClose={() => setEditing(false)} />}
    </Page>
  );
}

function useDeleteGroup({ id, name }: Group) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const remove = useAction({
    run: () => ask(`/groups${pathOf(id)}`, { method: 'DELETE' }),
    // The address of a page names it by its id or its name.
    removes: () => [groupQuery(id).queryKey, groupQuery(name).queryKey, ['connect', id]],
    done: () => {
      toast.good(t('groups.deleted', { name }));
      void navigate({ to: '/groups' });
    },
  });
  return async () => {
    const title = t('groups.deleteTitle', { name });
    if (await confirm({ title, text: t('groups.deleteText'), action: t('common.delete') })) remove.mutate();
  };
}
