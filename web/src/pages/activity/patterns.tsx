import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { topToolsQuery } from '../../api/records.ts';
import type { ActivityGroup } from '../../api/types.ts';
import { count, duration, many } from '../../lib/format.ts';
import { Bar } from '../../ui/bar.tsx';
import { Empty, Loading, Panel } from '../../ui/page.tsx';
import { Hours } from './hours.tsx';
import { allFailed } from './filters.tsx';
import type { Chosen } from './period.tsx';

/** Where calls fail, where they are slow, and when there are many. */
export function Patterns({ period, filter }: Chosen) {
  const { t } = useTranslation();
  const failing = useQuery(topToolsQuery(period, filter, 'failed'));
  const slow = useQuery(topToolsQuery(period, filter, 'p95'));
  return (
    <>
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <Panel title={t('activity.mostFailures')} lead={t('activity.mostFailuresLead')} flush>
          <Tools
            label={t('activity.mostFailures')}
            groups={failing.data?.groups?.filter(({ failed }) => failed > 0)}
            value={({ failed }) => failed}
            said={({ failed, calls }) => t('activity.failedOf', { failed: count(failed), all: count(calls) })}
            status={allFailed}
            empty={t('activity.noneFailed')}
          />
        </Panel>
        <Panel title={t('activity.slowest')} lead={t('activity.slowestLead')} flush>
          <Tools
            label={t('activity.slowest')}
            groups={slow.data?.groups}
            value={({ p95 }) => p95}
            said={({ p95, calls }) => `${duration(p95)} · ${t('activity.sum', many(calls))}`}
            empty={t('overview.noCalls')}
          />
        </Panel>
      </div>
      <Hours period={period} filter={filter} />
    </>
  );
}

interface ToolsProps {
  readonly label: string;
  readonly groups: readonly ActivityGroup[] | undefined;
  readonly value: (group: ActivityGroup) => number;
  readonly said: (group: ActivityGroup) => string;
  /** What the calls that a row leads to have in common beside their tool. */
  readonly status?: string;
  readonly empty: ReactNode;
}

function Tools({ label, groups, value, said, status, empty }: ToolsProps) {
  if (!groups) return <Loading rows={5} />;
  if (groups.length === 0) return <Empty title={label} text={empty} />;
  const most = Math.max(...groups.map(value));
  return (
    <ol aria-label={label} className="divide-line divide-y">
      {groups.map((group) => {
        const { server, tool } = group;
        return (
          <li key={`${server} ${tool}`}>
            <Link
              to="/activity"
              search={(old) => ({ ...old, kind: undefined, page: undefined, server, tool, ...(status && { status }) })}
              className="hover:bg-hover flex flex-col gap-1 px-4 py-2 text-sm"
            >
              <span className="flex items-baseline gap-3">
                <span className="min-w-0 flex-1 wrap-anywhere">
                  <span className="font-medium">{tool}</span> <span className="text-soft text-xs">{server}</span>
                </span>
                <span className="text-soft text-xs whitespace-nowrap tabular-nums">{said(group)}</span>
              </span>
              <Bar
                kind="meter"
                label={label}
                value={value(group)}
                most={most}
                bad={status !== undefined}
                className="h-1"
              />
            </Link>
          </li>
        );
      })}
    </ol>
  );
}
