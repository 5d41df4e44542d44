import { type FocusEvent, type RefObject, useEffect, useRef } from 'react';
import { focusPage } from '../../lib/focus-page.ts';

interface RowFocus {
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly onFocus: () => void;
  readonly onBlur: (event: FocusEvent<HTMLElement>) => void;
}

/**
 * For lists whose rows are decided about and then leave them: when the row with the focus is gone, the row that took
 * its place gets the focus, else the one before, and the page where none is left. It is the row itself, and none of its
 * buttons: a key that is pressed twice must not decide about what was not read. Returns what notes the row, for the
 * element around all lists. Rows are `li`s with a name and `tabIndex={-1}`.
 */
export function useRowFocus(): RowFocus {
  const ref = useRef<HTMLDivElement>(null);
  const last = useRef<{ readonly row: HTMLElement; readonly at: number }>(undefined);
  const rows = () => [...(ref.current?.querySelectorAll<HTMLElement>('li[aria-label]') ?? [])];
  useEffect(() => {
    const { activeElement } = document;
    if (last.current === undefined) return;
    const { row, at } = last.current;
    if (row.isConnected) {
      // Rows before it may have left.
      last.current = { row, at: rows().indexOf(row) };
      return;
    }
    last.current = undefined;
    // Where browsers put the focus of an element that is gone.
    if (activeElement !== document.body && activeElement !== null) return;
    const now = rows();
    const next = now[Math.min(at, now.length - 1)];
    if (next) next.focus({ preventScroll: true });
    else focusPage();
  });
  return {
    ref,
    onFocus: () => {
      const now = rows();
      const at = now.findIndex((row) => row.contains(document.activeElement));
      const row = now[at];
      last.current = row && { row, at };
    },
    onBlur: ({ target, relatedTarget }) => {
      // A button that cannot be pressed while its request runs loses the focus too, and its row is still meant. So is
      // the row when only the window loses the focus.
      const isLeft = relatedTarget === null && document.activeElement !== target && !target.matches(':disabled');
      if (isLeft && last.current?.row.isConnected) last.current = undefined;
    },
  };
}
