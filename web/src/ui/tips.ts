/**
 * What an element is for, in a few words beside it: of elements with `data-tip`, for who points at them or comes to them
 * by keyboard. One for the page, in the browser's top layer, over dialogs too.
 */
const delayMs = 350;
/** To go from the element to its tip, which stays while one points at it. */
const wayMs = 150;
const gap = 6;
const margin = 8;

let tip: HTMLElement | undefined;
/** Whose tip is shown, or will be. */
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
  document.addEventListener('focusin', ({ target: at }) => {
    const next = at instanceof Element && at.matches(':focus-visible') ? withTip(at) : undefined;
    if (next) show(next);
  });
  document.addEventListener('focusout', hide);
  document.addEventListener('pointerdown', hide);
  document.addEventListener('scroll', hide, { capture: true, passive: true });
  document.addEventListener('keydown', ({ key }) => key === 'Escape' && hide(), true);
}

const withTip = (at: Element): HTMLElement | undefined => at.closest<HTMLElement>('[data-tip]') ?? undefined;

function after(ms: number, act: () => void): void {
  clearTimeout(timer);
  timer = setTimeout(act, ms);
}

function show(next: HTMLElement): void {
  clearTimeout(timer);
  if (!next.isConnected) return;
  target = next;
  tip ??= made();
  tip.textContent = next.dataset['tip'] ?? '';
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
  target = undefined;
  tip?.hidePopover();
}

function made(): HTMLElement {
  const made = document.createElement('div');
  made.popover = 'manual';
  made.role = 'tooltip';
  made.className = 'tip lifted text-ink animate-appear max-w-72 rounded-md px-2 py-1 text-xs text-balance';
  document.body.append(made);
  return made;
}
