import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Library, ListChecks, Plus, Rows2, Rows4, Server } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { serverNamesQuery, serversQuery, useMe } from '../../api/queries.ts';
import type { ServerSummary } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { storage } from '../../lib/storage.ts';
import { Button, buttonClass, IconButton } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Select } from '../../ui/select.tsx';
import { Empty, Loading, Page } from '../../ui/page.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import { VirtualList } from '../../ui/virtual-list.tsx';
import { lazily } from '../../lib/lazily.tsx';
import { matches } from '../../lib/search.ts';
import { needsPerson } from './condition.ts';
import { useServerFigures } from './figures.tsx';
import { inOrder, type Order, orders } from './order.ts';
import { ServerRow } from './server-row.tsx';
import { statuses } from './status.tsx';

const route = getRouteApi('/shell/servers');
const Bulk = lazy(() => import('./bulk.tsx').then(({ Bulk }) => ({ default: Bulk })));
const AddServer = lazily(
  () => import('./add-server.tsx').then(({ AddServer }) => AddServer),
  ({ onClose }) => onClose(),
);

export function Servers() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/servers' });
  const { add } = route.useSearch();
  const openAdd = (way?: string) => void navigate({ search: (old) => ({ ...old, add: way }) });
  const button = !boot.readonly && (
    <>
      <Link to="/catalog" className={buttonClass()}>
        <Library size={15} aria-hidden className="shrink-0" />
        {t('nav.catalog')}
      </Link>
      <Button look="primary" icon={Plus} onClick={() => openAdd('form')}>
        {t('servers.add')}
      </Button>
    </>
  );
  return (
    <Page title={t('nav.servers')} lead={t('servers.lead')} actions={button}>
      <List onAdd={() => openAdd('form')} />
      {add !== undefined && <AddServer way={add} onWay={openAdd} onClose={() => openAdd()} />}
    </Page>
  );
}

function List({ onAdd }: { readonly onAdd: () => void }) {
  const { t } = useTranslation();
  const servers = useQuery(serversQuery);
  const figures = useServerFigures();
  const [dense, setDense] = useDense();
  /** Undefined while none are being chosen. */
  const [chosen, setChosen] = useState<ReadonlySet<string>>();
  const { q = '', status = '', sort, made } = route.useSearch();
  const found = useFoundTools(q);
  const navigate = useNavigate({ from: '/servers' });
  if (servers.error) return <Failure error={servers.error} retry={() => void servers.refetch()} />;
  if (!servers.data) return <Loading rows={5} />;
  if (servers.data.length === 0) return <NoServers onAdd={onAdd} />;
  const named = servers.data.filter(({ name, description }) => matches(q, name, description) || found.has(name));
  const fresh = new Set(made?.split(','));
  const inState = (state: string) => named.filter((server) => isIn(server, state));
  const order: Order = orders.find((each) => each === sort) ?? 'problems';
  const shown = inOrder(inState(status), order, { fresh, figures });
  const choose = (name: string, isChosen: boolean) =>
    setChosen((old = new Set()) => new Set(isChosen ? [...old, name] : [...old].filter((each) => each !== name)));
  const changeable = boot.readonly ? [] : shown.filter(({ managed }) => managed);
  return (
    <>
      <Controls
        inState={inState}
        order={order}
        dense={dense}
        onDense={setDense}
        onChoose={changeable.length > 0 && !chosen ? () => setChosen(new Set()) : undefined}
      />
      {chosen && (
        <Suspense>
          <Bulk
            shown={changeable}
            chosen={chosen}
            onChoose={(names) => setChosen(new Set(names))}
            onClose={() => setChosen(undefined)}
          />
        </Suspense>
      )}
      <div className="panel">
        {shown.length === 0 ? (
          <Empty title={t('common.nothingFound')}>
            <Button onClick={() => void navigate({ search: (old) => ({ ...old, q: '', status: '' }), replace: true })}>
              {t('common.clearFilters')}
            </Button>
          </Empty>
        ) : (
          <VirtualList
            label={t('nav.servers')}
            items={shown}
            keyOf={({ name }) => name}
            height={dense ? 41 : 68}
            render={(server) => (
              <ServerRow
                server={server}
                isNew={fresh.has(server.name)}
                foundTools={found.get(server.name)}
                figures={figures && (figures.get(server.name) ?? null)}
                dense={dense}
                choice={chosen && { isChosen: chosen.has(server.name), onChange: (is) => choose(server.name, is) }}
              />
            )}
          />
        )}
      </div>
    </>
  );
}

interface ControlsProps {
  /** Those in that state, of what is searched for. */
  readonly inState: (state: string) => readonly ServerSummary[];
  readonly order: Order;
  readonly dense: boolean;
  readonly onDense: (dense: boolean) => void;
  /** Begins to choose several; undefined where none can be changed. */
  readonly onChoose: (() => void) | undefined;
}

function Controls({ inState, order, dense, onDense, onChoose }: ControlsProps) {
  const { t } = useTranslation();
  const { q = '', status = '' } = route.useSearch();
  const navigate = useNavigate({ from: '/servers' });
  const numbered = (state: string, label: string) => ({ value: state, label: `${label} (${inState(state).length})` });
  const narrow = (part: { q?: string; status?: string; sort?: string | undefined }) =>
    void navigate({ search: (old) => ({ ...old, ...part }), replace: true });
  return (
    <div className="flex flex-wrap gap-2">
      <SearchBox
        className="basis-full sm:max-w-80 sm:flex-1 sm:basis-0"
        label={t('servers.search')}
        value={q}
        onChange={(q) => narrow({ q })}
      />
      <Select
        aria-label={t('servers.status')}
        className="flex-auto sm:flex-none"
        value={status}
        onChange={(event) => narrow({ status: event.target.value })}
        options={[
          { value: '', label: t('servers.anyStatus') },
          numbered(needy, t('servers.needsYou')),
          ...statuses.map((value) => numbered(value, t(`servers.state.${value}`))),
        ]}
      />
      <Select
        aria-label={t('servers.order')}
        className="flex-auto sm:flex-none"
        value={order}
        onChange={({ target: { value } }) => narrow({ sort: value === 'problems' ? undefined : value })}
        options={orders.map((value) => ({ value, label: t(`servers.orders.${value}`) }))}
      />
      <span className="flex gap-1">
        <IconButton
          icon={dense ? Rows2 : Rows4}
          label={t(dense ? 'servers.roomy' : 'servers.dense')}
          onClick={() => onDense(!dense)}
        />
        {onChoose && <IconButton icon={ListChecks} label={t('servers.several')} onClick={onChoose} />}
      </span>
    </div>
  );
}

function NoServers({ onAdd }: { readonly onAdd: () => void }) {
  const { t } = useTranslation();
  const me = useMe();
  return (
    <div className="panel">
      <Empty
        icon={Server}
        title={t('servers.emptyTitle')}
        text={t(me.isAdmin ? 'servers.emptyText' : 'servers.emptyUser')}
      >
        {!boot.readonly && (
          <>
            <Link to="/catalog" className={buttonClass()}>
              {t('nav.catalog')}
            </Link>
            <Button look="primary" icon={Plus} onClick={onAdd}>
              {t('servers.add')}
            </Button>
          </>
        )}
      </Empty>
    </div>
  );
}

/** Whether rows take one line; kept in this browser. */
function useDense() {
  const [dense, setDense] = useState(() => storage.get('servers.dense') === 'true');
  return [
    dense,
    (next: boolean): void => {
      storage.set('servers.dense', next ? 'true' : undefined);
      setDense(next);
    },
  ] as const;
}

/** In place of a status: those that stay away until a person does something. */
const needy = 'needs';

function isIn(server: ServerSummary, state: string): boolean {
  return state === '' || (state === needy ? needsPerson(server) : server.status === state);
}

/** By server the tools whose names fit what is searched for; asked for only while something is. */
function useFoundTools(q: string): ReadonlyMap<string, readonly string[]> {
  const { data = [] } = useQuery({ ...serverNamesQuery, enabled: q.trim() !== '' });
  if (q.trim() === '') return new Map();
  const found = data.map(({ name, tools }) => [name, tools.filter((tool) => matches(q, name, tool))] as const);
  return new Map(found.filter(([, tools]) => tools.length > 0));
}
