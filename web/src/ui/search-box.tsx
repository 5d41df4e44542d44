import { Search } from 'lucide-react';
import type { ComponentProps } from 'react';
import { cx } from '../lib/cx.ts';
import { inputClass } from './field.tsx';

interface SearchBoxProps extends Omit<ComponentProps<'input'>, 'onChange' | 'value'> {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Escape empties it. */
export function SearchBox({ label, value, onChange, className, ...rest }: SearchBoxProps) {
  return (
    <div className={cx('relative min-w-40', className)}>
      <Search
        size={15}
        aria-hidden
        className="text-soft pointer-events-none absolute top-1/2 left-2.5 -translate-y-1/2"
      />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && value !== '') {
            event.stopPropagation();
            onChange('');
          }
        }}
        className={cx(inputClass, 'pl-8')}
        {...rest}
      />
    </div>
  );
}
