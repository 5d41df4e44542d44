import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Radar, Search, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask } from '../../api/client.ts';
import { groupsQuery } from '../../api/queries.ts';
import { cx } from '../../lib/cx.ts';
import { score } from '../../lib/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { Bar } from '../../ui/bar.tsx';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { inputClass } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { Empty, Loading, Panel } from '../../ui/page.tsx';

interface FoundTool {
  readonly name: string;
  readonly serverName: string;
  readonly toolName: string;
  readonly description: string;
  readonly score?: number;
  readonly channels?: Readonly<Record<string, number>>;
}

interface DroppedTool extends FoundTool {
  readonly reason: 'threshold' | 'unavailable' | 'not_in_group' | 'switched_off';
}

interface Report {
  readonly searched: number;
  readonly threshold: number;
  readonly confident: boolean;
  readonly degraded?: string;
  readonly results: readonly FoundTool[];
  readonly dropped: readonly DroppedTool[];
}

const route = getRouteApi('/shell/admin/smart');

/** The search as clients have it, with its reasons. */
export function TrySearch() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/smart' });
  const { q = '', group = '' } = route.useSearch();
  const [query, setQuery] = useState(q);
  const { data: groups = [] } = useQuery(groupsQuery);
  const report = useQuery({
    queryKey: ['smart-search', q, group],
    queryFn: async ({ signal }) => {
      const body = { query: q, explain: true, ...(group !== '' && { group }) };
      return (await ask<Report>('/smart-routing/search', { method: 'POST', body, signal })).data;
    },
    enabled: q !== '',
  });
  return (
    <Panel title={t('smart.try')} lead={t('smart.tryLead')}>
      <form
        className="flex flex-wrap gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          void navigate({ search: (old) => ({ ...old, q: query.trim() }) });
        }}
      >
        <input
          type="search"
          aria-label={t('smart.query')}
          placeholder={t('smart.example')}
          className={`${inputClass} min-w-40 flex-1 basis-60`}
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
        <Select
          aria-label={t('smart.group')}
          value={group}
          onChange={(event) => void navigate({ search: (old) => ({ ...old, group: event.target.value }) })}
          options={[
            { value: '', label: t('smart.everywhere') },
            ...groups.map(({ name }) => ({ value: name, label: name })),
          ]}
        />
        {/* Never busy: another question takes the place of the one that is still being answered. */}
        <Button look="primary" type="submit" icon={Search}>
          {t('smart.search')}
        </Button>
      </form>
      <div className={cx('mt-4', q !== '' && 'max-lg:min-h-125')} role="status">
        {q === '' ? (
          <Empty icon={Radar} title={t('smart.query')} text={t('smart.emptyText')} />
        ) : report.error ? (
          <Failure error={report.error} retry={() => void report.refetch()} />
        ) : report.data ? (
          <Answer report={report.data} />
        ) : (
          <Loading rows={10} />
        )}
      </div>
    </Panel>
  );
}

function Answer({ report }: { readonly report: Report }) {
  const { t } = useTranslation();
  const { searched, threshold, confident, degraded, results, dropped } = report;
  if (searched === 0 && dropped.length === 0) {
    return <Empty icon={Radar} title={t('smart.nothing')} text={t('smart.nothingText')} />;
  }
  return (
    <div className="flex flex-col gap-4">
      <p className="text-soft text-xs">
        {t('smart.summary', { found: results.length, searched, threshold: score(threshold) })}
      </p>
      {degraded !== undefined && (
        <p className="bg-warn-wash text-warn flex gap-2 rounded-md px-3 py-2 text-sm">
          <TriangleAlert size={16} aria-hidden className="mt-0.5 shrink-0" />
          {degraded}
        </p>
      )}
      {results.length > 0 && !confident && <p className="text-warn text-xs">{t('smart.unsure')}</p>}
      {results.length === 0 ? <Empty title={t('smart.none')} text={t('smart.noneText')} /> : <Found tools={results} />}
      {dropped.length > 0 && (
        <details>
          <summary className="rounded-sm text-sm font-medium">
            {t('smart.dropped')} <span className="text-soft tabular-nums">{dropped.length}</span>
          </summary>
          <p className="text-soft mt-1 mb-2 text-xs">{t('smart.droppedLead')}</p>
          <Found tools={dropped} />
        </details>
      )}
      {(results.length > 0 || dropped.length > 0) && <ChannelWords />}
    </div>
  );
}

function Found({ tools }: { readonly tools: readonly (FoundTool | DroppedTool)[] }) {
  const { t } = useTranslation();
  return (
    <ol className="divide-line divide-y">
      {tools.map((tool) => (
        <li key={`${tool.serverName} ${tool.toolName}`} className="flex flex-col gap-1 py-2.5">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <Link
              to="/tools"
              search={{ server: tool.serverName, tool: tool.toolName }}
              className="touch min-w-0 flex-1 basis-52 rounded-sm hover:underline"
            >
              <code className="text-[0.8125rem] break-all">{tool.toolName}</code>
              <span className="text-soft ml-2 text-xs">{tool.serverName}</span>
            </Link>
            {'reason' in tool && <Badge tone="warn">{t(`smart.reasons.${tool.reason}`)}</Badge>}
            {tool.score !== undefined && <Score value={tool.score} />}
          </div>
          <p className="text-soft line-clamp-2 text-xs break-words">{tool.description}</p>
          {tool.channels && <Channels channels={tool.channels} />}
        </li>
      ))}
    </ol>
  );
}

const channels = ['words', 'grams', 'meaning', 'server'] as const;

/** How far each way of looking speaks for a tool. */
function Channels({ channels: values }: { readonly channels: Readonly<Record<string, number>> }) {
  const { t } = useTranslation();
  return (
    <dl className="text-soft mt-0.5 grid grid-cols-2 gap-x-4 gap-y-1 text-xs sm:grid-cols-4">
      {channels.map((name) => (
        <div key={name} className="flex items-center gap-2">
          <dt className="w-18 shrink-0">{t(`smart.channels.${name}`)}</dt>
          <dd className="flex min-w-0 flex-1 items-center gap-1.5 tabular-nums">
            <Bar
              quiet
              kind="meter"
              label={t(`smart.channels.${name}`)}
              value={values[name] ?? 0}
              most={1}
              className="h-1 flex-1"
            />
            {score(values[name] ?? 0)}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function ChannelWords() {
  const { t } = useTranslation();
  return (
    <details className="text-soft text-xs">
      <summary className="rounded-sm">{t('smart.channelsWhat')}</summary>
      <dl className="mt-1.5 grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        {channels.map((name) => (
          <div key={name} className="contents">
            <dt className="font-medium">{t(`smart.channels.${name}`)}</dt>
            <dd>{t(`smart.channelHints.${name}`)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function Score({ value }: { readonly value: number }) {
  const { t } = useTranslation();
  return (
    <span className="flex w-24 items-center gap-2 text-xs tabular-nums">
      <Bar kind="meter" label={t('smart.score')} value={value} most={1} className="h-1.5 flex-1" />
      {score(value)}
    </span>
  );
}
