import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { serversQuery, useMe } from '../../api/queries.ts';
import { type Span, spans, statsQuery, timelineQuery } from '../../api/records.ts';
import { Failure } from '../../ui/failure.tsx';
import { Select } from '../../ui/field.tsx';
import { Loading, Page, Panel } from '../../ui/page.tsx';
import { ConnectPanel } from '../groups/connect.tsx';
import { Attention } from './attention.tsx';
import { CallsChart, LatencyChart } from './charts.tsx';
import { Open } from './open.tsx';
import { Tiles } from './tiles.tsx';

const names = Object.keys(spans) as Span[];

export function Overview() {
  const { t } = useTranslation();
  const me = useMe();
  const [span, setSpan] = useState<Span>('24h');
  const servers = useQuery(serversQuery);
  const stats = useQuery(statsQuery(span));
  const timeline = useQuery(timelineQuery(span));
  const choose = (
    <Select
      aria-label={t('overview.range')}
      value={span}
      onChange={(event) => setSpan(names.find((name) => name === event.target.value) ?? span)}
      options={names.map((value) => ({ value, label: t(`overview.${value}`) }))}
    />
  );
  return (
    <Page title={t('nav.overview')} lead={t('overview.lead')} actions={choose}>
      {servers.error ? (
        <Failure error={servers.error} retry={() => void servers.refetch()} />
      ) : (
        <>
          <Tiles servers={servers.data} stats={stats.data} />
          <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
            <div className="flex min-w-0 flex-col gap-5">
              <Panel title={t('overview.callsChart')}>
                {timeline.data ? <CallsChart buckets={timeline.data.buckets} /> : <Loading rows={3} />}
              </Panel>
              <Panel title={t('overview.latencyChart')}>
                {timeline.data ? <LatencyChart buckets={timeline.data.buckets} /> : <Loading rows={3} />}
              </Panel>
            </div>
            <div className="flex min-w-0 flex-col gap-5">
              <Attention servers={servers.data} />
              <ConnectPanel scope={{}} title={t('overview.endpoint')} />
              {me.isAdmin && <Open />}
            </div>
          </div>
        </>
      )}
    </Page>
  );
}
