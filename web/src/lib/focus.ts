import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { focusPage } from './focus-page.ts';

/**
 * For `onOpenAutoFocus`: what has opened takes the focus itself. Its first button is the one that closes it, which
 * would show its tip.
 */
export function focusItself(event: Event): void {
  event.preventDefault();
  if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus();
}

/**
 * For `onCloseAutoFocus`: what had the focus before gets it back, and where that is gone the page does. A dialog of
 * Radix gives it back only to a button of its own.
 */
export function useFocusBack(): (event: Event) => void {
  const [before] = useState(() => document.activeElement);
  return (event) => {
    event.preventDefault();
    if (before instanceof HTMLElement && before !== document.body && before.isConnected) before.focus();
    else focusPage();
  };
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

/**
 * For lines that are added and removed one by one: a line that its button has added gets the focus, and so does that
 * button once the line with the focus is gone. For the element around the lines, whose last child has the button.
 */
export function useLineFocus(count: number): RefObject<HTMLFieldSetElement | null> {
  const box = useRef<HTMLFieldSetElement>(null);
  const before = useRef(count);
  // Before a dialog takes the focus that has nowhere to be.
  useLayoutEffect(() => {
    const last = box.current?.lastElementChild;
    const added = count > before.current;
    const removed = count < before.current;
    before.current = count;
    const { activeElement } = document;
    if (removed && activeElement === document.body) last?.querySelector('button')?.focus();
    if (!added || !last?.contains(activeElement) || matchMedia('(pointer: coarse)').matches) return;
    last.previousElementSibling?.querySelector<HTMLElement>('input, select, textarea')?.focus();
  }, [count]);
  return box;
}
