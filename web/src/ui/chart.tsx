import { createContext, type ReactNode, use, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../lib/cx.ts';
import { dateTime, isWithin, shortTime } from '../lib/format.ts';
import { type ChartPoint, ChartTime, endOf } from './chart-time.tsx';

export interface Series {
  readonly name: string;
  /** A class that sets `fill`, and one that sets `background`. */
  readonly fill: string;
  readonly swatch: string;
  readonly values: readonly number[];
  /** What a click on its name does. */
  readonly onChoose?: (() => void) | undefined;
}

interface ChartProps {
  readonly label: string;
  /** ISO times, one per place. */
  readonly starts: readonly string[];
  readonly series: readonly Series[];
  /** On top of each other, or behind. */
  readonly stacked?: boolean;
  readonly format: (value: number) => string;
  /** Shown in place of nothing but zeros. */
  readonly empty: ReactNode;
}

interface SharedChart {
  readonly point: ChartPoint | undefined;
  readonly setPoint: (next: ChartPoint | undefined) => void;
  /** Given the first and the last moment of what was chosen, ISO. */
  readonly onPick: (from: string, to: string) => void;
}

const Shared = createContext<SharedChart | undefined>(undefined);

interface ChartsProps {
  readonly onPick: SharedChart['onPick'];
  readonly children: ReactNode;
}

/** Charts of the same time: what is pointed at in one is marked in all, and a time can be chosen in each. */
export function Charts({ onPick, children }: ChartsProps) {
  const [point, setPoint] = useState<ChartPoint>();
  return <Shared value={{ point, setPoint, onPick }}>{children}</Shared>;
}

const height = 100;

/** A place of the height that a chart has, for what stands there without one. */
export const chartPlace = 'flex min-h-59 flex-col justify-center';

/** Bars over time. What is drawn is also there as a table, for who cannot see it and for who wants numbers. */
export function Chart({ label, starts, series, stacked = false, format, empty }: ChartProps) {
  const { t } = useTranslation();
  const shared = use(Shared);
  const sums = starts.map((_, index) => {
    const values = series.map(({ values }) => values[index] ?? 0);
    return stacked ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values);
  });
  const most = Math.max(...sums, 0);
  if (most === 0) return <div className={chartPlace}>{empty}</div>;
  const top = roundUp(most, stacked);
  const at = shared?.point && Math.min(shared.point.at, starts.length - 1);
  const said = (index: number) => series.map(({ name, values }) => `${name}: ${format(values[index] ?? 0)}`).join(', ');
  return (
    <figure className="flex min-h-59 flex-col gap-2">
      <Legend series={series} format={format} at={at} stacked={stacked} />
      <div className="flex gap-2">
        <div
          aria-hidden
          className="text-soft flex h-36 w-12 shrink-0 flex-col justify-between text-right text-[0.6875rem] leading-none whitespace-nowrap tabular-nums"
        >
          <span>{format(top)}</span>
          <span>{format(top / 2)}</span>
          <span>{format(0)}</span>
        </div>
        <div className="min-w-0 flex-1">
          <div className="relative">
            <div aria-hidden className="border-line absolute inset-x-0 top-1/2 border-t border-dashed" />
            <Mark point={shared?.point} places={starts.length} />
            <svg
              role="img"
              aria-label={label}
              viewBox={`0 0 ${starts.length} ${height}`}
              preserveAspectRatio="none"
              className="border-line relative h-36 w-full border-y"
            >
              {starts.map((start, index) => (
                <Bars key={start} index={index} series={series} stacked={stacked} scale={height / top} />
              ))}
            </svg>
            {shared && (
              <ChartTime label={t('overview.chooseTime', { chart: label })} {...shared} starts={starts} said={said} />
            )}
          </div>
          <Ticks starts={starts} />
        </div>
      </div>
      <p aria-hidden className="text-soft -mt-1 min-h-4 text-right text-xs">
        {at === undefined ? shared && t('overview.chooseHint') : momentOf(starts, at, shared?.point?.from)}
      </p>
      <details className="text-xs">
        <summary className="text-soft rounded-sm">{t('overview.table')}</summary>
        <div tabIndex={0} role="region" aria-label={label} className="mt-2 max-h-56 overflow-auto">
          <Table starts={starts} series={series} format={format} />
        </div>
      </details>
    </figure>
  );
}

/** What is pointed at; while several places are chosen, from when to when. */
function momentOf(starts: readonly string[], at: number, from = at): string {
  const first = dateTime(starts[Math.min(at, from)] ?? '');
  return from === at ? first : `${first} – ${dateTime(endOf(starts, Math.max(at, from)))}`;
}

interface BarsProps {
  readonly index: number;
  readonly series: readonly Series[];
  readonly stacked: boolean;
  readonly scale: number;
}

function Bars({ index, series, stacked, scale }: BarsProps) {
  return (
    <g>
      {series.map(({ name, fill, values }, place) => {
        const size = (values[index] ?? 0) * scale;
        const below = stacked
          ? series.slice(0, place).reduce((sum, each) => sum + (each.values[index] ?? 0) * scale, 0)
          : 0;
        const y = height - below - size;
        return <rect key={name} x={index + 0.12} y={y} width={0.76} height={size} className={fill} />;
      })}
    </g>
  );
}

/** Behind the bars: what is pointed at, or chosen. */
function Mark({ point, places }: { readonly point: ChartPoint | undefined; readonly places: number }) {
  if (!point) return null;
  const first = Math.min(point.at, point.from ?? point.at);
  const last = Math.max(point.at, point.from ?? point.at);
  return (
    <div
      aria-hidden
      className={cx('absolute inset-y-0', point.from === undefined ? 'bg-hover' : 'bg-accent-wash')}
      style={{ left: `${(first / places) * 100}%`, width: `${((last + 1 - first) / places) * 100}%` }}
    />
  );
}

function Ticks({ starts }: Pick<ChartProps, 'starts'>) {
  const { t } = useTranslation();
  const start = Date.parse(starts[0] ?? '');
  const end = endOf(starts, starts.length - 1);
  // The newest stretch may just have ended.
  const isNow = !isWithin(new Date(end).toISOString(), (start - end) / starts.length);
  return (
    <p aria-hidden className="text-soft mt-1 flex justify-between text-[0.6875rem] leading-none tabular-nums">
      {ticks(starts).map((each) => (
        <span key={each}>{shortTime(each, end - start)}</span>
      ))}
      <span>{isNow ? t('overview.now') : shortTime(end, end - start)}</span>
    </p>
  );
}

interface LegendProps {
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly at: number | undefined;
  readonly stacked: boolean;
}

/** Of what is pointed at, the numbers; else, where they can be added up, the sums. */
function Legend({ series, format, at, stacked }: LegendProps) {
  return (
    <figcaption className="text-soft flex min-h-5 flex-wrap gap-x-4 gap-y-1 text-xs">
      {series.map(({ name, swatch, values, onChoose }) => {
        const all = stacked ? format(values.reduce((sum, value) => sum + value, 0)) : '–';
        return (
          <span key={name} className="flex min-w-0 items-center gap-1.5">
            <span aria-hidden className={cx('size-2 shrink-0 rounded-xs', swatch)} />
            {onChoose ? (
              <button type="button" className="touch truncate rounded-sm hover:underline" onClick={onChoose}>
                {name}
              </button>
            ) : (
              name
            )}
            <b className="text-ink min-w-6 tabular-nums">{at === undefined ? all : format(values[at] ?? 0)}</b>
          </span>
        );
      })}
    </figcaption>
  );
}

function Table({ starts, series, format }: Pick<ChartProps, 'starts' | 'series' | 'format'>) {
  const { t } = useTranslation();
  return (
    <table className="w-full text-left">
      <thead>
        <tr className="text-soft">
          <th className="py-1 pr-3 font-medium">{t('overview.time')}</th>
          {series.map(({ name }) => (
            <th key={name} className="py-1 pr-3 font-medium">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {starts.map((start, index) => (
          <tr key={start} className="border-line border-t">
            <th className="py-1 pr-3 font-normal">{dateTime(start)}</th>
            {series.map(({ name, values }) => (
              <td key={name} className="py-1 pr-3 tabular-nums">
                {format(values[index] ?? 0)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The beginning of each third. */
function ticks(starts: readonly string[]): readonly string[] {
  const third = starts.length / 3;
  return [...new Set([0, 1, 2].map((part) => Math.floor(part * third)))].flatMap((at) => starts[at] ?? []);
}

/** The next round number; of things that are counted one whose half is whole. */
function roundUp(value: number, counted: boolean): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const steps = counted && power === 1 ? [2, 4, 6, 8, 10] : [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10];
  return (steps.find((each) => each * power >= value) ?? 10) * power;
}
