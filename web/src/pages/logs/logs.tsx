import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Download, Pause, Play, ScrollText, Trash2 } from 'lucide-react';
import { type KeyboardEvent, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { ask } from '../../api/client.ts';
import { serversQuery, useMe } from '../../api/queries.ts';
import type { LogEntry } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { useAction } from '../../lib/action.ts';
import { useDelayed } from '../../lib/delayed.ts';
import { download, fileTime } from '../../lib/download.ts';
import { count, dateTime, many } from '../../lib/format.ts';
import { Badge, Dot } from '../../ui/badge.tsx';
import { Button, buttonClass, IconButton } from '../../ui/button.tsx';
import { confirm } from '../../ui/confirm.tsx';
import { Failure, useErrorText } from '../../ui/failure.tsx';
import { Select } from '../../ui/select.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { Empty, Loading, Page } from '../../ui/page.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import { toast } from '../../ui/toast.tsx';
import { type Feed, type LogFeed, type LogFilter, createFeed } from './feed.ts';
import { levels, levelsIn, toggled } from './level.ts';
import { Lines } from './lines.tsx';

const route = getRouteApi('/shell/logs');

/** The hub's log, live. */
export function Logs() {
  const { t } = useTranslation();
  const { level = '', service = '', q = '', from, to } = route.useSearch();
  const searched = useDelayed(q, 250);
  const key = JSON.stringify({ level: levelsIn(level).join(','), service, q: searched, from, to });
  const [paused, setPaused] = useState(false);
  const { feed, control } = useFeed(key, paused);
  const keyboard = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'p') setPaused(!paused);
    else if (event.key === '/') {
      event.preventDefault();
      document.querySelector<HTMLInputElement>('#log-search')?.focus();
    }
  };
  return (
    <Page title={t('nav.logs')} lead={t('logs.lead')} actions={<Actions feed={feed} onPause={setPaused} />}>
      <div className="panel flex h-[calc(100dvh-11rem)] min-h-96 flex-col md:h-[calc(100dvh-8.5rem)]">
        <Filters feed={feed} />
        <Stretch />
        <Content key={key} feed={feed} control={control} onKeyDown={keyboard} />
      </div>
    </Page>
  );
}

/** The stream for a filter (as JSON); another filter is another stream, and stands still too while it is paused. */
function useFeed(key: string, paused: boolean): Parts {
  const control = useMemo(() => createFeed(JSON.parse(key) as LogFilter), [key]);
  useEffect(() => (paused ? control.pause() : control.resume()), [control, paused]);
  return { feed: useSyncExternalStore(control.subscribe, control.get), control };
}

interface Parts {
  readonly feed: Feed;
  readonly control: LogFeed;
}

interface ActionsProps extends Pick<Parts, 'feed'> {
  readonly onPause: (paused: boolean) => void;
}

function Actions({ feed: { paused, waiting, entries }, onPause }: ActionsProps) {
  const { t } = useTranslation();
  const { isAdmin } = useMe();
  const clear = useAction({
    run: () => ask('/logs', { method: 'DELETE' }),
    done: () => toast.good(t('logs.cleared')),
  });
  const askToClear = async () => {
    if (await confirm({ title: t('logs.clearTitle'), text: t('logs.clearText'), action: t('logs.clear') }))
      clear.mutate();
  };
  return (
    <>
      <Button icon={paused ? Play : Pause} onClick={() => onPause(!paused)}>
        {t(paused ? 'logs.resume' : 'logs.pause')}
        {paused && waiting.length > 0 && (
          <Badge tone="accent">{t('logs.waiting', { number: count(waiting.length) })}</Badge>
        )}
      </Button>
      <Menu
        trigger={
          <button type="button" className={buttonClass()} disabled={entries.length === 0}>
            <Download size={15} aria-hidden />
            {t('common.download')}
          </button>
        }
      >
        <MenuItem onSelect={() => save(entries, 'log')}>{t('logs.asText')}</MenuItem>
        <MenuItem onSelect={() => save(entries, 'jsonl')}>{t('logs.asJson')}</MenuItem>
      </Menu>
      {isAdmin && !boot.readonly && (
        <IconButton icon={Trash2} label={t('logs.clear')} busy={clear.isPending} onClick={() => void askToClear()} />
      )}
    </>
  );
}

/** What is shown, and nothing else. */
function save(entries: readonly LogEntry[], kind: 'log' | 'jsonl'): void {
  const lines = entries.map((entry) =>
    kind === 'jsonl'
      ? JSON.stringify(entry)
      : `${entry.timestamp} ${entry.level.padEnd(5)} ${entry.service} ${entry.message}`,
  );
  download(`toolhub-${fileTime()}.${kind}`, `${lines.join('\n')}\n`);
}

function Filters({ feed }: Pick<Parts, 'feed'>) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/logs' });
  const { level = '', service = '', q = '', from, to } = route.useSearch();
  const past = feed.state === 'open' && (from !== undefined || to !== undefined);
  const narrow = (part: LogFilter) => void navigate({ search: (old) => ({ ...old, ...part }), replace: true });
  const chosen = levelsIn(level);
  return (
    <div className="border-line flex flex-wrap items-center gap-2 border-b p-2.5">
      <SearchBox
        id="log-search"
        className="flex-1 sm:max-w-72"
        label={t('logs.search')}
        value={q}
        onChange={(next) => narrow({ q: next || undefined })}
      />
      <Services service={service} entries={feed.entries} onChange={(next) => narrow({ service: next || undefined })} />
      <div role="group" aria-label={t('logs.levels')} className="flex gap-1">
        {levels.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={chosen.includes(each)}
            onClick={() => narrow({ level: toggled(level, each) || undefined })}
            className="border-edge text-soft aria-pressed:bg-accent-wash aria-pressed:text-accent-ink min-h-8 rounded-md border px-2 text-xs font-medium aria-pressed:border-transparent pointer-coarse:min-h-10"
          >
            {each}
          </button>
        ))}
      </div>
      <p role="status" className="text-soft ml-auto flex items-center gap-1.5 text-xs">
        <Dot tone={feed.paused ? 'warn' : past ? 'plain' : feed.state === 'open' ? 'good' : 'bad'} />
        {t(feed.paused ? 'logs.paused' : past ? 'logs.past' : `logs.state.${feed.state}`)}
        <span className="tabular-nums" aria-hidden>
          · {t('logs.count', many(feed.entries.length))}
        </span>
      </p>
    </div>
  );
}

/** Of which time the lines are, where they are not all of it. */
function Stretch() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/logs' });
  const { from, to } = route.useSearch();
  if (from === undefined && to === undefined) return null;
  const shown = (time: string | undefined) =>
    time === undefined || Number.isNaN(Date.parse(time)) ? '…' : dateTime(time);
  const live = () => void navigate({ search: (old) => ({ ...old, from: undefined, to: undefined }), replace: true });
  return (
    <p className="border-line text-soft flex flex-wrap items-center gap-2 border-b px-3 py-1 text-xs">
      {t('logs.stretch', { from: shown(from), to: shown(to) })}
      <Button onClick={live}>{t('logs.live')}</Button>
    </p>
  );
}

interface ServicesProps {
  readonly service: string;
  readonly entries: readonly LogEntry[];
  readonly onChange: (service: string) => void;
}

/** Who writes to the log: the hub's own parts, the servers, and other services with entries here. */
function Services({ service, entries, onChange }: ServicesProps) {
  const { t } = useTranslation();
  const { isAdmin } = useMe();
  const servers = useQuery(serversQuery);
  const names = new Set([
    ...(isAdmin ? ['hub', 'gateway', 'api', 'search'] : []),
    ...(servers.data ?? []).map(({ name }) => `server:${name}`),
    // The newest are enough: it is asked at each line that comes.
    ...entries.slice(-2_000).map((entry) => entry.service),
    ...(service === '' ? [] : [service]),
  ]);
  return (
    <Select
      aria-label={t('logs.service')}
      className="sm:max-w-52"
      value={service}
      onChange={(event) => onChange(event.target.value)}
      options={[
        { value: '', label: t('logs.anyService') },
        ...[...names].sort().map((value) => ({ value, label: value })),
      ]}
    />
  );
}

function Content({ feed, control, onKeyDown }: Parts & { readonly onKeyDown: (event: KeyboardEvent) => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/logs' });
  const { isAdmin } = useMe();
  const words = useErrorText();
  const { level = '', service = '', q = '', from, to } = route.useSearch();
  const filtered = level !== '' || service !== '' || q !== '' || from !== undefined || to !== undefined;
  const { entries, state, error } = feed;
  if (entries.length === 0) {
    if (state === 'lost') return <Failure error={error} />;
    if (state === 'connecting') return <Loading rows={8} />;
    return filtered ? (
      <Empty title={t('common.nothingFound')} text={t('logs.nothingYet')}>
        <Button onClick={() => void navigate({ search: {}, replace: true })}>{t('common.clearFilters')}</Button>
      </Empty>
    ) : (
      <Empty icon={ScrollText} title={t('logs.emptyTitle')} text={t(isAdmin ? 'logs.emptyText' : 'logs.emptyUser')} />
    );
  }
  const older = () => void control.loadOlder().catch((failure: unknown) => toast.bad(words(failure)));
  return (
    <>
      {feed.incomplete === true && (
        <p role="status" className="text-soft border-line border-b px-3 py-1 text-xs">
          {t('logs.incomplete')}
        </p>
      )}
      {feed.older === 'loading' && (
        <p role="status" className="text-soft border-line border-b px-3 py-1 text-xs">
          {t('logs.loadingOlder')}
        </p>
      )}
      <Lines entries={entries} q={q} onKeyDown={onKeyDown} onTop={older} />
    </>
  );
}
