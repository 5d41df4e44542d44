import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { type KeyboardEvent, memo, useCallback, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { LogEntry } from '../../api/types.ts';
import { cx } from '../../lib/cx.ts';
import { dateTime, logTime } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { Marked } from '../../ui/marked.tsx';
import { toneOf } from './level.ts';

interface LinesProps {
  readonly entries: readonly LogEntry[];
  /** Marked in the messages. */
  readonly q: string;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  /** The first line is in sight. */
  readonly onTop: () => void;
}

/** How far from the end still counts as being there, in pixels. */
const nearEnd = 24;

/**
 * Any number of lines in a frame of their own. It stays at the end when it is there, and where it is when it is not.
 */
export function Lines({ entries, q, onKeyDown, onTop }: LinesProps) {
  const { t } = useTranslation();
  const frame = useRef<HTMLDivElement>(null);
  const [away, setAway] = useState(false);
  /** It was at the end once, or the reader scrolls: from then on it can be away from the end. */
  const arrived = useRef(false);
  const scrolls = () => {
    arrived.current = true;
  };
  // The same function while the lines are the same: another one has all of them measured again, at each step of
  // scrolling.
  const getItemKey = useCallback((index: number) => entries[index]?.id ?? index, [entries]);
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => frame.current,
    estimateSize: () => 24,
    getItemKey,
    overscan: 12,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: nearEnd,
  });
  const begun = entries.length > 0;
  useEffect(() => {
    if (begun) virtual.scrollToEnd();
  }, [begun, virtual]);
  const toEnd = () => virtual.scrollToEnd();
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div
        ref={frame}
        role="region"
        tabIndex={0}
        aria-label={t('nav.logs')}
        aria-describedby="log-keys"
        aria-keyshortcuts="p /"
        onKeyDown={(event) => {
          scrolls();
          onKeyDown(event);
        }}
        onWheel={scrolls}
        onPointerDown={scrolls}
        onScroll={({ currentTarget: { scrollTop } }) => {
          // On its way to the end, at the beginning, it is not away from it.
          const atEnd = virtual.isAtEnd(nearEnd);
          arrived.current ||= atEnd;
          setAway(arrived.current && !atEnd);
          if (scrollTop < 400 && begun) onTop();
        }}
        className="min-h-0 flex-1 overflow-y-auto overscroll-contain rounded-b-[0.6rem] py-1 focus-visible:-outline-offset-2"
      >
        <ol aria-label={t('logs.entries')} className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => (
            <li
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              aria-setsize={entries.length}
              aria-posinset={index + 1}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start}px)` }}
            >
              <Line entry={entries[index] as LogEntry} q={q} />
            </li>
          ))}
        </ol>
      </div>
      <p id="log-keys" className="sr-only">
        {t('logs.keys')}
      </p>
      {away && (
        <p className="border-line border-t px-3 py-1.5 text-right">
          <Button icon={ArrowDown} onClick={toEnd}>
            {t('logs.toEnd')}
          </Button>
        </p>
      )}
    </div>
  );
}

const colours = { good: '', plain: 'text-soft', accent: 'text-accent-ink', warn: 'text-warn', bad: 'text-bad' };

const Line = memo(function Line({ entry, q }: { readonly entry: LogEntry; readonly q: string }) {
  const { timestamp, level, service, message } = entry;
  const colour = colours[toneOf[level]];
  return (
    <div
      className={cx(
        'hover:bg-hover flex flex-wrap gap-x-3 px-3 py-0.5 font-mono text-xs leading-5 sm:flex-nowrap',
        level === 'error' && 'bg-bad-wash',
      )}
    >
      <time dateTime={timestamp} title={dateTime(timestamp)} className="text-soft shrink-0 tabular-nums">
        {logTime(timestamp)}
      </time>
      <span className={cx('w-10 shrink-0 font-semibold', colour)}>{level}</span>
      <span className="text-soft min-w-0 wrap-anywhere sm:w-40 sm:shrink-0 lg:w-52">{service}</span>
      <span className="basis-full break-words whitespace-pre-wrap sm:min-w-0 sm:flex-1 sm:basis-auto">
        <Marked text={message} q={q} />
      </span>
    </div>
  );
});
