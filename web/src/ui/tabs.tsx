import { Tabs as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';

interface TabsProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly tabs: readonly { readonly value: string; readonly label: ReactNode }[];
  /** Of the row of tabs, and of everything. */
  readonly listClass?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Its panels are `TabPanel`s, of which only the chosen one is there. */
export function Tabs({ label, value, onChange, tabs, listClass, className, children }: TabsProps) {
  return (
    <Radix.Root value={value} onValueChange={onChange} className={className}>
      <Radix.List
        aria-label={label}
        className={cx('border-line flex gap-1 overflow-x-auto overflow-y-hidden border-b', listClass)}
      >
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.value}
            value={tab.value}
            className="text-soft hover:text-ink data-[state=active]:border-accent-ink data-[state=active]:text-ink min-h-9 border-b-2 border-transparent px-3 text-sm font-medium whitespace-nowrap focus-visible:-outline-offset-2"
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {children}
    </Radix.Root>
  );
}

interface TabPanelProps {
  readonly value: string;
  readonly className?: string;
  readonly children: ReactNode;
}

export function TabPanel({ value, className = 'pt-4', children }: TabPanelProps) {
  return (
    <Radix.Content value={value} className={cx('focus-visible:outline-offset-4', className)}>
      {children}
    </Radix.Content>
  );
}
