import type { LucideIcon } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';

interface MenuProps {
  readonly trigger: ReactNode;
  /** Whether it is open as soon as it is there. */
  readonly isOpenAtFirst?: boolean;
  readonly children: ReactNode;
}

/** Things to do that do not deserve a button each. */
export function Menu({ trigger, isOpenAtFirst = false, children }: MenuProps) {
  return (
    <DropdownMenu.Root defaultOpen={isOpenAtFirst}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          className="lifted animate-appear z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-44 overflow-y-auto rounded-lg p-1"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

const itemClass =
  'flex min-h-8 w-full cursor-default items-center gap-2 rounded-md px-2 py-1 text-sm outline-none select-none data-[highlighted]:bg-hover data-[disabled]:opacity-50 pointer-coarse:min-h-10';

interface MenuItemProps {
  readonly icon?: LucideIcon;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly onSelect: () => void;
  readonly children: ReactNode;
}

export function MenuItem({ icon: Icon, danger = false, disabled = false, onSelect, children }: MenuItemProps) {
  return (
    <DropdownMenu.Item className={cx(itemClass, danger && 'text-bad')} disabled={disabled} onSelect={onSelect}>
      {Icon && <Icon size={15} aria-hidden />}
      {children}
    </DropdownMenu.Item>
  );
}

interface MenuChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

export function MenuChoice({ label, value, onChange, options }: MenuChoiceProps) {
  return (
    <DropdownMenu.RadioGroup value={value} onValueChange={onChange} aria-label={label}>
      <DropdownMenu.Label className="text-soft px-2 pt-1.5 pb-0.5 text-xs font-medium">{label}</DropdownMenu.Label>
      {options.map((option) => (
        <DropdownMenu.RadioItem key={option.value} value={option.value} className={cx(itemClass, 'pl-7 relative')}>
          <DropdownMenu.ItemIndicator className="bg-accent-ink absolute left-3 size-1.5 rounded-full" />
          {option.label}
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  );
}

export function MenuLine() {
  return <DropdownMenu.Separator className="bg-line my-1 h-px" />;
}
