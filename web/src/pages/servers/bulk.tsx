import { Power, PowerOff, RotateCw, Trash2, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError, ask, pathOf } from '../../api/client.ts';
import { refresh } from '../../api/queries.ts';
import type { ServerSummary } from '../../api/types.ts';
import { count, many } from '../../lib/format.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { confirm } from '../../ui/confirm.tsx';
import { useErrorText } from '../../ui/failure.tsx';

type Deed = 'reload' | 'on' | 'off' | 'remove';

/** One request for one server. */
function doTo(name: string, deed: Deed): Promise<unknown> {
  const path = `/servers${pathOf(name)}`;
  switch (deed) {
    case 'reload':
      return ask(`${path}/reload`, { method: 'POST' });
    case 'on':
    case 'off':
      return ask(`${path}/toggle`, { method: 'POST', body: { enabled: deed === 'on' } });
    case 'remove':
      return ask(path, { method: 'DELETE' });
  }
}

interface Run {
  readonly total: number;
  /** What came of it, by server; undefined: it was done. */
  readonly results: readonly (readonly [name: string, failure: string | undefined])[];
  readonly isOver: boolean;
}

interface BulkProps {
  /** Those that can be chosen, as they are shown. */
  readonly shown: readonly ServerSummary[];
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (names: readonly string[]) => void;
  readonly onClose: () => void;
}

/** What is done to several servers: one after the other, and what came of it for each. */
export function Bulk({ shown, chosen, onChoose, onClose }: BulkProps) {
  const { t } = useTranslation();
  const { run, start, stop } = useRun();
  const servers = shown.filter(({ name }) => chosen.has(name));
  const isRunning = run !== undefined && !run.isOver;
  const act = (deed: Deed, of = servers): void => {
    void start(
      of.map(({ name }) => name),
      deed,
    );
  };
  const remove = async (): Promise<void> => {
    const names = servers.slice(0, mostNamed).map(({ name }) => name);
    const more = servers.length - names.length;
    const text = [names.join(', '), more > 0 && t('overview.needMore', many(more))].filter(Boolean).join(' ');
    const title = t('servers.deleteSome', many(servers.length));
    const isMeant = await confirm({
      title,
      text: `${text}. ${t('servers.deleteSomeText')}`,
      action: t('common.delete'),
    });
    if (isMeant) act('remove');
  };
  const isOff = isRunning || servers.length === 0;
  const enabled = servers.filter((server) => server.enabled);
  const disabled = servers.filter((server) => !server.enabled);
  return (
    <section aria-label={t('servers.several')} className="panel flex flex-col gap-2 px-4 py-2.5">
      <div className="flex flex-wrap items-center gap-2">
        <label className="flex flex-1 items-center gap-2 text-sm pointer-coarse:min-h-10">
          <input
            type="checkbox"
            className="accent-accent size-4 pointer-coarse:size-5"
            disabled={isRunning}
            checked={servers.length > 0 && servers.length === shown.length}
            onChange={({ target }) => onChoose(target.checked ? shown.map(({ name }) => name) : [])}
          />
          {t('servers.chosen', { number: count(servers.length), all: count(shown.length) })}
        </label>
        <div className="flex flex-wrap gap-2 max-sm:order-last max-sm:basis-full">
          <Button icon={RotateCw} disabled={isRunning || enabled.length === 0} onClick={() => act('reload', enabled)}>
            {t('servers.reload')}
          </Button>
          <Button icon={Power} disabled={isRunning || disabled.length === 0} onClick={() => act('on', disabled)}>
            {t('servers.switchOn')}
          </Button>
          <Button icon={PowerOff} disabled={isRunning || enabled.length === 0} onClick={() => act('off', enabled)}>
            {t('servers.switchOff')}
          </Button>
          <Button icon={Trash2} look="danger" disabled={isOff} onClick={() => void remove()}>
            {t('common.delete')}
          </Button>
        </div>
        <IconButton icon={X} label={t('common.close')} onClick={onClose} />
      </div>
      {run && (
        <>
          <div className="flex items-center gap-3">
            <p role="status" className="text-soft text-xs">
              {t('servers.doneOf', { number: count(run.results.length), all: count(run.total) })}
            </p>
            {isRunning && <Button onClick={stop}>{t('common.cancel')}</Button>}
          </div>
          <ul
            aria-label={t('servers.whatCameOfIt')}
            tabIndex={0}
            className="flex max-h-40 flex-col gap-0.5 overflow-y-auto text-xs"
          >
            {run.results.map(([name, failure]) => (
              <li key={name} className="wrap-anywhere">
                <span className="font-medium">{name}</span>{' '}
                <span className={failure === undefined ? 'text-good' : 'text-bad'}>{failure ?? t('servers.done')}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** Names in the question whether to delete. */
const mostNamed = 20;

/** Ends when it is told to, and with the page. */
function useRun() {
  const words = useErrorText();
  const [run, setRun] = useState<Run>();
  const stopped = useRef(false);
  useEffect(
    () => () => {
      stopped.current = true;
    },
    [],
  );
  async function start(names: readonly string[], deed: Deed): Promise<void> {
    stopped.current = false;
    const results: (readonly [string, string | undefined])[] = [];
    const show = (isOver: boolean): void => setRun({ total: names.length, results: [...results], isOver });
    show(false);
    for (const name of names) {
      if (stopped.current) break;
      try {
        await doTo(name, deed);
        results.push([name, undefined]);
      } catch (error) {
        results.push([name, words(error)]);
        // The others would hear the same.
        if (error instanceof ApiError && (error.status === 0 || error.status === 401)) break;
      }
      show(false);
    }
    show(true);
    refresh();
  }
  return { run, start, stop: () => void (stopped.current = true) };
}
