import { useTranslation } from 'react-i18next';
import type { Activity, SearchUse } from '../../api/types.ts';
import { cx } from '../../lib/cx.ts';
import { dateTime, duration, score } from '../../lib/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { cellClass, headClass } from './calls.tsx';
import { useWho } from './outcome.tsx';

interface RowsProps {
  readonly rows: readonly Activity[];
  readonly onOpen: (id: string) => void;
}

const wide = 'hidden md:table-cell';

/** What was looked for, what was found first, and whether it was of use. */
export function Searches({ rows, onOpen }: RowsProps) {
  const { t } = useTranslation();
  const who = useWho();
  return (
    <table className="w-full text-sm">
      <thead>
        <tr>
          <th className={headClass}>{t('activity.query')}</th>
          <th className={cx(headClass, wide)}>{t('activity.found')}</th>
          <th className={headClass}>{t('activity.used')}</th>
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
              <button type="button" className="rounded-sm text-left font-medium break-words hover:underline">
                {row.query ?? t('activity.queryNotKept')}
              </button>
              <span className="text-soft block text-xs">
                {row.scope ?? ''} {duration(row.durationMs)}
              </span>
            </td>
            <td className={cx(cellClass, wide)}>
              <Best {...row} />
            </td>
            <td className={cellClass}>
              <Uses uses={row.uses ?? []} />
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

function Best({ results = [] }: Pick<Activity, 'results'>) {
  const { t } = useTranslation();
  const [best] = results;
  if (!best) return <Badge tone="warn">{t('activity.foundNothing')}</Badge>;
  return (
    <>
      <span className="break-all">{best.tool}</span>
      <span className="text-soft block text-xs tabular-nums">
        {score(best.score)}
        {results.length > 1 && ` · ${t('activity.andMore', { number: results.length - 1 })}`}
      </span>
    </>
  );
}

/** Calls matter; a description that was looked at and led to nothing is told too. */
function Uses({ uses }: { readonly uses: readonly SearchUse[] }) {
  const { t } = useTranslation();
  const use = uses.find(({ kind }) => kind === 'call') ?? uses[0];
  if (!use) return <span className="text-soft">{t('activity.unused')}</span>;
  return (
    <>
      <Badge tone={use.kind === 'call' ? 'good' : 'plain'}>
        {t(use.kind === 'call' ? 'activity.called' : 'activity.described')}
      </Badge>
      <span className="text-soft block text-xs break-all">
        {t('activity.atRank', { tool: use.tool, rank: use.rank })}
      </span>
    </>
  );
}
