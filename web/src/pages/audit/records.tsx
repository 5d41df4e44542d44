import { useTranslation } from 'react-i18next';
import type { AuditRecord } from '../../api/types.ts';
import { cx } from '../../lib/cx.ts';
import { count, dateTime } from '../../lib/format.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';

interface RecordsProps {
  readonly records: readonly AuditRecord[];
  readonly onOpen: (id: number) => void;
}

const headClass = 'text-soft px-3 py-2 text-left text-xs font-medium';
const cellClass = 'px-3 py-2 align-top';
const wide = 'hidden md:table-cell';

/** Newest first; on phones who did it and when stand below what was done. */
export function Records({ records, onOpen }: RecordsProps) {
  const { t } = useTranslation();
  const who = useActor();
  return (
    <table className="w-full text-sm">
      <thead>
        <tr>
          <th className={headClass}>{t('audit.action')}</th>
          <th className={headClass}>{t('audit.result')}</th>
          <th className={cx(headClass, wide)}>{t('audit.actor')}</th>
          <th className={cx(headClass, wide)}>{t('audit.time')}</th>
        </tr>
      </thead>
      <tbody>
        {records.map((record) => (
          <tr
            key={record.id}
            className="border-line hover:bg-hover cursor-pointer border-t"
            onClick={() => onOpen(record.id)}
          >
            <td className={cellClass}>
              {/* The row is larger to point at; this is what the keyboard reaches. */}
              <button type="button" className="touch rounded-sm text-left font-medium break-all hover:underline">
                {record.action}
              </button>
              <span className="text-soft block text-xs wrap-anywhere">
                <span className="line-clamp-2">{record.target}</span>
                <span className="block md:hidden">
                  {who(record)} · {dateTime(record.time)}
                </span>
              </span>
            </td>
            <td className={cellClass}>
              <Result record={record} />
            </td>
            <td className={cx(cellClass, wide, 'wrap-anywhere')}>
              {who(record)}
              <span className="text-soft block text-xs">
                {[t(`audit.ways.${record.via}`), record.address].filter(Boolean).join(' · ')}
              </span>
            </td>
            <td className={cx(cellClass, wide, 'text-soft whitespace-nowrap tabular-nums')}>{dateTime(record.time)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const tones: Record<AuditRecord['result'], Tone> = { success: 'plain', refused: 'warn', failed: 'bad' };

export function Result({ record: { result, count: times } }: { readonly record: AuditRecord }) {
  const { t } = useTranslation();
  return (
    <span className="flex flex-wrap gap-1">
      <Badge tone={tones[result]}>{t(`audit.results.${result}`)}</Badge>
      {times > 1 && <Badge>{t('audit.times', { number: count(times) })}</Badge>}
    </span>
  );
}

/** The name of who did it, or what it was where there is none. */
export function useActor(): (record: Pick<AuditRecord, 'actor'>) => string {
  const { t } = useTranslation();
  return ({ actor: { kind, name } }) => {
    if (name === '') return t(`audit.actors.${kind}`);
    return kind === 'user' ? name : `${name} (${t(`audit.actors.${kind}`)})`;
  };
}
