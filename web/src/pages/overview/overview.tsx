import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { serversQuery, useMe } from '../../api/queries.ts';
import { type Span, spans, summaryQuery } from '../../api/records.ts';
import { cx } from '../../lib/cx.ts';
import { storage } from '../../lib/storage.ts';
import { Charts } from '../../ui/chart.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Select } from '../../ui/select.tsx';
import { Loading, Page, Panel } from '../../ui/page.tsx';
import { ConnectPanel } from '../groups/connect.tsx';
import { Attention } from './attention.tsx';
import { CallsChart, LatencyChart, WithBuckets } from './charts.tsx';
import { useFirstSteps } from './checklist.ts';
import { Open } from './open.tsx';
import { Tiles } from './tiles.tsx';

const names = Object.keys(spans) as Span[];
const periodKey = 'overview.period';

export function Overview() {
  const { t } = useTranslation();
  const me = useMe();
  const navigate = useNavigate();
  const [span, setSpan] = useState<Span>(() => names.find((name) => name === storage.get(periodKey)) ?? '24h');
  const servers = useQuery(serversQuery);
  const calls = useQuery(summaryQuery(span));
  const { buckets, totals } = calls.data ?? {};
  const first = useFirstSteps(servers.data, totals);
  const choose = (
    <Select
      aria-label={t('overview.range')}
      value={span}
      onChange={({ target: { value } }) => {
        storage.set(periodKey, value);
        setSpan(names.find((name) => name === value) ?? span);
      }}
      options={names.map((value) => ({ value, label: t(`overview.${value}`) }))}
    />
  );
  return (
    <Page title={t('nav.overview')} lead={t('overview.lead')} actions={choose}>
      {servers.error ? (
        <Failure error={servers.error} retry={() => void servers.refetch()} />
      ) : !servers.data || calls.isPending || first.isPending ? (
        <Loading rows={9} />
      ) : (
        <>
          <Tiles servers={servers.data} stats={totals} since={span} />
          <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
            <div className="flex min-w-0 flex-col gap-5 lg:order-last">
              <Attention servers={servers.data} />
              <ConnectPanel scope={{}} />
            </div>
            <div className={cx('flex min-w-0 flex-col gap-5', first.shown && 'max-lg:order-first')}>
              {first.shown && <first.shown.Checklist steps={first.shown.steps} onPutAway={first.putAway} />}
              {/* Empty charts say less than what to do first. */}
              {(!first.shown || (totals && totals.totalCalls > 0)) && (
                <Charts onPick={(from, to) => void navigate({ to: '/activity', search: { from, to } })}>
                  <Panel title={t('overview.callsChart')}>
                    <WithBuckets buckets={buckets} show={CallsChart} />
                  </Panel>
                  <Panel title={t('overview.latencyChart')}>
                    <WithBuckets buckets={buckets} show={LatencyChart} />
                  </Panel>
                </Charts>
              )}
              {me.isAdmin && <Open />}
            </div>
          </div>
        </>
      )}
    </Page>
  );
}
