import { Tooltip } from 'radix-ui';
import type { ReactNode } from 'react';

/** What an element is for, shown on hover and on focus. */
export function Tip({ text, children }: { readonly text: ReactNode; readonly children: ReactNode }) {
  return (
    <Tooltip.Provider delayDuration={350}>
      <Tooltip.Root>
        <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
        <Tooltip.Portal>
          <Tooltip.Content
            sideOffset={6}
            collisionPadding={8}
            className="lifted animate-appear z-50 max-w-72 rounded-md px-2 py-1 text-xs text-balance"
          >
            {text}
          </Tooltip.Content>
        </Tooltip.Portal>
      </Tooltip.Root>
    </Tooltip.Provider>
  );
}
