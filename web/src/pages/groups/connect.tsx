import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Cable } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { connectQuery, type ConnectScope } from '../../api/queries.ts';
import type { Connect } from '../../api/types.ts';
import { many, percent, short } from '../../lib/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { Copyable } from '../../ui/copy.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Select } from '../../ui/select.tsx';
import { Loading, Panel } from '../../ui/page.tsx';

const ways = ['all', 'smart', 'code'] as const;

/** How an endpoint offers its tools. */
type Way = (typeof ways)[number];

/** The endpoint of a group or a server, what it costs, and the way to connect a client to it. */
interface ConnectPanelProps {
  readonly scope: ConnectScope;
  readonly title?: string;
}

export function ConnectPanel({ scope, title }: ConnectPanelProps) {
  const { t } = useTranslation();
  const [way, setWay] = useState<Way>(scope.smart ? 'smart' : 'all');
  const connect = useQuery(connectQuery({ ...scope, smart: way === 'smart', code: way === 'code' }));
  const choice = scope.server === undefined && (
    <Select
      aria-label={t('connect.mode')}
      value={way}
      onChange={(event) => setWay(ways.find((each) => each === event.target.value) ?? 'all')}
      options={ways.map((value) => ({ value, label: t(`connect.${value}`) }))}
    />
  );
  return (
    <Panel title={title ?? t('connect.endpoint')} actions={choice}>
      {connect.error ? (
        <Failure error={connect.error} retry={() => void connect.refetch()} />
      ) : connect.data ? (
        <Connecting connect={connect.data} scope={scope} way={way} compare={scope.server === undefined} />
      ) : (
        <Loading rows={7} />
      )}
    </Panel>
  );
}

interface ConnectingProps {
  readonly connect: Connect;
  readonly scope: ConnectScope;
  readonly way: Way;
  /** With the cost of searching beside that of listing. */
  readonly compare: boolean;
}

function Connecting({ connect: { url, cost }, scope, way, compare }: ConnectingProps) {
  const { t } = useTranslation();
  const shown = cost[way];
  const other = way === 'all' ? cost.smart : shown;
  const saved = cost.all.tokens > 0 ? 1 - other.tokens / cost.all.tokens : 0;
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-col gap-1.5">
        <Copyable text={url} label={t('connect.endpoint')} />
        <p className="text-soft flex flex-wrap items-center gap-x-2 gap-y-1 text-xs">
          {t('connect.cost', { ...many(shown.tools), tokens: short(shown.tokens) })}
          <Link to="/tools/costs" search={billOf(scope, way)} className="touch rounded-sm underline underline-offset-2">
            {t('nav.costs')}
          </Link>
          {compare && saved > 0.05 && way !== 'all' && (
            <Badge tone="good">{t('connect.saves', { share: percent(saved) })}</Badge>
          )}
          {compare && saved > 0.05 && way === 'all' && (
            <Badge>{t('connect.instead', { tokens: short(cost.smart.tokens), share: percent(saved) })}</Badge>
          )}
        </p>
      </div>
      <div>
        <Link to="/account/connect" search={linkTo(scope, way)} className={buttonClass()}>
          <Cable size={15} aria-hidden />
          {t('connect.title')}
        </Link>
      </div>
    </div>
  );
}

/** The page that connects a client, with what it should reach chosen already. */
function linkTo({ group, server }: ConnectScope, way: Way) {
  if (server !== undefined) return { reach: 'server', name: server };
  if (group !== undefined) return { reach: way === 'all' ? 'group' : way, name: group };
  return way === 'all' ? {} : { reach: way };
}

/** What the tools of the endpoint cost, one by one. */
function billOf({ group, server }: ConnectScope, way: Way) {
  if (server !== undefined) return { server };
  return { ...(group !== undefined && { group }), ...(way === 'smart' && { reach: 'smart' }) };
}
