import { useInfiniteQuery } from '@tanstack/react-query';
import { Library, RotateCw, Unplug } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError, get, queryOf } from '../../api/client.ts';
import { boot } from '../../boot.ts';
import { useDelayed } from '../../lib/delayed.ts';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Empty, Loading, Panel } from '../../ui/page.tsx';
import { type RegistryAnswer, type RegistryServer, takenOf } from './registry.ts';
import { Requirements } from './requirements.tsx';
import { isForRegistry } from './search.ts';
import type { NewServer } from '../servers/asks.ts';

interface RegistryResultsProps {
  readonly q: string;
  /** Who is no admin adds remote servers only. */
  readonly programs: boolean;
  readonly onTake: (server: NewServer) => void;
}

/**
 * The official registry, asked by the hub: the page itself asks only the hub. It is asked for words that are searched
 * for, and for all it has on demand: a page that is opened makes no request to it.
 */
export function RegistryResults({ q, programs, onTake }: RegistryResultsProps) {
  const { t } = useTranslation();
  const [browse, setBrowse] = useState(false);
  const words = isForRegistry(q) ? q.trim() : '';
  return (
    <Panel flush title={t('catalog.registry')} lead={t('catalog.registryLead')}>
      {words === '' && !browse ? (
        <Empty icon={Library} title={t('catalog.searchRegistry')}>
          <Button onClick={() => setBrowse(true)}>{t('catalog.browseRegistry')}</Button>
        </Empty>
      ) : (
        <Results q={words} programs={programs} onTake={onTake} />
      )}
    </Panel>
  );
}

function Results({ q, programs, onTake }: RegistryResultsProps) {
  const { t } = useTranslation();
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
  if (found.error) {
    return away ? (
      <Empty icon={Unplug} title={t('catalog.away')} text={t('catalog.awayText')}>
        <Button icon={RotateCw} busy={found.isFetching} onClick={() => void found.refetch()}>
          {t('common.retry')}
        </Button>
      </Empty>
    ) : (
      <Failure error={found.error} retry={() => void found.refetch()} />
    );
  }
  if (found.isPending) return <Loading />;
  if (servers.length === 0) return <Empty title={t('catalog.noneInRegistry')} />;
  return (
    <>
      <ul className="divide-line divide-y" aria-label={t('catalog.registry')}>
        {servers.map((server, index) => (
          <Entry key={`${server.name} ${index}`} server={server} programs={programs} onTake={onTake} />
        ))}
      </ul>
      {found.hasNextPage && (
        <div className="border-line border-t p-3">
          <Button busy={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
            {t('catalog.more')}
          </Button>
        </div>
      )}
    </>
  );
}

interface EntryProps extends Pick<RegistryResultsProps, 'programs' | 'onTake'> {
  readonly server: RegistryServer;
}

function Entry({ server, programs, onTake }: EntryProps) {
  const { t } = useTranslation();
  const { name, title, description, repository } = server;
  const taken = takenOf(server);
  const source = repository?.url;
  return (
    <li className="flex items-start gap-3 px-4 py-3">
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <p className="font-medium break-words">{title ?? name}</p>
        {title !== undefined && <p className="text-soft text-xs break-all">{name}</p>}
        <p className="text-soft text-sm break-words">{description}</p>
        {taken ? <Requirements needs={taken.needs} /> : <p className="text-warn text-xs">{t('catalog.cannot')}</p>}
        {source !== undefined && source.startsWith('https:') && (
          <a
            href={source}
            target="_blank"
            rel="noreferrer"
            className="text-accent-ink touch self-start text-xs hover:underline"
          >
            {t('catalog.source')}
          </a>
        )}
      </div>
      {taken && !boot.readonly && (
        <TakeButton name={name} allowed={programs || !taken.isProgram} onClick={() => onTake(taken.server)} />
      )}
    </li>
  );
}

interface TakeButtonProps {
  readonly name: string;
  readonly allowed: boolean;
  readonly onClick: () => void;
}

/** Who may not run programs on the hub's machine is told who does. */
export function TakeButton({ name, allowed, onClick }: TakeButtonProps) {
  const { t } = useTranslation();
  if (!allowed) return <p className="text-soft max-w-24 text-right text-xs">{t('catalog.byAdmins')}</p>;
  return (
    <Button className="shrink-0" aria-label={t('catalog.use', { name })} onClick={onClick}>
      {t('common.add')}
    </Button>
  );
}
