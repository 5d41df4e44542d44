import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { ChevronRight, FlaskConical, Server, Wrench } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { serverNamesQuery, serverQuery, serversQuery } from '../../api/queries.ts';
import type { ServerDetails, ServerSummary, Tool } from '../../api/types.ts';
import { many } from '../../lib/format.ts';
import { cx } from '../../lib/cx.ts';
import { matches } from '../../lib/search.ts';
import { titleOf } from '../../lib/tool-title.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Select } from '../../ui/field.tsx';
import { Empty, Loading, Page, Panel } from '../../ui/page.tsx';
import { ScrollList } from '../../ui/scroll-list.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import { VirtualList } from '../../ui/virtual-list.tsx';
import { Status } from '../servers/status.tsx';
import { CallTool } from './call-tool.tsx';

const route = getRouteApi('/shell/tools');

export function Playground() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/tools' });
  const { server } = route.useSearch();
  const servers = useQuery(serversQuery);
  if (servers.error) return <Failure error={servers.error} retry={() => void servers.refetch()} />;
  const names = (servers.data ?? []).filter(({ enabled }) => enabled).map(({ name }) => name);
  const chooser = (
    <Select
      aria-label={t('play.server')}
      value={server ?? ''}
      onChange={(event) => void navigate({ search: { server: event.target.value } })}
      options={[{ value: '', label: t('play.chooseServer') }, ...names.map((name) => ({ value: name, label: name }))]}
    />
  );
  return (
    <Page title={t('nav.tools')} lead={t('play.lead')} actions={chooser}>
      {server === undefined ? <ChooseServer servers={servers.data} /> : <ToolsOf key={server} name={server} />}
    </Page>
  );
}

/** Until there is a server: all of them, to choose one. */
function ChooseServer({ servers }: { readonly servers: readonly ServerSummary[] | undefined }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/tools' });
  const { q = '' } = route.useSearch();
  if (!servers) return <Loading rows={5} />;
  const usable = servers.filter(({ enabled }) => enabled);
  if (usable.length === 0) {
    return (
      <div className="panel">
        <Empty icon={Server} title={t('servers.emptyTitle')} text={t('play.nothingToCall')}>
          <Link to="/servers" className={buttonClass('primary')}>
            {t('nav.servers')}
          </Link>
        </Empty>
      </div>
    );
  }
  return (
    <Panel flush title={t('play.noServer')} lead={t('play.noServerText')}>
      <div className="border-line border-b p-2">
        <SearchBox
          label={t('play.searchAll')}
          value={q}
          onChange={(q) => void navigate({ search: (old) => ({ ...old, q }), replace: true })}
        />
      </div>
      {q.trim() !== '' ? (
        <FoundTools q={q} />
      ) : (
        <VirtualList
          label={t('nav.servers')}
          items={usable}
          keyOf={({ name }) => name}
          height={60}
          render={(server) => (
            <Link
              to="/tools"
              search={{ server: server.name }}
              className="hover:bg-hover/50 flex items-center gap-3 px-4 py-2.5 focus-visible:-outline-offset-2"
            >
              <span className="min-w-0 flex-1">
                <span className="flex flex-wrap items-center gap-2 text-sm font-medium">
                  <span className="min-w-0 break-words">{server.name}</span>
                  {server.status !== 'connected' && <Status server={server} />}
                </span>
                <span className="text-soft block truncate text-xs">{server.description}</span>
              </span>
              <span className="text-soft text-xs whitespace-nowrap tabular-nums">
                {t('play.toolCount', many(server.tools.total))}
              </span>
              <ChevronRight size={15} aria-hidden className="text-soft" />
            </Link>
          )}
        />
      )}
    </Panel>
  );
}

/** More than these are found by more words. */
const mostFound = 200;

/** The tools of all servers whose names or titles fit. */
function FoundTools({ q }: { readonly q: string }) {
  const { t } = useTranslation();
  const { data } = useQuery(serverNamesQuery);
  if (!data) return <Loading rows={5} />;
  const found = data
    .filter(({ enabled }) => enabled)
    .flatMap(({ name: server, tools, titles = {} }) =>
      tools.flatMap((tool) => (matches(q, server, tool, titles[tool]) ? [{ server, tool, title: titles[tool] }] : [])),
    );
  if (found.length === 0) return <p className="text-soft p-4 text-sm">{t('common.nothingFound')}</p>;
  return (
    <VirtualList
      label={t('play.tools')}
      items={found.slice(0, mostFound)}
      keyOf={({ server, tool }) => `${server} ${tool}`}
      height={56}
      render={({ server, tool, title }) => (
        <Link
          to="/tools"
          search={{ server, tool }}
          className="hover:bg-hover/50 block px-4 py-2.5 focus-visible:-outline-offset-2"
        >
          <span className="block text-sm font-medium break-words">{title ?? tool}</span>
          <span className="text-soft block truncate text-xs">
            {server} · <code>{tool}</code>
          </span>
        </Link>
      )}
    />
  );
}

function ToolsOf({ name }: { readonly name: string }) {
  const { t } = useTranslation();
  const server = useQuery(serverQuery(name));
  const { tool: chosen } = route.useSearch();
  const [picked, setPicked] = useState<string>();
  if (server.error) return <Failure error={server.error} retry={() => void server.refetch()} />;
  if (!server.data) return <Loading rows={6} />;
  const { tools } = server.data;
  if (tools.length === 0) {
    return (
      <div className="panel">
        <Empty icon={Wrench} title={t('play.noTools')} text={server.data.error ?? t('play.noToolsText')} />
      </div>
    );
  }
  const tool = tools.find(({ originalName, name }) => originalName === chosen || name === chosen);
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[17rem_minmax(0,1fr)]">
      <Choose server={server.data} chosen={tool} onPick={setPicked} />
      {tool ? (
        <CallTool
          key={`${name} ${tool.originalName}`}
          server={name}
          tool={tool}
          takesFocus={tool.originalName === picked}
        />
      ) : (
        <div className="panel">
          <Empty icon={FlaskConical} title={t('play.noTool')} text={t('play.noToolText')} />
        </div>
      )}
    </div>
  );
}

interface ChooseProps {
  readonly server: ServerDetails;
  readonly chosen: Tool | undefined;
  readonly onPick: (tool: string) => void;
}

function Choose({ server: { tools }, chosen, onPick }: ChooseProps) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/tools' });
  const { q = '' } = route.useSearch();
  const found = tools.filter((tool) => matches(q, tool.originalName, titleOf(tool), tool.description));
  return (
    <section aria-label={t('play.tools')} className={cx('panel overflow-hidden', chosen && 'max-lg:order-last')}>
      <div className="border-line border-b p-2">
        <SearchBox
          label={t('play.search')}
          value={q}
          onChange={(q) => void navigate({ search: (old) => ({ ...old, q }), replace: true })}
        />
      </div>
      {found.length === 0 ? (
        <p className="text-soft p-4 text-sm">{t('common.nothingFound')}</p>
      ) : (
        <ScrollList
          label={t('play.tools')}
          items={found}
          keyOf={({ originalName }) => originalName}
          height={52}
          className="max-h-72 lg:max-h-[calc(100dvh-15rem)]"
          render={(tool) => {
            const isChosen = tool === chosen;
            return (
              <button
                type="button"
                aria-current={isChosen ? 'true' : undefined}
                onClick={() => {
                  onPick(tool.originalName);
                  void navigate({ search: (old) => ({ ...old, tool: tool.originalName }) });
                }}
                className={cx(
                  'block h-full w-full px-3 text-left focus-visible:-outline-offset-2',
                  isChosen ? 'bg-accent-wash' : 'hover:bg-hover',
                )}
              >
                <ToolName tool={tool} />
                <span className="text-soft block truncate text-xs">{tool.description}</span>
              </button>
            );
          }}
        />
      )}
    </section>
  );
}

/** Its title where it has one, which is for people, and its name. */
function ToolName({ tool }: { readonly tool: Tool }) {
  const title = titleOf(tool);
  const off = !tool.enabled && 'line-through opacity-70';
  if (title === undefined)
    return <code className={cx('block truncate text-[0.8125rem]', off)}>{tool.originalName}</code>;
  return (
    <span className={cx('flex items-baseline gap-2', off)}>
      <span className="min-w-0 truncate text-sm">{title}</span>
      <code className="text-soft min-w-0 flex-1 truncate text-xs">{tool.originalName}</code>
    </span>
  );
}
