import { Tabs as Radix } from 'radix-ui';
import { type ReactNode, useLayoutEffect, useRef } from 'react';
import { cx } from '../lib/cx.ts';

interface TabsProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly tabs: readonly { readonly value: string; readonly label: ReactNode }[];
  /** All of them in sight, on as many lines as that takes; otherwise one line that scrolls. */
  readonly wrap?: boolean;
  /** Of the row of tabs, and of everything. */
  readonly listClass?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Its panels are `TabPanel`s, of which only the chosen one is there. */
export function Tabs({ label, value, onChange, tabs, wrap = false, listClass, className, children }: TabsProps) {
  const list = useRef<HTMLDivElement>(null);
  const index = tabs.findIndex((tab) => tab.value === value);
  useLayoutEffect(() => {
    const chosen = list.current?.children[index];
    if (!list.current || !(chosen instanceof HTMLElement)) return;
    const { offsetLeft, offsetWidth } = chosen;
    const { scrollLeft, clientWidth } = list.current;
    const inSight = offsetLeft >= scrollLeft && offsetLeft + offsetWidth <= scrollLeft + clientWidth;
    if (!inSight) list.current.scrollLeft = offsetLeft + offsetWidth / 2 - clientWidth / 2;
  }, [index]);
  return (
    <Radix.Root value={value} onValueChange={onChange} className={className}>
      <Radix.List
        ref={list}
        aria-label={label}
        className={cx(
          'relative flex shrink-0 gap-1',
          wrap ? 'flex-wrap' : 'border-line fading overflow-x-auto overflow-y-hidden border-b',
          listClass,
        )}
      >
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.value}
            value={tab.value}
            className={cx(
              'text-soft hover:text-ink text-sm font-medium whitespace-nowrap focus-visible:-outline-offset-2 pointer-coarse:min-h-10',
              wrap
                ? 'hover:bg-hover data-[state=active]:bg-accent-wash data-[state=active]:text-accent-ink min-h-8 rounded-md px-2.5'
                : 'data-[state=active]:border-accent-ink data-[state=active]:text-ink min-h-9 border-b-2 border-transparent px-3',
            )}
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
