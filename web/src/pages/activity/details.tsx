import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Archive, ChevronDown, ChevronUp, FlaskConical } from 'lucide-react';
import { useEffect, useEffectEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { get, pathOf, queryOf } from '../../api/client.ts';
import { serverQuery, useMe } from '../../api/queries.ts';
import type { Activity } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { bytes, dateTime, duration, score as scoreText } from '../../lib/format.ts';
import { Button, buttonClass, IconButton } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { Drawer } from '../../ui/drawer.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Loading } from '../../ui/page.tsx';
import { KeptPayloads, useKeepPayloads } from '../servers/kept-payloads.tsx';
import { Moment } from './moment.tsx';
import { Parts, Steps } from './trace.tsx';
import { Outcome, unknownServer, useServerName, useWho } from './outcome.tsx';

const meta = { live: false };

interface DetailsProps {
  readonly id: string;
  /** Those of the list, in its order. */
  readonly ids: readonly string[];
  readonly onOpen: (id: string) => void;
  readonly onClose: () => void;
}

/** One record, beside the list: J goes to the next of it, K to the one before. */
export function Details({ id, ids, onOpen, onClose }: DetailsProps) {
  const { t } = useTranslation();
  const record = useQuery({
    queryKey: ['activity', id],
    queryFn: ({ signal }) => get<Activity>(`/activities${pathOf(id)}`, signal),
    meta,
    placeholderData: keepPreviousData,
  });
  const { data } = record;
  const at = ids.indexOf(id);
  const next = at === -1 ? undefined : ids[at + 1];
  const before = at === -1 ? undefined : ids[at - 1];
  useKeys({ j: next, k: before }, onOpen);
  const title =
    data?.kind === 'search'
      ? t('activity.search', { query: data.query ?? '…' })
      : data
        ? data.tool || t('activity.noName')
        : t('common.loading');
  return (
    <Drawer
      title={title}
      onClose={onClose}
      actions={
        <span className="-mr-3 flex">
          <IconButton
            icon={ChevronUp}
            label={t('activity.before')}
            disabled={before === undefined}
            onClick={() => before !== undefined && onOpen(before)}
          />
          <IconButton
            icon={ChevronDown}
            label={t('activity.next')}
            disabled={next === undefined}
            onClick={() => next !== undefined && onOpen(next)}
          />
        </span>
      }
    >
      {record.error ? (
        <Failure error={record.error} />
      ) : data ? (
        <Shown key={data.id} record={data} />
      ) : (
        <Loading rows={6} />
      )}
    </Drawer>
  );
}

/** Letters that open a record while nothing is typed. */
function useKeys(byKey: Readonly<Record<string, string | undefined>>, onOpen: (id: string) => void): void {
  const act = useEffectEvent((event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target instanceof HTMLElement && event.target.matches('input, textarea, select')) return;
    const id = byKey[event.key.toLowerCase()];
    if (id !== undefined) onOpen(id);
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => act(event);
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}

function Shown({ record }: { readonly record: Activity }) {
  const { t } = useTranslation();
  const who = useWho();
  const serverName = useServerName();
  const { kind, server, tool, status, errorMessage, input, output } = record;
  return (
    <>
      <Facts
        facts={[
          [t('activity.status'), <Outcome key="outcome" status={status} />],
          [t('activity.server'), kind === 'search' ? undefined : serverName(server)],
          [t('activity.who'), who(record)],
          [t('activity.client'), record.client],
          [t('activity.time'), dateTime(record.timestamp)],
          [t('activity.duration'), duration(record.durationMs)],
          [t('activity.size'), bytes(record.resultBytes)],
          [t('activity.scope'), record.scope],
          [t('activity.group'), record.group],
          [t('activity.address'), record.sourceIp],
          [t('activity.trace'), record.traceId],
        ]}
      />
      {errorMessage !== undefined && (
        <p className="bg-bad-wash text-bad rounded-md px-3 py-2 text-sm break-words">{errorMessage}</p>
      )}
      <Parts record={record} />
      {kind === 'call' && status !== 'success' && server !== unknownServer && <Moment record={record} />}
      {record.searchId !== undefined && <Steps record={record} searchId={record.searchId} />}
      {record.searchId !== undefined && <SearchStory record={record} searchId={record.searchId} />}
      {input === undefined && output === undefined ? (
        <NotKept record={record} />
      ) : (
        <>
          <Payload label={t('activity.input')} text={input} />
          <Payload label={t('activity.output')} text={output} />
        </>
      )}
      {kind === 'call' && server !== unknownServer && (
        <div>
          <Link to="/tools" search={{ server, tool, from: record.id }} className={buttonClass()}>
            <FlaskConical size={15} aria-hidden />
            {t('activity.again')}
          </Link>
        </div>
      )}
    </>
  );
}

/** That arguments and result were not kept; an admin may have those of the next hour kept. */
function NotKept({ record: { kind, server } }: { readonly record: Activity }) {
  const { t } = useTranslation();
  const { isAdmin } = useMe();
  const mayKeep = kind === 'call' && server !== unknownServer && isAdmin && !boot.readonly;
  // It may be gone since.
  const { data } = useQuery({ ...serverQuery(server), enabled: mayKeep, retry: false });
  const keep = useKeepPayloads(server);
  return (
    <div className="flex flex-col items-start gap-2">
      <p className="text-soft text-sm">{t('activity.notKept')}</p>
      {mayKeep && data?.payloadsKeptUntil !== undefined && <KeptPayloads server={data} />}
      {mayKeep && data && data.payloadsKeptUntil === undefined && (
        <>
          <Button icon={Archive} busy={keep.isPending} onClick={() => keep.mutate(true)}>
            {t('activity.keepHour', { server })}
          </Button>
          <p className="text-soft text-xs">{t('activity.keepHourText')}</p>
        </>
      )}
    </div>
  );
}

function Payload({ label, text }: { readonly label: string; readonly text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <section>
      <h3 className="mb-1 text-sm font-medium">{label}</h3>
      <Code wrap label={label} text={pretty(text)} />
    </section>
  );
}

/** JSON on several lines; a text that was cut is shown as it is. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

interface SearchStoryProps {
  readonly record: Activity;
  readonly searchId: string;
}

/** What a search found, and what was done with it: the same for the search and for each call that came of it. */
function SearchStory({ record, searchId }: SearchStoryProps) {
  const { t } = useTranslation();
  const { data } = useQuery({
    queryKey: ['activity', 'search', searchId],
    queryFn: ({ signal }) =>
      get<readonly Activity[]>(`/activities${queryOf({ searchId, kind: 'search', limit: 1 })}`, signal),
    meta,
  });
  const [search] = data ?? [];
  const { results = [], uses = [] } = search ?? {};
  return (
    <section className="flex flex-col gap-2">
      {record.kind !== 'search' && (
        <p className="text-sm">
          {t('activity.foundBy', { query: record.query ?? t('activity.queryNotKept'), rank: record.searchRank ?? '?' })}
        </p>
      )}
      <h3 className="text-sm font-medium">{t('activity.results')}</h3>
      {search && results.length === 0 && <p className="text-soft text-sm">{t('activity.foundNothing')}</p>}
      <ol className="divide-line border-line divide-y rounded-lg border">
        {results.map(({ server, tool, score }, index) => {
          const used = uses.filter((use) => use.server === server && use.tool === tool);
          const called = used.find(({ kind }) => kind === 'call');
          return (
            <li key={`${server} ${tool}`} className="flex items-center gap-3 px-3 py-1.5 text-sm">
              <span className="text-soft w-5 text-right text-xs tabular-nums">{index + 1}</span>
              <span className="min-w-0 flex-1">
                <span className="font-medium break-all">{tool}</span>{' '}
                <span className="text-soft text-xs">{server}</span>
              </span>
              {called && <Outcome status={called.status} />}
              {!called && used.length > 0 && <span className="text-soft text-xs">{t('activity.described')}</span>}
              <span className="text-soft text-xs tabular-nums">{scoreText(score)}</span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
