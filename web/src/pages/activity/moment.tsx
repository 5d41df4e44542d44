import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { get, queryOf } from '../../api/client.ts';
import type { Activity, LogEntry } from '../../api/types.ts';
import { LogLines } from '../logs/log-lines.tsx';

/** What belongs to a call may be written a little before and after it. */
const aroundMs = 2_000;
const lines = 30;

interface Stretch {
  readonly server: string;
  /** ISO times. */
  readonly from: string;
  readonly to: string;
}

/** A link to what a server said in that time. */
export function LogLink({ stretch }: { readonly stretch: Stretch }) {
  const { t } = useTranslation();
  const { server, from, to } = stretch;
  return (
    <Link
      to="/logs"
      search={{ service: `server:${server}`, ...around(from, to) }}
      className="text-accent-ink rounded-sm text-xs hover:underline pointer-coarse:inline-flex pointer-coarse:min-h-10 pointer-coarse:items-center"
    >
      {t('activity.log')}
    </Link>
  );
}

/** What the server of a failed call said meanwhile; nothing where that is nothing, or not for who asks. */
export function Moment({ record }: { readonly record: Activity }) {
  const { t } = useTranslation();
  const { server, timestamp, durationMs } = record;
  const from = new Date(Date.parse(timestamp) - durationMs).toISOString();
  const { from: startDate, to: endDate } = around(from, timestamp);
  const { data = [] } = useQuery({
    queryKey: ['log-moment', record.id],
    queryFn: ({ signal }) =>
      get<readonly LogEntry[]>(
        `/logs${queryOf({ service: `server:${server}`, startDate, endDate, limit: lines })}`,
        signal,
      ),
    meta: { live: false },
  });
  if (data.length === 0) return null;
  return (
    <section>
      <h3 className="mb-1 text-sm font-medium">{t('activity.moment')}</h3>
      <LogLines
        label={t('activity.moment')}
        entries={data}
        className="bg-page border-line max-h-64 rounded-lg border"
      />
      <p className="mt-1">
        <LogLink stretch={{ server, from, to: timestamp }} />
      </p>
    </section>
  );
}

function around(from: string, to: string): { from: string; to: string } {
  return {
    from: new Date(Date.parse(from) - aroundMs).toISOString(),
    to: new Date(Date.parse(to) + aroundMs).toISOString(),
  };
}
