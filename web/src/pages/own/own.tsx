import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { type LucideIcon, MessageSquareText, Paperclip, Pencil, Plus, Trash2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import type { BuiltinPrompt, BuiltinResource } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { guess, useAction } from '../../lib/action.ts';
import { useKept } from '../../lib/kept.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { confirm } from '../../ui/confirm.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Empty, Loading, Page, Panel } from '../../ui/page.tsx';
import { Switch } from '../../ui/switch.tsx';
import { toast } from '../../ui/toast.tsx';
import { PromptForm } from './prompt-form.tsx';
import { promptsQuery, resourcesQuery } from './queries.ts';
import { ResourceForm } from './resource-form.tsx';

const route = getRouteApi('/shell/admin/settings/prompts');

/** Prompts and resources of the hub itself, which all clients get on every endpoint. */
export function Own() {
  const { t } = useTranslation();
  const prompts = useQuery(promptsQuery);
  const resources = useQuery(resourcesQuery);
  const { prompt, resource } = route.useSearch();
  const navigate = useNavigate({ from: '/settings/prompts' });
  const show = (search: { prompt?: string; resource?: string }) => void navigate({ search, replace: true });
  const openPrompt = prompts.data?.find(({ id }) => id === prompt);
  const openResource = resources.data?.find(({ id }) => id === resource);
  const prompted = useKept(prompt, openPrompt);
  const opened = useKept(resource, openResource);
  const mayAdd = !boot.readonly;
  return (
    <Page title={t('nav.prompts')} lead={t('own.lead')}>
      {boot.readonly && <p className="text-warn text-sm">{t('app.readonlyHint')}</p>}
      <List<BuiltinPrompt>
        kind="prompts"
        icon={MessageSquareText}
        found={prompts}
        nameOf={({ name }) => name}
        more={({ title, description, arguments: given = [] }) => [
          title ?? '',
          description ?? '',
          given.map(({ name }) => name).join(', '),
        ]}
        onOpen={(id) => show({ prompt: id })}
      />
      <List<BuiltinResource>
        kind="resources"
        icon={Paperclip}
        found={resources}
        nameOf={({ uri }) => uri}
        more={({ name, description, mimeType }) => [name ?? '', description ?? '', mimeType ?? '']}
        onOpen={(id) => show({ resource: id })}
      />
      {(prompted || (prompt === 'new' && mayAdd)) && (
        <PromptForm key={prompt} prompt={prompted} now={openPrompt} onClose={() => show({})} />
      )}
      {(opened || (resource === 'new' && mayAdd)) && (
        <ResourceForm key={resource} resource={opened} now={openResource} onClose={() => show({})} />
      )}
    </Page>
  );
}

interface Listed {
  readonly id: string;
  readonly enabled: boolean;
}

interface ListProps<T extends Listed> {
  readonly kind: 'prompts' | 'resources';
  readonly icon: LucideIcon;
  readonly found: UseQueryResult<readonly T[]>;
  readonly nameOf: (item: T) => string;
  readonly more: (item: T) => readonly string[];
  /** `new` for one that is to be made. */
  readonly onOpen: (id: string) => void;
}

function List<T extends Listed>({ kind, icon, found, nameOf, more, onOpen }: ListProps<T>) {
  const { t } = useTranslation();
  const { data, error, refetch } = found;
  const add = boot.readonly ? undefined : (
    <Button icon={Plus} onClick={() => onOpen('new')}>
      {t(`own.${kind}.add`)}
    </Button>
  );
  return (
    <Panel flush title={t(`servers.tabs.${kind}`)} lead={t(`own.${kind}.lead`)} actions={add}>
      {error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Loading rows={2} />
      ) : data.length === 0 ? (
        <Empty icon={icon} title={t(`own.${kind}.empty`)} text={t(`own.${kind}.emptyText`)} />
      ) : (
        <ul className="divide-line divide-y" aria-label={t(`servers.tabs.${kind}`)}>
          {data.map((item) => (
            <Row
              key={item.id}
              kind={kind}
              item={item}
              name={nameOf(item)}
              more={more(item)}
              onOpen={() => onOpen(item.id)}
            />
          ))}
        </ul>
      )}
    </Panel>
  );
}

interface RowProps {
  readonly kind: 'prompts' | 'resources';
  readonly item: Listed;
  readonly name: string;
  readonly more: readonly string[];
  readonly onOpen: () => void;
}

function Row({ kind, item: { id, enabled }, name, more, onOpen }: RowProps) {
  const { t } = useTranslation();
  const key = (kind === 'prompts' ? promptsQuery : resourcesQuery).queryKey;
  const path = `/${kind}${pathOf(id)}`;
  const turn = useAction<boolean>({
    run: (next) => ask(path, { method: 'PUT', body: { enabled: next } }),
    at: (next) => [
      guess<readonly Listed[]>(key, (all) => all.map((one) => (one.id === id ? { ...one, enabled: next } : one))),
    ],
  });
  const remove = useAction({
    run: () => ask(path, { method: 'DELETE' }),
    at: () => [guess<readonly Listed[]>(key, (all) => all.filter((one) => one.id !== id))],
    done: () => toast.good(t('own.deleted', { name })),
  });
  const askRemove = async () => {
    const title = t('own.deleteTitle', { name });
    if (await confirm({ title, text: t('own.deleteText'), action: t('common.delete') })) remove.mutate();
  };
  return (
    <li className="flex items-center gap-3 px-4 py-2.5">
      <Switch
        checked={enabled}
        label={t('servers.enable', { name })}
        disabled={boot.readonly}
        onChange={(next) => turn.mutate(next)}
      />
      <div className="min-w-0 flex-1">
        <code className="text-[0.8125rem] break-all">{name}</code>
        <p className="text-soft text-xs wrap-anywhere">{more.filter(Boolean).join(' · ')}</p>
      </div>
      <IconButton icon={Pencil} label={`${t('common.edit')} ${name}`} onClick={onOpen} />
      {!boot.readonly && (
        <IconButton icon={Trash2} label={`${t('common.delete')} ${name}`} onClick={() => void askRemove()} />
      )}
    </li>
  );
}
