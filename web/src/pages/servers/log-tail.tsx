import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { get, queryOf } from '../../api/client.ts';
import type { LogEntry } from '../../api/types.ts';
import { clockTime } from '../../lib/format.ts';
import { cx } from '../../lib/cx.ts';

const colours: Record<LogEntry['level'], string> = {
  debug: 'text-soft',
  info: '',
  warn: 'text-warn',
  error: 'text-bad',
};

/** What a server said last: its stderr, and what the hub has to say of it. */
export function LogTail({ server, lines }: { readonly server: string; readonly lines: number }) {
  const { t } = useTranslation();
  const service = `server:${server}`;
  const { data } = useQuery({
    queryKey: ['log-tail', server, lines],
    queryFn: ({ signal }) => get<readonly LogEntry[]>(`/logs${queryOf({ service, limit: lines })}`, signal),
    refetchInterval: 4_000,
  });
  if (!data) return null;
  return (
    <div className="border-line border-t first:border-t-0">
      {data.length === 0 ? (
        <p className="text-soft p-4 text-sm">{t('servers.logEmpty')}</p>
      ) : (
        <ol
          tabIndex={0}
          aria-label={t('servers.tabs.log')}
          className="max-h-80 overflow-auto p-3 font-mono text-xs leading-relaxed"
        >
          {data.map(({ id, timestamp, level, message }) => (
            <li key={id} className={cx('break-words whitespace-pre-wrap', colours[level])}>
              <time className="text-soft mr-2 select-none">{clockTime(timestamp)}</time>
              {message}
            </li>
          ))}
        </ol>
      )}
      <p className="border-line border-t px-4 py-2 text-xs">
        <Link to="/logs" search={{ service }} className="text-accent-ink hover:underline">
          {t('servers.logAll')}
        </Link>
      </p>
    </div>
  );
}
