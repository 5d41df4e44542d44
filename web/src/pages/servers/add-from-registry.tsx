import { useInfiniteQuery } from '@tanstack/react-query';
import { RotateCw, Unplug } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError, get, queryOf } from '../../api/client.ts';
import { useDelayed } from '../../lib/delayed.ts';
import { Button } from '../../ui/button.tsx';
import { DialogBody } from '../../ui/dialog.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Empty, Loading } from '../../ui/page.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import type { NewServer } from './config.ts';
import { newServerOf, type RegistryAnswer, type RegistryServer } from './registry.ts';

interface AddFromRegistryProps {
  readonly programs: boolean;
  readonly onTake: (server: NewServer) => void;
}

/** The official registry, asked by the hub: the page itself asks only the hub. */
export function AddFromRegistry({ programs, onTake }: AddFromRegistryProps) {
  const { t } = useTranslation();
  const [q, setQ] = useState('');
  const search = useDeferredValue(useDelayed(q, 300));
  const found = useInfiniteQuery({
    queryKey: ['registry', search],
    queryFn: ({ pageParam, signal }) =>
      get<RegistryAnswer>(`/registry/servers${queryOf({ search, cursor: pageParam })}`, signal),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    retry: false,
    meta: { live: false },
  });
  const servers = found.data?.pages.flatMap((page) => page.servers) ?? [];
  const away = found.error instanceof ApiError && found.error.status === 503;
  return (
    <DialogBody>
      <SearchBox autoFocus label={t('servers.registry.search')} value={q} onChange={setQ} />
      {found.error ? (
        away ? (
          <Empty icon={Unplug} title={t('servers.registry.away')} text={t('servers.registry.awayText')}>
            <Button icon={RotateCw} busy={found.isFetching} onClick={() => void found.refetch()}>
              {t('common.retry')}
            </Button>
          </Empty>
        ) : (
          <Failure error={found.error} retry={() => void found.refetch()} />
        )
      ) : found.isPending ? (
        <Loading />
      ) : servers.length === 0 ? (
        <Empty title={t('servers.registry.none')} />
      ) : (
        <ul className="divide-line divide-y" aria-label={t('servers.ways.registry')}>
          {servers.map((server, index) => (
            <Entry
              key={`${server.name} ${index}`}
              server={server}
              taken={newServerOf(server, programs)}
              onTake={onTake}
            />
          ))}
        </ul>
      )}
      {found.hasNextPage && (
        <Button busy={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          {t('servers.registry.more')}
        </Button>
      )}
    </DialogBody>
  );
}

interface EntryProps {
  readonly server: RegistryServer;
  readonly taken: NewServer | undefined;
  readonly onTake: (server: NewServer) => void;
}

function Entry({ server: { name, title, description, repository }, taken, onTake }: EntryProps) {
  const { t } = useTranslation();
  const source = repository?.url;
  return (
    <li className="flex items-start gap-3 py-2.5">
      <div className="min-w-0 flex-1">
        <p className="font-medium break-words">{title ?? name}</p>
        {title !== undefined && <p className="text-soft text-xs break-all">{name}</p>}
        <p className="text-soft text-sm break-words">{description}</p>
        {!taken && <p className="text-warn text-xs">{t('servers.registry.cannot')}</p>}
        {source !== undefined && source.startsWith('https:') && (
          <a href={source} target="_blank" rel="noreferrer" className="text-accent-ink text-xs hover:underline">
            {t('servers.registry.repository')}
          </a>
        )}
      </div>
      {taken && (
        <Button aria-label={`${t('servers.registry.add')} ${name}`} onClick={() => onTake(taken)}>
          {t('servers.registry.add')}
        </Button>
      )}
    </li>
  );
}
