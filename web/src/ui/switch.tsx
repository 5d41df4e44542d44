import { Switch as Radix } from 'radix-ui';
import { cx } from '../lib/cx.ts';

interface SwitchProps {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly label: string;
  readonly disabled?: boolean;
}

export function Switch({ checked, onChange, label, disabled = false }: SwitchProps) {
  return (
    <Radix.Root
      checked={checked}
      onCheckedChange={onChange}
      aria-label={label}
      disabled={disabled}
      className={cx(
        'relative inline-flex h-5 w-9 shrink-0 items-center rounded-full border border-transparent transition-colors',
        'after:absolute after:-inset-[11px] disabled:cursor-not-allowed disabled:opacity-50',
        checked ? 'bg-accent' : 'bg-edge',
      )}
    >
      <Radix.Thumb className="block size-4 translate-x-0.5 rounded-full bg-white shadow-sm transition-transform data-[state=checked]:translate-x-[1.05rem]" />
    </Radix.Root>
  );
}
