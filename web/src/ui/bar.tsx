import { cx } from '../lib/cx.ts';

interface BarProps {
  /** `meter`: how much of something there is. `progressbar`: how far something has come. */
  readonly kind: 'meter' | 'progressbar';
  readonly label: string;
  readonly value: number;
  readonly most: number;
  readonly quiet?: boolean;
  /** It is of something bad. */
  readonly bad?: boolean;
  readonly className?: string;
}

/** A share of a whole, to be seen at a glance. Drawn, because browsers colour their own by rules of their own. */
export function Bar({ kind, label, value, most, quiet = false, bad = false, className }: BarProps) {
  const share = most > 0 ? Math.min(1, Math.max(0, value / most)) : 0;
  return (
    <span
      role={kind}
      aria-label={label}
      aria-valuenow={value}
      aria-valuemin={0}
      aria-valuemax={most}
      className={cx('bg-hover block overflow-hidden rounded-full', className)}
    >
      <span
        className={cx(
          'block h-full rounded-full transition-[width]',
          quiet ? 'bg-edge' : bad ? 'bg-danger' : 'bg-accent',
        )}
        style={{ width: `${share * 100}%` }}
      />
    </span>
  );
}
