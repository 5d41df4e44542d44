import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { type ActivityFilter, failuresQuery, type Period } from '../../api/records.ts';
import { dateTime, many } from '../../lib/format.ts';
import { Panel } from '../../ui/page.tsx';
import { LogLink } from './moment.tsx';
import { Outcome, unknownServer, useServerName } from './outcome.tsx';

interface CausesProps {
  readonly period: Period;
  readonly filter: ActivityFilter;
  /** Opens the record of that id. */
  readonly onOpen: (id: string) => void;
}

/** What calls failed for, the most frequent first; not there while none failed. */
export function Causes({ period, filter, onOpen }: CausesProps) {
  const { t } = useTranslation();
  const serverName = useServerName();
  const { data = [] } = useQuery(failuresQuery(period, filter));
  if (data.length === 0) return null;
  return (
    <Panel title={t('activity.causes')} lead={t('activity.causesLead')} flush>
      <ul className="divide-line max-h-80 divide-y overflow-y-auto" tabIndex={0} aria-label={t('activity.causes')}>
        {data.map(({ server, status, cause, tools, calls, first, last, latest }) => (
          <li key={latest} className="flex items-start gap-3 px-4 py-2.5">
            <div className="min-w-0 flex-1">
              <button
                type="button"
                className="line-clamp-2 rounded-sm text-left text-sm font-medium wrap-anywhere hover:underline pointer-coarse:min-h-10"
                onClick={() => onOpen(latest)}
              >
                {cause || t('activity.noCause')}
              </button>
              <p className="text-soft text-xs wrap-anywhere">
                {serverName(server)} · {tools.map((tool) => tool || t('activity.noName')).join(', ')} ·{' '}
                {dateTime(first) === dateTime(last)
                  ? dateTime(last)
                  : t('activity.fromTo', { first: dateTime(first), last: dateTime(last) })}
              </p>
              {server !== unknownServer && <LogLink stretch={{ server, from: first, to: last }} />}
            </div>
            <div className="flex flex-col items-end gap-1">
              <Outcome status={status} />
              <span className="text-soft text-xs tabular-nums">{t('activity.sum', many(calls))}</span>
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
