import { ChartColumn } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ActivityBucket } from '../../api/types.ts';
import { count, duration } from '../../lib/format.ts';
import { Chart, chartPlace } from '../../ui/chart.tsx';
import { Empty, Loading } from '../../ui/page.tsx';

type Buckets = { readonly buckets: readonly ActivityBucket[] };

interface WithBucketsProps {
  readonly buckets: readonly ActivityBucket[] | undefined;
  readonly show: (props: Buckets) => ReactNode;
}

/** A chart, and until there is something to draw a place of its height. */
export function WithBuckets({ buckets, show: Shown }: WithBucketsProps) {
  if (buckets) return <Shown buckets={buckets} />;
  return (
    <div className={chartPlace}>
      <Loading rows={3} />
    </div>
  );
}

export function CallsChart({ buckets }: Buckets) {
  const { t } = useTranslation();
  return (
    <Chart
      label={t('overview.callsChart')}
      starts={buckets.map(({ start }) => start)}
      stacked
      series={[
        {
          name: t('overview.failedCalls'),
          fill: 'fill-danger',
          swatch: 'bg-danger',
          values: buckets.map(({ errors }) => errors),
        },
        {
          name: t('overview.succeeded'),
          fill: 'fill-accent',
          swatch: 'bg-accent',
          values: buckets.map(({ calls, errors }) => calls - errors),
        },
      ]}
      format={count}
      empty={<NoCalls />}
    />
  );
}

export function LatencyChart({ buckets }: Buckets) {
  const { t } = useTranslation();
  return (
    <Chart
      label={t('overview.latencyChart')}
      starts={buckets.map(({ start }) => start)}
      series={[
        {
          name: t('overview.p95'),
          fill: 'fill-edge',
          swatch: 'bg-edge',
          values: buckets.map(({ p95 }) => p95),
        },
        {
          name: t('overview.median'),
          fill: 'fill-accent',
          swatch: 'bg-accent',
          values: buckets.map(({ p50 }) => p50),
        },
      ]}
      format={duration}
      empty={<NoCalls />}
    />
  );
}

export function NoCalls() {
  const { t } = useTranslation();
  return <Empty icon={ChartColumn} title={t('overview.noCalls')} text={t('overview.noCallsText')} />;
}
