import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ActivityStats, ServerSummary } from '../../api/types.ts';
import { cx } from '../../lib/cx.ts';
import { count, duration, percent, short } from '../../lib/format.ts';

interface TilesProps {
  readonly servers: readonly ServerSummary[] | undefined;
  readonly stats: ActivityStats | undefined;
}

/** The few numbers that say whether all is well. */
export function Tiles({ servers = [], stats }: TilesProps) {
  const { t } = useTranslation();
  const enabled = servers.filter((server) => server.enabled);
  const connected = enabled.filter(({ status }) => status === 'connected').length;
  const tools = enabled.reduce((sum, server) => sum + server.tools.enabled, 0);
  const tokens = enabled.reduce((sum, server) => sum + server.tools.tokens, 0);
  const { totalCalls = 0, errorCount = 0, avgDuration = 0 } = stats ?? {};
  return (
    <ul className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Tile
        to="/servers"
        name={t('overview.servers')}
        value={`${connected}/${enabled.length}`}
        more={t('overview.ofServers', { connected, total: enabled.length })}
        bad={connected < enabled.length}
      />
      <Tile
        to="/groups"
        name={t('overview.tools')}
        value={count(tools)}
        more={t('overview.cost', { tokens: short(tokens) })}
      />
      <Tile
        to="/activity"
        name={t('overview.calls')}
        value={short(totalCalls)}
        more={
          errorCount > 0
            ? `${t('overview.failed', { number: count(errorCount) })} (${percent(errorCount / totalCalls)})`
            : t('overview.failed', { number: 0 })
        }
        bad={errorCount > 0}
      />
      <Tile to="/activity" name={t('overview.latency')} value={totalCalls > 0 ? duration(avgDuration) : '–'} more="" />
    </ul>
  );
}

interface TileProps {
  readonly to: '/servers' | '/groups' | '/activity';
  readonly name: string;
  readonly value: string;
  readonly more: ReactNode;
  readonly bad?: boolean;
}

function Tile({ to, name, value, more, bad = false }: TileProps) {
  return (
    <li>
      <Link to={to} className="panel hover:border-edge flex h-full flex-col px-4 py-3 transition-colors">
        <span className="text-soft text-xs font-medium">{name}</span>
        <span className="text-2xl font-semibold tracking-tight tabular-nums">{value}</span>
        <span className={cx('min-h-4 text-xs', bad ? 'text-bad' : 'text-soft')}>{more}</span>
      </Link>
    </li>
  );
}
