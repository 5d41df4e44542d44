import type { Ref, UIEventHandler } from 'react';
import type { LogEntry } from '../../api/types.ts';
import { cx } from '../../lib/cx.ts';
import { logTime } from '../../lib/format.ts';

const colours: Record<LogEntry['level'], string> = {
  debug: 'text-soft',
  info: '',
  warn: 'text-warn',
  error: 'text-bad',
};

interface LogLinesProps {
  readonly label: string;
  readonly entries: readonly LogEntry[];
  readonly className?: string;
  readonly ref?: Ref<HTMLOListElement>;
  readonly onScroll?: UIEventHandler<HTMLOListElement>;
}

/** A few lines of a log of one server, in a frame that scrolls. */
export function LogLines({ label, entries, className, ref, onScroll }: LogLinesProps) {
  return (
    <ol
      ref={ref}
      tabIndex={0}
      aria-label={label}
      onScroll={onScroll}
      className={cx(
        'overflow-auto px-4 py-3 font-mono text-xs leading-relaxed focus-visible:-outline-offset-2',
        className,
      )}
    >
      {entries.map(({ id, timestamp, level, message }) => (
        <li key={id} className={cx('break-words whitespace-pre-wrap', colours[level])}>
          <time dateTime={timestamp} className="text-soft mr-2 select-none">
            {logTime(timestamp)}
          </time>
          {message}
        </li>
      ))}
    </ol>
  );
}
