import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { serverFiguresQuery } from '../../api/records.ts';
import type { ActivityGroup } from '../../api/types.ts';
import { cx } from '../../lib/cx.ts';
import { duration, many, percent } from '../../lib/format.ts';
import { failedShare } from './order.ts';

/** What a server was asked in the last day. */
export type ServerFigures = Pick<ActivityGroup, 'calls' | 'failed' | 'p95' | 'overTime'>;

/** By server; undefined until it is known. */
export function useServerFigures(): ReadonlyMap<string, ServerFigures> | undefined {
  const { data } = useQuery(serverFiguresQuery);
  return data && new Map((data.groups ?? []).map((group) => [group.server ?? '', group]));
}

interface FiguresProps {
  readonly name: string;
  /** Undefined until it is known; null where there was no call. */
  readonly figures: ServerFigures | undefined | null;
  readonly dense: boolean;
}

/** Calls over the last day, how many failed and how long they took; leads to them. Has its place before it is known. */
export function Figures({ name, figures, dense }: FiguresProps) {
  const { t } = useTranslation();
  return (
    <div className={cx('hidden shrink-0 lg:block', dense ? 'w-88' : 'w-72')}>
      {figures ? (
        <Link
          to="/activity"
          search={{ server: name, since: '24h' }}
          className="hover:bg-hover flex items-center gap-3 rounded-md px-1.5 py-0.5"
        >
          <Sparkline figures={figures} className={dense ? 'h-5' : 'h-8'} />
          <span
            className={cx(
              'text-soft min-w-0 flex-1 text-right text-xs tabular-nums',
              dense && 'flex justify-end gap-2',
            )}
          >
            <span className="block">{t('servers.callCount', many(figures.calls))}</span>
            <Rates figures={figures} />
          </span>
        </Link>
      ) : (
        figures === null && <p className="text-soft px-1.5 text-right text-xs">{t('servers.noCalls')}</p>
      )}
    </div>
  );
}

/** The same in words alone, where there is no room for more. */
export function FiguresLine({ name, figures }: Omit<FiguresProps, 'dense'>) {
  const { t } = useTranslation();
  return (
    <p className="text-soft min-h-4 text-xs tabular-nums lg:hidden">
      {figures ? (
        <Link
          to="/activity"
          search={{ server: name, since: '24h' }}
          className="touch inline-flex flex-wrap gap-x-2 rounded-sm whitespace-nowrap hover:underline"
        >
          <span>{t('servers.callCount', many(figures.calls))}</span>
          <Rates figures={figures} />
        </Link>
      ) : (
        figures === null && t('servers.noCalls')
      )}
    </p>
  );
}

function Rates({ figures }: { readonly figures: ServerFigures }) {
  const { t } = useTranslation();
  return (
    <span className="block whitespace-nowrap">
      {figures.failed > 0 && (
        <>
          <span className="text-bad">{t('servers.failedShare', { share: percent(failedShare(figures)) })}</span>
          {' · '}
        </>
      )}
      <span title={t('overview.p95')}>{t('servers.p95', { time: duration(figures.p95) })}</span>
    </span>
  );
}

/** One bar for each hour; failed calls at its foot. */
function Sparkline({ figures, className }: { readonly figures: ServerFigures; readonly className: string }) {
  const { calls, failed } = figures.overTime ?? { calls: [], failed: [] };
  const most = Math.max(1, ...calls);
  return (
    <svg
      aria-hidden
      viewBox={`0 0 ${Math.max(1, calls.length)} 1`}
      preserveAspectRatio="none"
      className={cx('border-line w-24 shrink-0 border-b', className)}
    >
      {calls.map((all, hour) => {
        const bad = failed[hour] ?? 0;
        const key = `${hour}`;
        return (
          <g key={key}>
            <rect x={hour + 0.1} width={0.8} y={1 - all / most} height={(all - bad) / most} className="fill-accent" />
            <rect x={hour + 0.1} width={0.8} y={1 - bad / most} height={bad / most} className="fill-danger" />
          </g>
        );
      })}
    </svg>
  );
}
