/**
 * For `onOpenAutoFocus`: what has opened takes the focus itself. Its first button is the one that closes it, which
 * would show its tip.
 */
export function focusItself(event: Event): void {
  event.preventDefault();
  if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus();
}
