import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { ChevronDown, FlaskConical, Wrench } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import { serverQuery } from '../../api/queries.ts';
import type { ServerDetails, Tool } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { guess, useAction } from '../../lib/action.ts';
import { count, short } from '../../lib/format.ts';
import { cx } from '../../lib/cx.ts';
import { matches } from '../../lib/search.ts';
import { tokensOf } from '../../lib/tokens.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Empty } from '../../ui/page.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import { Switch } from '../../ui/switch.tsx';
import { VirtualList } from '../../ui/virtual-list.tsx';
import { isReady } from './condition.ts';
import { ToolDetails } from './tool-details.tsx';

const route = getRouteApi('/shell/servers/$name');

/** The tools of a server, each with its switch, its words and what it costs. */
export function ToolList({ server }: { readonly server: ServerDetails }) {
  const { t } = useTranslation();
  const { name, tools } = server;
  const { q = '', tool: open } = route.useSearch();
  const navigate = useNavigate({ from: '/servers/$name' });
  const changeable = server.configRestricted !== true && !boot.readonly;
  const switching = useSwitchTools(name);
  if (tools.length === 0) {
    return (
      <div className="panel">
        <Empty
          icon={Wrench}
          title={t(isReady(server) ? 'servers.noTools' : 'servers.unknownTools')}
          text={t(isReady(server) ? 'servers.noToolsText' : 'servers.noToolsYet')}
        />
      </div>
    );
  }
  const found = tools.filter((tool) => matches(q, tool.originalName, tool.description));
  const enabled = tools.filter((tool) => tool.enabled);
  const tokens = enabled.reduce((sum, tool) => sum + tokensOf(tool), 0);
  const sum = { enabled: count(enabled.length), total: count(tools.length), tokens: short(tokens) };
  const setAll = (on: boolean) => {
    const names = found.filter((tool) => tool.enabled !== on).map(({ originalName }) => originalName);
    if (names.length > 0) switching.mutate({ names, enabled: on });
  };
  const show = (tool: string | undefined) => void navigate({ search: (old) => ({ ...old, tool }), replace: true });
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <SearchBox
          className="flex-1 basis-full sm:max-w-80 sm:basis-auto"
          label={t('servers.searchTools')}
          value={q}
          onChange={(q) => void navigate({ search: (old) => ({ ...old, q }), replace: true })}
        />
        <p className="text-soft flex-1 basis-full text-xs sm:basis-48">
          {t('servers.enabledSum', sum)}{' '}
          <Link to="/tools/costs" search={{ server: name }} className="touch rounded-sm underline underline-offset-2">
            {t('nav.costs')}
          </Link>
        </p>
        {changeable && (
          <>
            <Button busy={switching.isPending} onClick={() => setAll(true)}>
              {t('servers.allOn')}
            </Button>
            <Button busy={switching.isPending} onClick={() => setAll(false)}>
              {t('servers.allOff')}
            </Button>
          </>
        )}
      </div>
      <div className="panel">
        {found.length === 0 ? (
          <Empty title={t('common.nothingFound')} />
        ) : (
          <VirtualList
            label={t('servers.tabs.tools')}
            items={found}
            keyOf={({ originalName }) => originalName}
            height={60}
            render={(tool) => (
              <ToolRow
                server={name}
                tool={tool}
                open={open === tool.originalName}
                onOpen={(next) => show(next ? tool.originalName : undefined)}
                onSwitch={
                  changeable ? (on) => switching.mutate({ names: [tool.originalName], enabled: on }) : undefined
                }
              />
            )}
          />
        )}
      </div>
    </div>
  );
}

/** Switches one tool, or many in one change. */
function useSwitchTools(server: string) {
  return useAction<{ names: readonly string[]; enabled: boolean }>({
    run: ({ names, enabled }) =>
      ask(`/servers${pathOf(server)}/tools/toggle`, { method: 'POST', body: { items: names, enabled } }),
    at: ({ names, enabled }) => {
      const changed = new Set(names);
      const one = (tool: Tool) => (changed.has(tool.originalName) ? { ...tool, enabled } : tool);
      return [guess<ServerDetails>(serverQuery(server).queryKey, (old) => ({ ...old, tools: old.tools.map(one) }))];
    },
  });
}

interface ToolRowProps {
  readonly server: string;
  readonly tool: Tool;
  readonly open: boolean;
  readonly onOpen: (open: boolean) => void;
  readonly onSwitch: ((enabled: boolean) => void) | undefined;
}

function ToolRow({ server, tool, open, onOpen, onSwitch }: ToolRowProps) {
  const { t } = useTranslation();
  const { originalName, description, enabled, hasDescriptionOverride, hasOverride } = tool;
  return (
    <div className={cx('px-4 py-2', !enabled && 'bg-page/60')}>
      <div className="flex items-center gap-3">
        <button
          type="button"
          aria-expanded={open}
          onClick={() => onOpen(!open)}
          className="flex min-w-0 flex-1 items-center gap-2.5 rounded-md py-0.5 text-left"
        >
          <ChevronDown
            size={15}
            aria-hidden
            className={cx('text-soft shrink-0 transition-transform', !open && '-rotate-90')}
          />
          <span className="min-w-0 flex-1">
            <span className="flex flex-wrap items-center gap-2">
              <code className={cx('text-[0.8125rem] break-all', !enabled && 'text-soft')}>{originalName}</code>
              {hasOverride ? (
                <Badge tone="accent">{t('overrides.badge')}</Badge>
              ) : (
                hasDescriptionOverride && <Badge tone="accent">{t('servers.overridden')}</Badge>
              )}
            </span>
            <span className="text-soft line-clamp-1 text-xs break-words">{description}</span>
          </span>
        </button>
        <span className="text-soft hidden text-xs whitespace-nowrap tabular-nums sm:inline">
          {t('common.tokens', { tokens: short(tokensOf(tool)) })}
        </span>
        <Link
          to="/tools"
          search={{ server, tool: originalName }}
          aria-label={`${t('servers.tryIt')}: ${originalName}`}
          className={cx(buttonClass('quiet'), '!px-2')}
        >
          <FlaskConical size={15} aria-hidden />
        </Link>
        {onSwitch && (
          <Switch label={t('servers.enableTool', { name: originalName })} checked={enabled} onChange={onSwitch} />
        )}
      </div>
      {open && <ToolDetails server={server} tool={tool} changeable={onSwitch !== undefined} />}
    </div>
  );
}
