import { type RefObject, useEffect, useRef } from 'react';

/**
 * For `onOpenAutoFocus`: what has opened takes the focus itself. Its first button is the one that closes it, which
 * would show its tip.
 */
export function focusItself(event: Event): void {
  event.preventDefault();
  if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus();
}

/** For a form that has just been chosen: its first field, or the button that sends it, gets the focus. */
export function useFirstFocus(wanted: boolean): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    // Not where a finger chose it: the keyboard on the screen would hide what has just come.
    if (!wanted || matchMedia('(pointer: coarse)').matches) return;
    form.current?.querySelector<HTMLElement>('input, select, textarea, [type=submit]')?.focus();
  }, [wanted]);
  return form;
}
