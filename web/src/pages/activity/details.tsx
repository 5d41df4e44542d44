import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FlaskConical } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { get, pathOf, queryOf } from '../../api/client.ts';
import type { Activity } from '../../api/types.ts';
import { bytes, dateTime, duration, score as scoreText } from '../../lib/format.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { Drawer } from '../../ui/drawer.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Loading } from '../../ui/page.tsx';
import { Moment } from './moment.tsx';
import { Outcome, unknownServer, useServerName, useWho } from './outcome.tsx';

const meta = { live: false };

/** One record, beside the list. */
export function Details({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { t } = useTranslation();
  const record = useQuery({
    queryKey: ['activity', id],
    queryFn: ({ signal }) => get<Activity>(`/activities${pathOf(id)}`, signal),
    meta,
  });
  const { data } = record;
  const title =
    data?.kind === 'search'
      ? t('activity.search', { query: data.query ?? '…' })
      : data
        ? data.tool || t('activity.noName')
        : t('common.loading');
  return (
    <Drawer title={title} onClose={onClose}>
      {record.error ? <Failure error={record.error} /> : data ? <Shown record={data} /> : <Loading rows={6} />}
    </Drawer>
  );
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
      {kind === 'call' && status !== 'success' && server !== unknownServer && <Moment record={record} />}
      {record.searchId !== undefined && <SearchStory record={record} searchId={record.searchId} />}
      {input === undefined && output === undefined ? (
        <p className="text-soft text-sm">{t('activity.notKept')}</p>
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
