import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { ChevronRight, FlaskConical, Server, Wrench } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { serverQuery, serversQuery } from '../../api/queries.ts';
import type { ServerDetails, ServerSummary, Tool } from '../../api/types.ts';
import { many } from '../../lib/format.ts';
import { cx } from '../../lib/cx.ts';
import { titleOf } from '../../lib/tool-title.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Select } from '../../ui/select.tsx';
import { Empty, Loading, Page, Panel } from '../../ui/page.tsx';
import { ScrollList } from '../../ui/scroll-list.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import { VirtualList } from '../../ui/virtual-list.tsx';
import { Status } from '../servers/status.tsx';
import { CallTool } from './call-tool.tsx';
import { FoundTools, moveThroughFound } from './find-tools.tsx';
import { useReplay } from './use-replay.ts';

const route = getRouteApi('/shell/tools');

export function Playground() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/tools' });
  const { server } = route.useSearch();
  const [picked, setPicked] = useState<string>();
  const pick = (of: string, tool: string) => setPicked(nameOf(of, tool));
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
      {server === undefined ? (
        <ChooseServer servers={servers.data} onPick={pick} />
      ) : (
        <ToolsOf key={server} name={server} picked={picked} onPick={pick} />
      )}
    </Page>
  );
}

interface Picking {
  readonly onPick: (server: string, tool: string) => void;
}

function nameOf(server: string, tool: string): string {
  return `${server} ${tool}`;
}

/** Until there is a server: all of them, to choose one. */
function ChooseServer({ servers, onPick }: Picking & { readonly servers: readonly ServerSummary[] | undefined }) {
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
      <div role="group" aria-label={t('play.tools')} onKeyDown={moveThroughFound}>
        <div className="border-line border-b p-2">
          <SearchBox
            label={t('play.searchAll')}
            value={q}
            onChange={(q) => void navigate({ search: (old) => ({ ...old, q }), replace: true })}
          />
        </div>
        {q.trim() !== '' ? (
          <FoundTools q={q} onFollow={onPick} />
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
      </div>
    </Panel>
  );
}

function ToolsOf({ name, picked, onPick }: Picking & { readonly name: string; readonly picked: string | undefined }) {
  const { t } = useTranslation();
  const server = useQuery(serverQuery(name));
  const { tool: chosen, from } = route.useSearch();
  const { replay, isLoading } = useReplay(from, name);
  if (server.error) return <Failure error={server.error} retry={() => void server.refetch()} />;
  if (!server.data || isLoading) return <Loading rows={6} />;
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
      <Choose server={server.data} chosen={tool} onPick={onPick} />
      {tool ? (
        <CallTool
          key={`${nameOf(name, tool.originalName)} ${from ?? ''}`}
          server={name}
          tool={tool}
          takesFocus={nameOf(name, tool.originalName) === picked}
          replay={replay}
        />
      ) : (
        <div className="panel">
          <Empty icon={FlaskConical} title={t('play.noTool')} text={t('play.noToolText')} />
        </div>
      )}
    </div>
  );
}

interface ChooseProps extends Picking {
  readonly server: ServerDetails;
  readonly chosen: Tool | undefined;
}

/** The tools of the server, and while something is searched for, those of all servers. */
function Choose({ server: { name: server, tools }, chosen, onPick }: ChooseProps) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/tools' });
  const { q = '' } = route.useSearch();
  return (
    <section
      aria-label={t('play.tools')}
      className={cx('panel overflow-hidden', chosen && q === '' && 'max-lg:order-last')}
      onKeyDown={moveThroughFound}
    >
      <div className="border-line border-b p-2">
        <SearchBox
          label={t('play.searchAll')}
          value={q}
          onChange={(q) => void navigate({ search: (old) => ({ ...old, q }), replace: true })}
        />
      </div>
      {q.trim() !== '' ? (
        <div className="max-h-72 overflow-y-auto lg:max-h-[calc(100dvh-15rem)]">
          <FoundTools q={q} open={server} onFollow={onPick} />
        </div>
      ) : (
        <ScrollList
          label={t('play.tools')}
          items={tools}
          keyOf={({ originalName }) => originalName}
          height={52}
          className="max-h-72 lg:max-h-[calc(100dvh-15rem)]"
          render={(tool) => {
            const isChosen = tool === chosen;
            return (
              <button
                type="button"
                data-found
                aria-current={isChosen ? 'true' : undefined}
                onClick={() => {
                  onPick(server, tool.originalName);
                  void navigate({ search: { server, tool: tool.originalName } });
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
