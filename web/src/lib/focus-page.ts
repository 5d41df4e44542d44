/** The page takes the focus, and stays where it is scrolled to: the next Tab goes to its first button. */
export function focusPage(): void {
  document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true });
}
