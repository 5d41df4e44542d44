import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Scale } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { groupsQuery, serversQuery, useMe } from '../../api/queries.ts';
import { boot } from '../../boot.ts';
import { count, many, percent, short } from '../../lib/format.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Select } from '../../ui/select.tsx';
import { Empty, Loading, Page, Panel } from '../../ui/page.tsx';
import { GroupDialog } from '../groups/group-dialog.tsx';
import { type BilledTool, billed, byServer, idOf, type KnownCalls, sumOf, usedOf } from './bill.ts';
import { costsQuery, type Endpoint, toolCallsQuery, useWhen } from './known.ts';
import { CostMap } from './map.tsx';
import { Changed, Chosen } from './selected.tsx';
import { useSwitching } from './switching.ts';
import { ToolTable } from './tools.tsx';

const route = getRouteApi('/shell/tools/costs');

/** What the definitions of tools cost the context of every client, and which of them are never used. */
export function Costs() {
  const { t } = useTranslation();
  const { isAdmin } = useMe();
  return (
    <Page title={t('nav.costs')} lead={t(isAdmin ? 'costs.lead' : 'costs.leadOwn')} actions={<ChooseEndpoint />}>
      <Bill />
    </Page>
  );
}

/** The endpoint, as the address of the page has it. */
function useEndpoint(): Endpoint {
  const { group, reach } = route.useSearch();
  return { group, smart: reach === 'smart' };
}

function ChooseEndpoint() {
  const { t } = useTranslation();
  const { group: given = '', smart } = useEndpoint();
  const navigate = useNavigate({ from: '/tools/costs' });
  const groups = useQuery(groupsQuery);
  const group = groups.data?.find(({ id }) => id === given)?.name ?? given;
  const names = (groups.data ?? []).map(({ name }) => name);
  const value = JSON.stringify([group, smart]);
  const option = (name: string, searches: boolean, label: string) => ({
    value: JSON.stringify([name, searches]),
    label,
  });
  return (
    <Select
      aria-label={t('costs.endpoint')}
      value={value}
      onChange={({ target }) => {
        const [name, searches] = JSON.parse(target.value) as [string, boolean];
        void navigate({ search: { group: name || undefined, reach: searches ? 'smart' : undefined }, replace: true });
      }}
      options={[
        option('', false, t('costs.all')),
        option('', true, t('costs.search')),
        // One that came with the address is kept, whether there is such a group or not.
        ...[...new Set([...names, ...(group === '' ? [] : [group])])].flatMap((name) => [
          option(name, false, t('costs.group', { name })),
          ...(smart && name === group ? [option(name, true, t('costs.groupSearch', { name }))] : []),
        ]),
      ]}
    />
  );
}

function Bill() {
  const endpoint = useEndpoint();
  const costs = useQuery(costsQuery(endpoint));
  const known = useQuery(toolCallsQuery);
  const servers = useQuery(serversQuery);
  const tools = useMemo(
    () => billed(costs.data ?? [], known.data?.tools, new Set(servers.data?.map(({ name }) => name))),
    [costs.data, known.data, servers.data],
  );
  if (costs.error) return <Failure error={costs.error} retry={() => void costs.refetch()} />;
  // All of them, for what is never called stands above the rest.
  if (!costs.data || known.isPending || servers.isPending) return <Loading rows={12} />;
  const unknown: KnownCalls = { tools: undefined, since: undefined, isWhole: false };
  return <Shown key={JSON.stringify(endpoint)} endpoint={endpoint} tools={tools} known={known.data ?? unknown} />;
}

interface ShownProps {
  readonly endpoint: Endpoint;
  readonly tools: readonly BilledTool[];
  readonly known: KnownCalls;
}

function Shown({ endpoint, tools, known }: ShownProps) {
  const { t } = useTranslation();
  const me = useMe();
  const { server = '' } = route.useSearch();
  const navigate = useNavigate({ from: '/tools/costs' });
  const switching = useSwitching(endpoint);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const isChangeable = me.isAdmin && !boot.readonly;
  const on = tools.filter(({ isOn }) => isOn);
  const unused = on.filter((tool) => tool.unused);
  const chosen = tools.filter((tool) => isChangeable && tool.managed && selected.has(idOf(tool)));
  const chooseServer = (name: string) =>
    void navigate({ search: (old) => ({ ...old, server: name || undefined }), replace: true });
  if (tools.length === 0) {
    return (
      <div className="panel">
        <Empty icon={Scale} title={t('costs.emptyTitle')} text={t('costs.emptyText')}>
          <Link to="/servers" className={buttonClass('primary')}>
            {t('nav.servers')}
          </Link>
        </Empty>
      </div>
    );
  }
  const selectUnused = () => {
    setSelected(new Set(unused.filter(({ managed }) => managed).map(idOf)));
    void navigate({ search: (old) => ({ ...old, show: 'unused', server: undefined, q: undefined }), replace: true });
  };
  const change = (which: readonly BilledTool[], enabled: boolean) => {
    switching.switchTools(which, enabled);
    setSelected(new Set());
  };
  return (
    <>
      <Sums endpoint={endpoint} on={on} unused={unused} known={known} />
      {unused.length > 0 && (
        <Unused
          endpoint={endpoint}
          on={on}
          unused={unused}
          known={known}
          server={server}
          onSelect={isChangeable && unused.some(({ managed }) => managed) ? selectUnused : undefined}
        />
      )}
      <Panel
        title={server === '' ? t('costs.map') : server}
        lead={t('costs.mapLead')}
        actions={server !== '' && <Button onClick={() => chooseServer('')}>{t('costs.allServers')}</Button>}
      >
        <CostMap tools={on} server={server} onServer={chooseServer} />
        <Legend known={known} />
      </Panel>
      <ToolTable
        tools={tools}
        known={known}
        isAll={endpoint.group === undefined && endpoint.smart !== true}
        selected={selected}
        onSelect={isChangeable ? setSelected : undefined}
        onSwitch={isChangeable ? (tool, enabled) => change([tool], enabled) : undefined}
      />
      {chosen.length > 0 ? (
        <Chosen
          tools={chosen}
          isBusy={switching.isBusy}
          onSwitch={(enabled) =>
            change(
              chosen.filter(({ isOn }) => isOn !== enabled),
              enabled,
            )
          }
          onClear={() => setSelected(new Set())}
        />
      ) : (
        switching.last && <Changed {...switching} last={switching.last} />
      )}
    </>
  );
}

interface SumsProps extends Pick<ShownProps, 'endpoint' | 'known'> {
  readonly on: readonly BilledTool[];
  readonly unused: readonly BilledTool[];
}

/** What models of today take at the least, to compare with. */
const contextTokens = 200_000;

function Sums({ endpoint, on, unused, known }: SumsProps) {
  const { t } = useTranslation();
  const search = useQuery({ ...costsQuery({ ...endpoint, smart: true }) });
  const sum = sumOf(on);
  const searchSum = sumOf(billed(search.data ?? []));
  const servers = new Set(on.map(({ server }) => server)).size;
  const numbers = [
    [t('costs.total'), short(sum), t('costs.ofContext', { share: percent(sum / contextTokens) })],
    [t('costs.tools'), count(on.length), t('costs.ofServers', many(servers))],
    [
      t('costs.unusedTokens'),
      known.tools ? short(sumOf(unused)) : '–',
      known.tools ? t('costs.number', many(unused.length)) : t('costs.unknown'),
    ],
    [
      t('costs.searchTokens'),
      search.data ? short(searchSum) : '\u00a0',
      search.data && searchSum < sum ? t('costs.saves', { share: percent(1 - searchSum / sum) }) : '',
    ],
  ] as const;
  return (
    <dl className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      {numbers.map(([name, value, more]) => (
        <div key={name} className="panel flex flex-col px-4 py-3">
          <dt className="text-soft text-xs font-medium">{name}</dt>
          <dd>
            <span className="text-2xl font-semibold tracking-tight tabular-nums">{value}</span>
            <span className="text-soft block min-h-4 text-xs">{more}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface UnusedProps extends SumsProps {
  /** The one that is looked at; none when empty. */
  readonly server: string;
  readonly onSelect: (() => void) | undefined;
}

/** What can be saved, and for how long that is known. */
function Unused({ endpoint, on, unused, known, server, onSelect }: UnusedProps) {
  const { t } = useTranslation();
  const { isAdmin } = useMe();
  const when = useWhen(known);
  const [saved, all] = [sumOf(unused), sumOf(on)];
  const sum = { tokens: short(saved), all: short(all), share: percent(saved / all) };
  return (
    <section className="panel flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3 text-sm">
      <p className="min-w-0 flex-1 basis-72">
        {t(isAdmin ? 'costs.never' : 'costs.neverOwn', { ...many(unused.length), when })}{' '}
        {t(isAdmin ? 'costs.save' : 'costs.saveOwn', sum)}
        {!known.isWhole && <span className="text-soft block text-xs">{t('costs.young', { when })}</span>}
      </p>
      {onSelect && <Button onClick={onSelect}>{t('costs.selectUnused')}</Button>}
      {endpoint.smart !== true && !boot.readonly && <GroupOfUsed on={on} server={server} when={when} />}
    </section>
  );
}

interface GroupOfUsedProps {
  readonly on: readonly BilledTool[];
  readonly server: string;
  readonly when: string;
}

/** Makes a group of the tools that were called, of one server where one is looked at. */
function GroupOfUsed({ on, server, when }: GroupOfUsedProps) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const used = usedOf(on, server);
  if (!used) return null;
  const servers = [...byServer(used.tools)].map(([name, tools]) => ({ name, tools }));
  const [kept, whole] = [sumOf(used.tools), sumOf(used.all)];
  const proposal = {
    name: server === '' ? 'used' : `${server}-used`,
    servers,
    text: t('costs.groupText', {
      ...many(used.called),
      servers: servers.map(({ name }) => name).join(', '),
      when,
      tokens: short(kept),
      all: short(whole),
      share: percent(1 - kept / whole),
    }),
  };
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t('costs.groupOfUsed')}</Button>
      {open && <GroupDialog proposal={proposal} onClose={() => setOpen(false)} />}
    </>
  );
}

function Legend({ known }: Pick<ShownProps, 'known'>) {
  const { t } = useTranslation();
  const when = useWhen(known);
  const swatches = [
    ['bg-accent-wash', t(known.tools ? 'costs.called' : 'costs.tools')],
    ...(known.tools ? [['bg-warn-wash', t('costs.notCalled', { when })] as const] : []),
    ['bg-line', t('costs.small')],
  ] as const;
  return (
    <p aria-hidden className="text-soft mt-2 flex flex-wrap gap-x-4 text-xs">
      {swatches.map(([swatch, name]) => (
        <span key={swatch} className="flex items-center gap-1.5">
          <span className={`border-edge size-3 rounded-xs border ${swatch}`} />
          {name}
        </span>
      ))}
    </p>
  );
}
