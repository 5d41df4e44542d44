import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { ChevronDown, Pencil } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { queryClient, serverQuery } from '../../api/queries.ts';
import type { Group, GroupServer, ServerDetails, Tool } from '../../api/types.ts';
import { cx } from '../../lib/cx.ts';
import { many, short } from '../../lib/format.ts';
import { needTexts } from '../../i18n/i18n.ts';
import { lazily } from '../../lib/lazily.tsx';
import { tokensOf } from '../../lib/tokens.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Empty, Loading } from '../../ui/page.tsx';
import { ScrollList } from '../../ui/scroll-list.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import type { OverrideFormProps } from '../overrides/override-form.tsx';
import { Status } from '../servers/status.tsx';
import { chosen, type ContentRow, type ServerChoice, useRows, useSelect } from './selection.ts';

const OverrideForm = lazily<OverrideFormProps>(
  async () => {
    const [{ OverrideForm: Form }] = await Promise.all([
      import('../overrides/override-form.tsx'),
      needTexts('remarks'),
    ]);
    return Form;
  },
  ({ onClose }) => onClose(),
);

const route = getRouteApi('/shell/groups/$id');

interface GroupContentProps {
  readonly group: Group;
  readonly members: readonly GroupServer[];
  readonly changeable: boolean;
}

/** Servers and tools to choose from. Each choice holds at once. */
export function GroupContent({ group, members, changeable }: GroupContentProps) {
  const { t } = useTranslation();
  const { q = '' } = route.useSearch();
  const navigate = useNavigate({ from: '/groups/$id' });
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const { rows, loading, none } = useRows(members, q, opened, changeable);
  const select = useSelect(group);
  const [changing, setChanging] = useState<{ server: string; tool: string }>();
  const set = ({ name, selection }: ServerChoice, next: ServerChoice['selection']) =>
    select.mutate({ server: name, selection: next, isMember: selection !== undefined });
  const turn = (server: ServerChoice, tools: readonly string[], on: boolean) => {
    const before = server.selection === 'all' ? toolNames(server.name) : (server.selection ?? []);
    const others = before.filter((tool) => !tools.includes(tool));
    set(server, on ? [...others, ...tools] : others);
  };
  const turnFound = (on: boolean) => {
    const found = rows.flatMap((row) => (row.kind === 'tool' ? [row] : []));
    for (const name of new Set(found.map(({ server }) => server.name))) {
      const ofServer = found.filter(({ server }) => server.name === name);
      const [first] = ofServer;
      if (first && (on || first.server.selection !== undefined)) {
        turn(
          first.server,
          ofServer.map(({ tool }) => tool.originalName),
          on,
        );
      }
    }
  };
  if (none) return <Empty title={t('groups.noServerAtAll')} />;
  return (
    <div>
      <div className="border-line flex flex-wrap gap-2 border-b p-3">
        <SearchBox
          className="flex-1"
          label={t('groups.search')}
          value={q}
          onChange={(q) => void navigate({ search: (old) => ({ ...old, q }), replace: true })}
        />
        {changeable && q !== '' && (
          <>
            <Button onClick={() => turnFound(true)}>{t('groups.selectFound')}</Button>
            <Button onClick={() => turnFound(false)}>{t('groups.dropFound')}</Button>
          </>
        )}
      </div>
      {rows.length === 0 && loading ? (
        <Loading />
      ) : rows.length === 0 ? (
        <Empty title={t('common.nothingFound')} />
      ) : (
        <ScrollList
          label={t('groups.content')}
          items={rows}
          keyOf={keyOf}
          height={48}
          className="max-h-[32rem]"
          render={(row) => (
            <Row
              row={row}
              changeable={changeable}
              onOpen={(name, open) => setOpened(open ? new Set([...opened, name]) : without(opened, name))}
              onSet={set}
              onTurn={turn}
              onOverride={(server, tool) => setChanging({ server, tool })}
            />
          )}
        />
      )}
      {changing && (
        <OverrideForm
          {...changing}
          group={group}
          nameOnly={!manages(changing.server)}
          onClose={() => setChanging(undefined)}
        />
      )}
    </div>
  );
}

/** Whether the caller may change the server, as the hub said with its tools. */
function manages(server: string): boolean {
  return queryClient.getQueryData<ServerDetails>(serverQuery(server).queryKey)?.configRestricted !== true;
}

/** Which tools "all" means now. They were asked for before they could be switched. */
function toolNames(server: string): readonly string[] {
  const details = queryClient.getQueryData<{ tools: readonly Tool[] }>(serverQuery(server).queryKey);
  return (details?.tools ?? []).map(({ originalName }) => originalName);
}

function without(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  return new Set([...names].filter((each) => each !== name));
}

function keyOf(row: ContentRow): string {
  return JSON.stringify([row.kind, row.server.name, row.kind === 'tool' && row.tool.originalName]);
}

interface RowProps {
  readonly row: ContentRow;
  readonly changeable: boolean;
  readonly onOpen: (server: string, open: boolean) => void;
  readonly onSet: (server: ServerChoice, selection: ServerChoice['selection']) => void;
  readonly onTurn: (server: ServerChoice, tools: readonly string[], on: boolean) => void;
  readonly onOverride: (server: string, tool: string) => void;
}

const box = 'accent-accent size-4 shrink-0 pointer-coarse:size-6';

function Row(props: RowProps) {
  const { row, changeable, onSet } = props;
  const { t } = useTranslation();
  const { server } = row;
  switch (row.kind) {
    case 'server':
      return <ServerLine {...props} server={server} open={row.open} />;
    case 'none':
      return (
        <p className="text-soft border-line flex h-full items-center border-b pl-11 text-xs">{t('groups.noTools')}</p>
      );
    case 'all':
      return (
        <label className="border-line flex h-full items-center gap-2.5 border-b pr-3 pl-11 text-sm">
          <input
            type="checkbox"
            className={box}
            disabled={!changeable}
            checked={server.selection === 'all'}
            onChange={(event) => onSet(server, event.target.checked ? 'all' : toolNames(server.name))}
          />
          {t('groups.allTools')}
        </label>
      );
    case 'tool':
      return <ToolLine {...props} server={server} tool={row.tool} />;
  }
}

interface ToolLineProps extends RowProps {
  readonly server: ServerChoice;
  readonly tool: Tool;
}

function ToolLine({ server, tool, changeable, onTurn, onOverride }: ToolLineProps) {
  const { t } = useTranslation();
  const { originalName, description, enabled } = tool;
  const isChosen = chosen(server.selection, originalName);
  return (
    <div className="border-line hover:bg-hover/50 flex h-full items-center gap-1 border-b pr-3 pl-11">
      <label className="flex h-full min-w-0 flex-1 items-center gap-2.5">
        <input
          type="checkbox"
          className={box}
          disabled={!changeable}
          aria-label={t('groups.tool', { tool: originalName, server: server.name })}
          checked={isChosen}
          onChange={(event) => onTurn(server, [originalName], event.target.checked)}
        />
        <span className="min-w-0 flex-1">
          <span className="flex items-center gap-2">
            <code className={cx('min-w-0 truncate text-xs', !enabled && 'text-soft line-through')}>{originalName}</code>
            {server.overridden.includes(originalName) && <Badge tone="accent">{t('overrides.badge')}</Badge>}
          </span>
          <span className="text-soft block truncate text-xs">{enabled ? description : t('groups.off')}</span>
        </span>
        <span className="text-soft text-xs whitespace-nowrap tabular-nums">
          {t('common.tokens', { tokens: short(tokensOf(tool)) })}
        </span>
      </label>
      {changeable && isChosen && (
        <IconButton
          icon={Pencil}
          label={t('overrides.openOf', { tool: originalName })}
          onClick={() => onOverride(server.name, originalName)}
        />
      )}
    </div>
  );
}

interface ServerLineProps extends RowProps {
  readonly server: ServerChoice;
  readonly open: boolean;
}

function ServerLine({ server, open, changeable, onOpen, onSet }: ServerLineProps) {
  const { t } = useTranslation();
  const { name, selection, now } = server;
  return (
    <div className="border-line flex h-full items-center gap-2.5 border-b px-3">
      <label className="flex h-full items-center">
        <input
          type="checkbox"
          className={box}
          disabled={!changeable}
          aria-label={t('groups.member', { name })}
          checked={selection !== undefined}
          onChange={(event) => onSet(server, event.target.checked ? 'all' : undefined)}
        />
      </label>
      <button
        type="button"
        aria-expanded={open}
        disabled={!now}
        onClick={() => onOpen(name, !open)}
        className="flex h-full min-w-0 flex-1 items-center gap-2 text-left focus-visible:-outline-offset-2"
      >
        <span className="flex min-w-0 flex-1 items-center gap-2">
          <span className={cx('truncate text-sm', selection !== undefined && 'font-medium')}>{name}</span>
          {now && now.status !== 'connected' && <Status server={now} />}
        </span>
        <span className="text-soft text-xs whitespace-nowrap">{summary(server, t)}</span>
        <ChevronDown size={15} aria-hidden className={cx('text-soft transition-transform', !open && '-rotate-90')} />
      </button>
    </div>
  );
}

function summary({ selection, now }: ServerChoice, t: TFunction): string {
  if (!now) return t('groups.gone');
  if (selection === undefined) return '';
  if (selection === 'all') return t('groups.allOf', many(now.tools.total));
  return t('groups.someOf', { number: selection.length, total: now.tools.total });
}
