import { cx } from '../lib/cx.ts';
import { lineDiff } from '../lib/diff.ts';

const marks = { same: ' ', removed: '-', added: '+' };
const colours = { same: '', removed: 'bg-bad-wash text-bad', added: 'bg-good-wash text-good' };

interface DiffLinesProps {
  readonly label: string;
  readonly before: string;
  readonly after: string;
}

/** What differs between two texts, line by line. */
export function DiffLines({ label, before, after }: DiffLinesProps) {
  return (
    <pre
      tabIndex={0}
      role="region"
      aria-label={label}
      className="border-line bg-page max-h-80 overflow-auto rounded-md border p-2 text-xs"
    >
      <span className="block w-max min-w-full">
        {lineDiff(before, after).map(({ kind, text }, index) => (
          <span key={index} className={cx('block', colours[kind])}>
            {marks[kind]} {text}
          </span>
        ))}
      </span>
    </pre>
  );
}
