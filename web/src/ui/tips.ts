/**
 * What an element is for, in a few words beside it: of elements with `data-tip`, for who points at them or comes to
 * them by keyboard. One for the page, in the browser's top layer, over dialogs too.
 */
const delayMs = 350;
/** To go from the element to its tip, which stays while one points at it. */
const wayMs = 150;
const gap = 6;
const margin = 8;

let tip: HTMLElement | undefined;
/** Whose tip is shown. */
let target: HTMLElement | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Once per page. */
export function startTips(): void {
  document.addEventListener('pointerover', ({ target: at, pointerType }) => {
    if (pointerType === 'touch' || !(at instanceof Element) || (tip?.contains(at) ?? false)) return clearTimeout(timer);
    const next = withTip(at);
    if (next === undefined) after(wayMs, hide);
    else if (next !== target) after(target === undefined ? delayMs : 0, () => show(next));
    else clearTimeout(timer);
  });
  // The pointer leaves the window.
  document.addEventListener('pointerout', ({ relatedTarget }) => relatedTarget ?? after(wayMs, hide));
  document.addEventListener('focusin', ({ target: at }) => {
    const next = at instanceof Element && at.matches(':focus-visible') ? withTip(at) : undefined;
    if (next) show(next);
    else hide();
  });
  document.addEventListener('focusout', hide);
  document.addEventListener('pointerdown', hide);
  // By keyboard too: what it was for may be something else now, or the element may be gone.
  document.addEventListener('click', hide, true);
  document.addEventListener('scroll', hide, { capture: true, passive: true });
  document.addEventListener('keydown', ({ key }) => key === 'Escape' && hide(), true);
}

const withTip = (at: Element): HTMLElement | undefined => at.closest<HTMLElement>('[data-tip]') ?? undefined;

function after(ms: number, act: () => void): void {
  clearTimeout(timer);
  timer = setTimeout(act, ms);
}

function show(next: HTMLElement): void {
  hide();
  if (!next.isConnected) return;
  target = next;
  tip ??= made();
  tip.textContent = next.dataset['tip'] ?? '';
  // Most tips are the names of what they are for, which readers of screens say already.
  if (next.ariaLabel !== tip.textContent) next.setAttribute('aria-describedby', tip.id);
  tip.showPopover();
  const around = next.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const above = around.top - gap - height;
  tip.style.top = `${above >= margin ? above : around.bottom + gap}px`;
  const middle = around.left + (around.width - width) / 2;
  tip.style.left = `${Math.max(margin, Math.min(middle, document.documentElement.clientWidth - width - margin))}px`;
}

function hide(): void {
  clearTimeout(timer);
  if (target?.getAttribute('aria-describedby') === tip?.id) target?.removeAttribute('aria-describedby');
  target = undefined;
  tip?.hidePopover();
}

function made(): HTMLElement {
  const made = document.createElement('div');
  made.id = 'tip';
  made.popover = 'manual';
  // Readers of screens have its words from the element, by its name or `aria-describedby`.
  made.ariaHidden = 'true';
  made.className = 'tip lifted text-ink animate-appear max-w-72 rounded-md px-2 py-1 text-xs text-balance';
  document.body.append(made);
  return made;
}
