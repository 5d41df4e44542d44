import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { connectQuery } from '../../api/queries.ts';
import type { ActivityStats, ServerSummary } from '../../api/types.ts';
import { cx } from '../../lib/cx.ts';
import { count, duration, many, percent, short } from '../../lib/format.ts';
import type { Span } from '../../api/records.ts';
import { isReady, needsPerson } from '../servers/condition.ts';

interface TilesProps {
  readonly servers: readonly ServerSummary[] | undefined;
  readonly stats: ActivityStats | undefined;
  /** The stretch of time of `stats`. */
  readonly since: Span;
}

/** The few numbers that say whether all is well. */
export function Tiles({ servers, stats, since }: TilesProps) {
  return (
    <ul className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <ServerTiles servers={servers} />
      <CallTiles stats={stats} since={since} />
    </ul>
  );
}

function ServerTiles({ servers }: Pick<TilesProps, 'servers'>) {
  const { t } = useTranslation();
  const enabled = (servers ?? []).filter((server) => server.enabled);
  const ready = enabled.filter((server) => isReady(server)).length;
  const asleep = enabled.filter(({ status }) => status === 'asleep').length;
  const disabled = (servers ?? []).length - enabled.length;
  const tools = enabled.reduce((sum, server) => sum + server.tools.enabled, 0);
  // As the panel of the endpoint has it, with the names that clients see; without that endpoint, of each server.
  const listed = useQuery(connectQuery({ smart: false, code: false })).data?.cost.all;
  const tokens =
    listed && listed.tools > 0 ? listed.tokens : enabled.reduce((sum, server) => sum + server.tools.tokens, 0);
  const needy = enabled.filter((server) => needsPerson(server)).length;
  const starting = enabled.length - ready - needy;
  const missing = [
    needy > 0 && t('overview.needsYou', many(needy)),
    starting > 0 && t('overview.starting', { number: count(starting) }),
  ];
  const state =
    ready < enabled.length
      ? missing.filter(Boolean).join(', ')
      : enabled.length === 0
        ? t('servers.emptyTitle')
        : asleep > 0
          ? t('overview.andAsleep', { number: count(asleep) })
          : disabled > 0
            ? t('overview.andDisabled', { number: count(disabled) })
            : t('overview.allConnected');
  return (
    <>
      <Tile
        to="/servers"
        search={needy > 0 ? { status: 'needs' } : {}}
        name={t('overview.servers')}
        value={servers && (ready < enabled.length ? `${ready}/${enabled.length}` : count(ready))}
        more={state}
        bad={needy > 0}
      />
      <Tile
        to="/tools/costs"
        name={t('overview.tools')}
        value={servers && count(tools)}
        more={t('overview.cost', { tokens: short(tokens) })}
      />
    </>
  );
}

function CallTiles({ stats, since }: Pick<TilesProps, 'stats' | 'since'>) {
  const { t } = useTranslation();
  const { totalCalls = 0, errorCount = 0, avgDuration = 0 } = stats ?? {};
  const failed = t('overview.failed', { number: count(errorCount) });
  return (
    <>
      <Tile
        to="/activity"
        search={errorCount > 0 ? { since, status: 'failed' } : { since }}
        name={t('overview.calls')}
        value={stats && short(totalCalls)}
        more={errorCount > 0 ? `${failed} (${percent(errorCount / totalCalls)})` : failed}
        bad={errorCount > 0}
      />
      <Tile
        to="/activity"
        search={{ since }}
        name={t('overview.latency')}
        value={stats && (totalCalls > 0 ? duration(avgDuration) : '–')}
        more={totalCalls > 0 ? t('overview.average') : t('overview.noCalls')}
      />
    </>
  );
}

interface TileProps {
  readonly to: '/servers' | '/tools/costs' | '/activity';
  readonly search?: { readonly since?: Span; readonly status?: string };
  readonly name: string;
  /** Undefined until it is known. */
  readonly value: string | undefined;
  readonly more: string;
  readonly bad?: boolean;
}

function Tile({ to, search = {}, name, value, more, bad = false }: TileProps) {
  return (
    <li>
      <Link
        to={to}
        search={search}
        className="panel hover:border-edge flex h-full flex-col px-4 py-3 transition-colors"
      >
        <span className="text-soft text-xs font-medium">{name}</span>
        <span className="min-h-8 text-2xl font-semibold tracking-tight tabular-nums">{value}</span>
        <span className={cx('min-h-4 text-xs', bad ? 'text-bad' : 'text-soft')}>{value === undefined ? '' : more}</span>
      </Link>
    </li>
  );
}
