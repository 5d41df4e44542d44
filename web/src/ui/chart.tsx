import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { dateTime, shortTime } from '../lib/format.ts';
import { cx } from '../lib/cx.ts';

export interface Series {
  readonly name: string;
  /** A class that sets `fill`, and one that sets `background`. */
  readonly fill: string;
  readonly swatch: string;
  readonly values: readonly number[];
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

const height = 100;

/** A place of the height that a chart has, for what stands there without one. */
export const chartPlace = 'flex min-h-55 flex-col justify-center';

/** Bars over time. What is drawn is also there as a table, for who cannot see it and for who wants numbers. */
export function Chart({ label, starts, series, stacked = false, format, empty }: ChartProps) {
  const { t } = useTranslation();
  const [at, setAt] = useState<number>();
  const sums = starts.map((_, index) => {
    const values = series.map(({ values }) => values[index] ?? 0);
    return stacked ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values);
  });
  const most = Math.max(...sums, 0);
  if (most === 0) return <div className={chartPlace}>{empty}</div>;
  const top = roundUp(most, stacked);
  const spanMs = Date.parse(starts.at(-1) ?? '') - Date.parse(starts[0] ?? '');
  return (
    <figure className="flex min-h-55 flex-col gap-2">
      <Legend series={series} format={format} at={at} start={at === undefined ? undefined : starts[at]} />
      <div className="flex gap-2">
        <div
          aria-hidden
          className="text-soft flex h-36 flex-col justify-between text-right text-[0.6875rem] leading-none whitespace-nowrap tabular-nums"
        >
          <span>{format(top)}</span>
          <span>{format(top / 2)}</span>
          <span>{format(0)}</span>
        </div>
        <div className="min-w-0 flex-1">
          <div className="relative">
            <div aria-hidden className="border-line absolute inset-x-0 top-1/2 border-t border-dashed" />
            <svg
              role="img"
              aria-label={label}
              viewBox={`0 0 ${starts.length} ${height}`}
              preserveAspectRatio="none"
              className="border-line relative h-36 w-full border-y"
              onPointerLeave={() => setAt(undefined)}
            >
              {starts.map((start, index) => (
                <Bars
                  key={start}
                  index={index}
                  series={series}
                  stacked={stacked}
                  scale={height / top}
                  lit={at === index}
                  onPoint={() => setAt(index)}
                />
              ))}
            </svg>
          </div>
          <p aria-hidden className="text-soft mt-1 flex justify-between text-[0.6875rem] leading-none tabular-nums">
            {ticks(starts).map((start) => (
              <span key={start}>{shortTime(start, spanMs)}</span>
            ))}
            <span>{t('overview.now')}</span>
          </p>
        </div>
      </div>
      <details className="text-xs">
        <summary className="text-soft rounded-sm">{t('overview.table')}</summary>
        <div tabIndex={0} role="region" aria-label={label} className="mt-2 max-h-56 overflow-auto">
          <Table starts={starts} series={series} format={format} />
        </div>
      </details>
    </figure>
  );
}

interface BarsProps {
  readonly index: number;
  readonly series: readonly Series[];
  readonly stacked: boolean;
  readonly scale: number;
  readonly lit: boolean;
  readonly onPoint: () => void;
}

function Bars({ index, series, stacked, scale, lit, onPoint }: BarsProps) {
  return (
    <g onPointerEnter={onPoint}>
      <rect x={index} y={0} width={1} height={height} className={cx(lit ? 'fill-hover' : 'fill-transparent')} />
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

interface LegendProps {
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly at: number | undefined;
  readonly start: string | undefined;
}

function Legend({ series, format, at, start }: LegendProps) {
  return (
    <figcaption className="text-soft flex min-h-5 flex-wrap gap-x-4 text-xs">
      {series.map(({ name, swatch, values }) => (
        <span key={name} className="flex items-center gap-1.5">
          <span aria-hidden className={cx('size-2 rounded-xs', swatch)} />
          {name}
          {at !== undefined && <b className="text-ink tabular-nums">{format(values[at] ?? 0)}</b>}
        </span>
      ))}
      {start !== undefined && <span className="ml-auto">{dateTime(start)}</span>}
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
