import { LoaderCircle, type LucideIcon } from 'lucide-react';
import type { ComponentProps, MouseEvent } from 'react';
import { cx } from '../lib/cx.ts';

type Look = 'primary' | 'plain' | 'quiet' | 'danger';

interface ButtonProps extends ComponentProps<'button'> {
  readonly look?: Look;
  readonly icon?: LucideIcon;
  /** Something it started is still running. It can be focused, and does nothing. */
  readonly busy?: boolean;
}

const looks: Record<Look, string> = {
  primary: 'bg-accent text-on-accent border-transparent hover:brightness-110',
  plain: 'bg-raised text-ink border-edge hover:bg-hover',
  quiet: 'bg-transparent text-soft border-transparent hover:bg-hover hover:text-ink',
  danger: 'bg-danger text-white border-transparent hover:brightness-110',
};

export const buttonClass = (look: Look = 'plain'): string =>
  cx(
    'inline-flex min-h-8 items-center justify-center gap-1.5 rounded-md border px-3 py-1 text-sm font-medium whitespace-nowrap select-none',
    'disabled:cursor-not-allowed disabled:opacity-50 aria-disabled:cursor-progress pointer-coarse:min-h-10',
    looks[look],
  );

export function Button({ look, icon, busy = false, className, children, onClick, ...rest }: ButtonProps) {
  const Icon = busy ? LoaderCircle : icon;
  // The second click of a double click comes before the form knows that it is being sent.
  const isAgain = (event: MouseEvent) => rest.type === 'submit' && event.detail > 1;
  return (
    <button
      type="button"
      className={cx(buttonClass(look), className)}
      aria-disabled={busy || undefined}
      onClick={(event) => {
        if (busy || isAgain(event)) event.preventDefault();
        else onClick?.(event);
      }}
      {...rest}
    >
      {Icon && <Icon size={15} aria-hidden className={cx('shrink-0', busy && 'animate-spin')} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Omit<ButtonProps, 'icon' | 'children'> {
  readonly icon: LucideIcon;
  readonly label: string;
}

/** A button that is only a picture: its name is read out, and shown to who points at it. */
export function IconButton({ icon: Icon, label, look = 'quiet', busy = false, className, ...rest }: IconButtonProps) {
  const Shown = busy ? LoaderCircle : Icon;
  return (
    <button
      type="button"
      aria-label={label}
      data-tip={label}
      className={cx(buttonClass(look), 'min-w-8 !px-0 pointer-coarse:min-w-10', className)}
      {...rest}
    >
      <Shown size={16} aria-hidden className={cx(busy && 'animate-spin')} />
    </button>
  );
}
