import { Tabs as Radix } from 'radix-ui';
import type { ReactNode } from 'react';

interface TabsProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly tabs: readonly { readonly value: string; readonly label: ReactNode }[];
  readonly children: ReactNode;
}

/** Its panels are `TabPanel`s, of which only the chosen one is there. */
export function Tabs({ label, value, onChange, tabs, children }: TabsProps) {
  return (
    <Radix.Root value={value} onValueChange={onChange}>
      <Radix.List aria-label={label} className="border-line -mb-px flex gap-1 overflow-x-auto border-b">
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

export function TabPanel({ value, children }: { readonly value: string; readonly children: ReactNode }) {
  return (
    <Radix.Content value={value} className="pt-4 focus-visible:outline-offset-4">
      {children}
    </Radix.Content>
  );
}
