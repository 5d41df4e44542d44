import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { Activity, ActivityStatus, Pagination } from '../../api/types.ts';
import { count, dateTime, duration, relative } from '../../lib/format.ts';
import { useNow } from '../../lib/now.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { IconButton } from '../../ui/button.tsx';

const tones: Record<ActivityStatus, Tone> = {
  success: 'good',
  error: 'bad',
  cancelled: 'plain',
  timeout: 'warn',
  refused: 'warn',
};

export function Outcome({ status }: { readonly status: ActivityStatus }) {
  const { t } = useTranslation();
  return <Badge tone={tones[status]}>{t(`activity.states.${status}`)}</Badge>;
}

/** Who made a call, as one knows them. */
export function whoOf({ username, keyName, principal }: Activity, anonymous: string): string {
  return keyName ?? username ?? (principal === 'anonymous' ? anonymous : principal);
}

interface CallTableProps {
  readonly calls: readonly Activity[];
  readonly pagination: Pagination;
  readonly onShow: (id: string) => void;
  readonly onPage: (page: number) => void;
}

export function CallTable({ calls, pagination, onShow, onPage }: CallTableProps) {
  const { t } = useTranslation();
  const now = useNow(10_000);
  const head = 'px-4 py-2 font-medium';
  return (
    <>
      <table className="w-full table-fixed text-left text-sm">
        <thead className="text-soft border-line border-b text-xs">
          <tr>
            <th className={`${head} w-1/2 md:w-2/5`}>{t('activity.tool')}</th>
            <th className={head}>{t('activity.status')}</th>
            <th className={`${head} hidden md:table-cell`}>{t('activity.who')}</th>
            <th className={`${head} hidden text-right md:table-cell`}>{t('activity.duration')}</th>
            <th className={`${head} text-right`}>{t('activity.time')}</th>
          </tr>
        </thead>
        <tbody>
          {calls.map((call) => (
            <tr key={call.id} className="border-line hover:bg-hover/50 border-b last:border-b-0">
              <td className="px-4 py-2">
                <button
                  type="button"
                  onClick={() => onShow(call.id)}
                  className="block max-w-full rounded-sm text-left hover:underline"
                >
                  <code className="block truncate text-[0.8125rem]">
                    {call.kind === 'search' ? t('activity.search', { query: call.query ?? '' }) : call.tool}
                  </code>
                </button>
                <span className="text-soft block truncate text-xs">{call.errorMessage ?? call.server}</span>
              </td>
              <td className="px-4 py-2">
                <Outcome status={call.status} />
              </td>
              <td className="text-soft hidden truncate px-4 py-2 md:table-cell">
                {whoOf(call, t('activity.anonymous'))}
              </td>
              <td className="hidden px-4 py-2 text-right tabular-nums md:table-cell">{duration(call.durationMs)}</td>
              <td className="text-soft px-4 py-2 text-right text-xs" title={dateTime(call.timestamp)}>
                {relative(call.timestamp, now)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="border-line text-soft flex items-center gap-2 border-t px-4 py-2 text-xs">
        <span className="flex-1">
          {t('activity.page', {
            page: count(pagination.page),
            pages: count(Math.max(1, pagination.totalPages)),
            total: count(pagination.total),
          })}
        </span>
        <IconButton
          icon={ChevronLeft}
          label={t('common.previous')}
          disabled={!pagination.hasPrevPage}
          onClick={() => onPage(pagination.page - 1)}
        />
        <IconButton
          icon={ChevronRight}
          label={t('common.next')}
          disabled={!pagination.hasNextPage}
          onClick={() => onPage(pagination.page + 1)}
        />
      </div>
    </>
  );
}
