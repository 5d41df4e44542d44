import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useDeferredValue } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../../lib/cx.ts';
import { count, many, relative, short } from '../../lib/format.ts';
import { useNow } from '../../lib/now.ts';
import { Bar } from '../../ui/bar.tsx';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/select.tsx';
import { Empty } from '../../ui/page.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import { Switch } from '../../ui/switch.tsx';
import { VirtualList } from '../../ui/virtual-list.tsx';
import { type BilledTool, choices, found, idOf, type KnownCalls, orders, sumOf, type Wanted } from './bill.ts';
import { useWhen } from './known.ts';

const route = getRouteApi('/shell/tools/costs');

type Ids = ReadonlySet<string>;

interface ToolTableProps {
  readonly tools: readonly BilledTool[];
  readonly known: KnownCalls;
  /** Those that are off are known too. */
  readonly isAll: boolean;
  readonly selected: Ids;
  readonly onSelect: ((selected: Ids) => void) | undefined;
  readonly onSwitch: ((tool: BilledTool, enabled: boolean) => void) | undefined;
}

const checkbox = 'accent-accent size-4 shrink-0 pointer-coarse:size-5';

/** All tools as a list: searched, sorted, selected. */
export function ToolTable({ tools, known, isAll, selected, onSelect, onSwitch }: ToolTableProps) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/tools/costs' });
  const now = useNow(60_000);
  const { q, ...narrowed } = useWanted();
  const typed = useDeferredValue(q);
  const rows = found(tools, { q: typed, ...narrowed });
  const most = tools.reduce((most, { tokens }) => Math.max(most, tokens), 1);
  const selectable = onSelect ? rows.filter(({ managed }) => managed) : [];
  const areAll = selectable.length > 0 && selectable.every((tool) => selected.has(idOf(tool)));
  const clear = () => void navigate({ search: (old) => ({ ...old, q: '', server: '', show: '' }), replace: true });
  const select = (ids: readonly string[], on: boolean) =>
    onSelect?.(on ? new Set([...selected, ...ids]) : without(selected, new Set(ids)));
  return (
    <section aria-label={t('costs.list')} className="flex flex-col gap-3">
      <Filters tools={tools} known={known} isAll={isAll} />
      <div className="panel">
        <div className="border-line text-soft flex min-h-10 flex-wrap items-center gap-x-3 border-b px-4 text-xs">
          {selectable.length > 0 && (
            <label className="flex min-h-10 items-center gap-3">
              <input
                type="checkbox"
                className={checkbox}
                checked={areAll}
                onChange={(event) =>
                  select(
                    selectable.map((tool) => idOf(tool)),
                    event.target.checked,
                  )
                }
              />
              {t('costs.selectAll')}
            </label>
          )}
          <p role="status" className="ml-auto tabular-nums">
            {t('costs.sum', { ...many(rows.length), tokens: short(sumOf(rows)) })}
          </p>
        </div>
        {rows.length === 0 ? (
          <Empty title={t('common.nothingFound')}>
            <Button onClick={clear}>{t('common.clearFilters')}</Button>
          </Empty>
        ) : (
          <VirtualList
            label={t('costs.list')}
            items={rows}
            keyOf={idOf}
            height={56}
            render={(tool) => (
              <Row
                tool={tool}
                most={most}
                known={known}
                now={now}
                isSelected={selected.has(idOf(tool))}
                onSelect={onSelect && tool.managed ? (on) => select([idOf(tool)], on) : undefined}
                onSwitch={onSwitch && tool.managed ? (on) => onSwitch(tool, on) : undefined}
              />
            )}
          />
        )}
      </div>
    </section>
  );
}

/** What is looked for, as the address of the page has it. */
function useWanted(): Wanted {
  const { q = '', server = '', show, sort } = route.useSearch();
  const choice = choices.find((each) => each === show) ?? 'on';
  return { q, server, choice, order: orders.find((each) => each === sort) ?? 'cost' };
}

function Filters({ tools, known, isAll }: Pick<ToolTableProps, 'tools' | 'known' | 'isAll'>) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/tools/costs' });
  const { q, server, choice, order } = useWanted();
  const servers = [...new Set(tools.map((tool) => tool.server))];
  const shownChoices = choices.filter((each) => (each !== 'off' || isAll) && (each !== 'unused' || known.tools));
  const narrow = (part: { q?: string; server?: string; show?: string; sort?: string }) =>
    void navigate({ search: (old) => ({ ...old, ...part }), replace: true });
  return (
    <div className="flex flex-wrap gap-2">
      <SearchBox
        className="flex-1 basis-full sm:max-w-80 sm:basis-auto"
        label={t('servers.searchTools')}
        value={q}
        onChange={(q) => narrow({ q })}
      />
      <Select
        aria-label={t('activity.server')}
        className="min-w-36 flex-auto sm:max-w-44"
        value={server}
        onChange={({ target }) => narrow({ server: target.value })}
        options={[
          { value: '', label: t('costs.allServers') },
          ...servers.map((name) => ({ value: name, label: name })),
        ]}
      />
      <Select
        aria-label={t('costs.which')}
        className="min-w-32 flex-auto sm:flex-none"
        value={choice}
        onChange={({ target }) => narrow({ show: target.value })}
        options={shownChoices.map((value) => ({ value, label: t(`costs.choice.${value}`) }))}
      />
      <Select
        aria-label={t('costs.order')}
        className="min-w-36 flex-auto sm:flex-none"
        value={order}
        onChange={({ target }) => narrow({ sort: target.value })}
        options={orders.map((value) => ({ value, label: t(`costs.orders.${value}`) }))}
      />
    </div>
  );
}

function without(all: Ids, gone: Ids): Ids {
  return new Set([...all].filter((id) => !gone.has(id)));
}

interface RowProps {
  readonly tool: BilledTool;
  /** Tokens of the largest. */
  readonly most: number;
  readonly known: KnownCalls;
  readonly now: number;
  readonly isSelected: boolean;
  readonly onSelect: ((selected: boolean) => void) | undefined;
  readonly onSwitch: ((enabled: boolean) => void) | undefined;
}

function Row({ tool: billedTool, most, known, now, isSelected, onSelect, onSwitch }: RowProps) {
  const { t } = useTranslation();
  const { server, tool, tokens, isOn } = billedTool;
  return (
    <div className={cx('flex items-center gap-3 px-4 py-2', !isOn && 'bg-page/60')}>
      {onSelect && (
        <label className="-m-2 flex min-h-10 items-center p-2">
          <input
            type="checkbox"
            className={checkbox}
            aria-label={t('costs.select', { tool, server })}
            checked={isSelected}
            onChange={(event) => onSelect(event.target.checked)}
          />
        </label>
      )}
      <div className="grid min-w-0 flex-1 items-center gap-x-4 sm:grid-cols-[minmax(0,1fr)_9rem_11rem]">
        <Name server={server} tool={tool} isOn={isOn} />
        <div className="flex items-center gap-2 sm:block">
          <p className="text-xs whitespace-nowrap tabular-nums">{t('common.tokens', { tokens: count(tokens) })}</p>
          <Bar
            kind="meter"
            className="h-1.5 flex-1 sm:mt-1"
            label={t('costs.share', { tool })}
            value={tokens}
            most={most}
            quiet={!isOn}
          />
        </div>
        <Calls tool={billedTool} known={known} now={now} />
      </div>
      {onSwitch && <Switch label={t('costs.enable', { tool, server })} checked={isOn} onChange={onSwitch} />}
    </div>
  );
}

function Name({ server, tool, isOn }: Pick<BilledTool, 'server' | 'tool' | 'isOn'>) {
  const { t } = useTranslation();
  const words = cx('block truncate text-[0.8125rem]', !isOn && 'text-soft');
  // Those of smart routing are of no server.
  if (server.startsWith('$'))
    return (
      <p className="min-w-0">
        <code className={words}>{tool}</code>
        <span className="text-soft block truncate text-xs">{t('costs.search')}</span>
      </p>
    );
  return (
    <p className="min-w-0">
      <Link to="/servers/$name" params={{ name: server }} search={{ q: tool, tool }} className="touch block rounded-sm">
        <code className={words}>{tool}</code>
      </Link>
      <span className="text-soft block truncate text-xs">{server}</span>
    </p>
  );
}

function Calls({
  tool: { server, tool, calls, lastCall, unused },
  known,
  now,
}: Pick<RowProps, 'tool' | 'known' | 'now'>) {
  const { t } = useTranslation();
  const when = useWhen(known);
  if (server.startsWith('$')) return <span />;
  if (unused) return <p className="text-warn text-xs">{t('costs.notCalled', { when })}</p>;
  if (calls === undefined || lastCall === undefined) return <p className="text-soft text-xs">{t('costs.unknown')}</p>;
  return (
    <p className="flex gap-2 text-xs sm:block">
      <Link
        to="/activity"
        search={{ server, tool, since: '30d' }}
        className="touch rounded-sm underline-offset-2 hover:underline"
      >
        {t('costs.calls', many(calls))}
      </Link>
      <span className="text-soft block">{relative(lastCall, now)}</span>
    </p>
  );
}
