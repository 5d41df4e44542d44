import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useLayoutEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { get, queryOf } from '../../api/client.ts';
import type { LogEntry } from '../../api/types.ts';
import { cx } from '../../lib/cx.ts';
import { LogLines } from '../logs/log-lines.tsx';

interface LogTailProps {
  readonly server: string;
  readonly lines: number;
  /** Its height, which it has before it has lines. */
  readonly className: string;
}

/** What a server said last: its stderr, and what the hub has to say of it. */
export function LogTail({ server, lines, className }: LogTailProps) {
  const { t } = useTranslation();
  const service = `server:${server}`;
  const { data } = useQuery({
    queryKey: ['log-tail', server, lines],
    queryFn: ({ signal }) => get<readonly LogEntry[]>(`/logs${queryOf({ service, limit: lines })}`, signal),
    refetchInterval: 4_000,
  });
  const list = useRef<HTMLOListElement>(null);
  const atEnd = useRef(true);
  const last = data?.at(-1)?.id;
  useLayoutEffect(() => {
    if (last !== undefined && atEnd.current) list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [last]);
  return (
    <div className="border-line border-t first:border-t-0">
      {!data || data.length === 0 ? (
        <p className={cx('text-soft p-4 text-sm', className)}>{data && t('servers.logEmpty')}</p>
      ) : (
        <LogLines
          ref={list}
          label={t('servers.tabs.log')}
          entries={data}
          onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
            atEnd.current = scrollTop + clientHeight >= scrollHeight - 8;
          }}
          className={className}
        />
      )}
      <p className="border-line border-t px-4 py-2 text-xs">
        <Link to="/logs" search={{ service }} className="touch text-accent-ink hover:underline">
          {t('servers.logAll')}
        </Link>
      </p>
    </div>
  );
}
