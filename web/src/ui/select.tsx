import type { ComponentProps } from 'react';
import { cx } from '../lib/cx.ts';

/** What all controls of forms look like. */
export const controlClass = cx(
  'min-h-9 rounded-md border border-edge bg-raised px-2.5 py-1.5 text-sm text-ink shadow-xs pointer-coarse:min-h-10 pointer-coarse:text-base',
  'aria-invalid:border-bad disabled:opacity-60 focus-visible:outline-offset-0',
);

export type SelectProps = ComponentProps<'select'> & {
  readonly options: readonly { readonly value: string; readonly label: string }[];
};

/** The browser's own: it is the one every reader and every phone knows. */
export function Select({ options, className, ...rest }: SelectProps) {
  return (
    <select className={cx(controlClass, 'max-w-full pr-7 text-ellipsis max-sm:pr-2', className)} {...rest}>
      {options.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}
