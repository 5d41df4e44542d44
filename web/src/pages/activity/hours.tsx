import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { hoursQuery, type Period } from '../../api/records.ts';
import type { ActivityBucket } from '../../api/types.ts';
import { cx } from '../../lib/cx.ts';
import { count, dayName, many } from '../../lib/format.ts';
import { Select } from '../../ui/select.tsx';
import { Loading, Panel } from '../../ui/page.tsx';
import type { Chosen } from './period.tsx';

const measures = ['calls', 'failed'] as const;
type Measure = (typeof measures)[number];

/** How busy each hour of the last week was, or of the last month: the darker, the more calls. */
export function Hours({ period, filter }: Chosen) {
  const { t } = useTranslation();
  const [measure, setMeasure] = useState<Measure>('calls');
  const { start, end } = wholeDays(period);
  const { data } = useQuery(hoursQuery(start, end, filter));
  return (
    <Panel
      title={t('activity.hours')}
      lead={t('activity.hoursLead')}
      actions={
        <Select
          aria-label={t('activity.hours')}
          value={measure}
          onChange={({ target: { value } }) => setMeasure(measures.find((each) => each === value) ?? measure)}
          options={measures.map((value) => ({ value, label: t(`activity.hoursOf.${value}`) }))}
        />
      }
    >
      {data ? <Grid days={byDay(data.buckets)} measure={measure} /> : <Loading rows={6} />}
    </Panel>
  );
}

interface Day {
  readonly start: string;
  readonly hours: readonly (ActivityBucket | undefined)[];
}

interface GridProps {
  readonly days: readonly Day[];
  readonly measure: Measure;
}

/** One place of it is reached by Tab, the others from there by the arrows. */
function Grid({ days, measure }: GridProps) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/activity' });
  const [place, setPlace] = useState({ row: 0, hour: 0 });
  const valueOf = ({ calls, errors }: ActivityBucket): number => (measure === 'calls' ? calls : errors);
  const most = Math.max(1, ...days.flatMap(({ hours }) => hours.flatMap((hour) => (hour ? [valueOf(hour)] : []))));
  const open = ({ start }: ActivityBucket): void => {
    const to = new Date(Date.parse(start) + hourMs - 1).toISOString();
    const status = measure === 'failed' ? { status: 'failed' } : {};
    void navigate({ search: (old) => ({ ...old, ...status, from: start, to, kind: undefined, page: undefined }) });
  };
  const move = (event: KeyboardEvent<HTMLElement>): void => {
    const [down, right] = arrows[event.key] ?? [0, 0];
    if (down === 0 && right === 0) return;
    event.preventDefault();
    const row = Math.min(days.length - 1, Math.max(0, place.row + down));
    const hour = Math.min(23, Math.max(0, place.hour + right));
    setPlace({ row, hour });
    event.currentTarget.querySelectorAll<HTMLElement>('[role=gridcell]')[row * 24 + hour]?.focus();
  };
  return (
    <div role="grid" tabIndex={-1} aria-label={t('activity.hours')} className="flex flex-col gap-px" onKeyDown={move}>
      <div role="row" className={cx(line, 'text-soft text-[0.6875rem] leading-none')}>
        <span role="columnheader">
          <span className="sr-only">{t('activity.day')}</span>
        </span>
        {Array.from({ length: 24 }, (_, hour) => (
          <span key={hour} role="columnheader" className="tabular-nums">
            <span className={cx(hour % 6 !== 0 && 'sr-only')}>{hour}</span>
          </span>
        ))}
      </div>
      {days.map(({ start, hours }, row) => (
        <div key={start} role="row" className={line}>
          <span role="rowheader" className="text-soft truncate text-xs">
            {dayName(start)}
          </span>
          {hours.map((bucket, hour) => (
            <Hour
              key={hour}
              label={
                bucket &&
                t('activity.hour', {
                  day: dayName(start),
                  hour: `${hour}:00`,
                  calls: t('activity.sum', many(bucket.calls)),
                  failed: t('overview.failed', { number: count(bucket.errors) }),
                })
              }
              share={bucket ? valueOf(bucket) / most : 0}
              tone={measure === 'calls' ? 'bg-accent' : 'bg-danger'}
              isReached={place.row === row && place.hour === hour}
              onFocus={() => setPlace({ row, hour })}
              onOpen={() => bucket && open(bucket)}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

const line = 'grid grid-cols-[5rem_repeat(24,minmax(0,1fr))] items-center gap-px';

interface HourProps {
  /** Undefined where there is no such hour. */
  readonly label: string | undefined;
  readonly share: number;
  readonly tone: string;
  readonly isReached: boolean;
  readonly onFocus: () => void;
  readonly onOpen: () => void;
}

function Hour({ label, share, tone, isReached, onFocus, onOpen }: HourProps) {
  return (
    <span
      role="gridcell"
      tabIndex={isReached ? 0 : -1}
      aria-label={label ?? '–'}
      title={label}
      className="bg-hover h-5 cursor-pointer overflow-hidden rounded-xs"
      onFocus={onFocus}
      onClick={onOpen}
      onKeyDown={({ key }) => {
        if (key === 'Enter') onOpen();
      }}
    >
      {/* Few calls are seen too: the root is steeper near nothing. */}
      <span aria-hidden className={cx('block h-5', tone)} style={{ opacity: Math.sqrt(share) }} />
    </span>
  );
}

const hourMs = 3_600_000;
const arrows: Readonly<Record<string, readonly [down: number, right: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** From the beginning of a day until the end of today, or of the last day that was chosen. */
function wholeDays(period: Period): { start: Date; end: Date } {
  const last = typeof period === 'string' ? new Date() : new Date(period.to);
  const end = new Date(last.getFullYear(), last.getMonth(), last.getDate() + 1);
  const days = period === '30d' ? 30 : 7;
  return { start: new Date(end.getFullYear(), end.getMonth(), end.getDate() - days), end };
}

/** The newest day first. Where clocks change, a day lacks an hour, or one is there twice: the second counts. */
function byDay(buckets: readonly ActivityBucket[]): readonly Day[] {
  const days = new Map<string, { start: string; hours: (ActivityBucket | undefined)[] }>();
  for (const bucket of buckets) {
    const at = new Date(bucket.start);
    const key = at.toDateString();
    const day = days.get(key) ?? { start: bucket.start, hours: Array.from({ length: 24 }, () => undefined) };
    day.hours[at.getHours()] = bucket;
    days.set(key, day);
  }
  return [...days.values()].reverse();
}
