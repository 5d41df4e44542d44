import { useTranslation } from 'react-i18next';
import type { Activity } from '../../api/types.ts';
import { cx } from '../../lib/cx.ts';
import { dateTime, duration } from '../../lib/format.ts';
import { Outcome, useServerName, useWho } from './outcome.tsx';

interface RowsProps {
  readonly rows: readonly Activity[];
  readonly onOpen: (id: string) => void;
}

export const headClass = 'text-soft px-3 py-2 text-left text-xs font-medium';
export const cellClass = 'px-3 py-2 align-top';
const wide = 'hidden md:table-cell';

/** Calls, newest first; on phones the less important columns are left to the details. */
export function Calls({ rows, onOpen }: RowsProps) {
  const { t } = useTranslation();
  const who = useWho();
  const serverName = useServerName();
  return (
    <table className="w-full text-sm">
      <thead>
        <tr>
          <th className={headClass}>{t('activity.tool')}</th>
          <th className={headClass}>{t('activity.status')}</th>
          <th className={cx(headClass, wide, '!text-right')}>{t('activity.duration')}</th>
          <th className={cx(headClass, wide)}>{t('activity.who')}</th>
          <th className={cx(headClass, wide)}>{t('activity.time')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr
            key={row.id}
            className="border-line hover:bg-hover cursor-pointer border-t"
            onClick={() => onOpen(row.id)}
          >
            <td className={cellClass}>
              {/* The row is larger to point at; this is what the keyboard reaches. */}
              <button type="button" className="touch rounded-sm text-left font-medium break-all hover:underline">
                {row.tool || t('activity.noName')}
              </button>
              <span className="text-soft block text-xs">
                {serverName(row.server)}
                <span className="md:hidden">
                  {' · '}
                  {dateTime(row.timestamp)}
                </span>
              </span>
            </td>
            <td className={cellClass}>
              <Outcome status={row.status} />
              {row.errorMessage !== undefined && (
                <span className="text-soft mt-0.5 line-clamp-1 max-w-72 text-xs break-all">{row.errorMessage}</span>
              )}
            </td>
            <td className={cx(cellClass, wide, 'text-right whitespace-nowrap tabular-nums')}>
              {duration(row.durationMs)}
            </td>
            <td className={cx(cellClass, wide, 'break-words')}>{who(row)}</td>
            <td className={cx(cellClass, wide, 'text-soft whitespace-nowrap tabular-nums')}>
              {dateTime(row.timestamp)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
