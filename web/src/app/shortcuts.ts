import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { Me } from '../api/types.ts';
import { createStore } from '../lib/store.ts';
import { placesOf } from './places.ts';

/** What lies over the page: the search over everything, or the list of keys. `typed` came before it was loaded. */
export type Overlay = { readonly kind: 'palette'; readonly typed: string } | { readonly kind: 'keys' };

export const overlay = createStore<Overlay | undefined>(undefined);

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

export function openPalette(): void {
  overlay.set({ kind: 'palette', typed: '' });
}

/** How long after `g` the letter of a page may come. */
const goMs = 1_500;

/** The keys that work on every page. They do nothing while something is typed, or while a dialog or menu is open. */
export function useShortcuts(me: Me | undefined): void {
  const router = useRouter();
  useEffect(() => {
    if (!me) return;
    let went = -Infinity;
    const onKey = (event: KeyboardEvent) => {
      if (event.isComposing || event.defaultPrevented) return;
      if (opensPalette(event)) {
        event.preventDefault();
        if (overlay.get()) overlay.set(undefined);
        else if (!isCovered()) openPalette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return;
      if (isCovered()) return;
      const open = overlay.get();
      if (open) {
        // It is being loaded.
        if (event.key === 'Escape') overlay.set(undefined);
        else if (open.kind === 'palette' && event.key.length === 1) {
          event.preventDefault();
          overlay.set({ kind: 'palette', typed: open.typed + event.key });
        }
        return;
      }
      const isSecond = event.timeStamp - went < goMs;
      went = !isSecond && event.key === 'g' ? event.timeStamp : -Infinity;
      if (isSecond) {
        const place = placesOf(me)
          .flat()
          .find(({ letter }) => letter === event.key);
        if (place) void router.navigate({ to: place.to });
      } else if (event.key === '?') overlay.set({ kind: 'keys' });
      else if (event.key === '/') {
        event.preventDefault();
        const search = document.querySelector<HTMLElement>('main input[type=search]');
        if (search) search.focus();
        else openPalette();
      }
    };
    window.addEventListener('keydown', onKey);
    // The way back leads to a page, and not to what was open over another.
    const unsubscribe = router.subscribe('onBeforeNavigate', ({ pathChanged }) => {
      if (pathChanged) overlay.set(undefined);
    });
    return () => {
      window.removeEventListener('keydown', onKey);
      unsubscribe();
    };
  }, [me, router]);
}

/** On macOS Ctrl-K deletes to the end of the line. */
function opensPalette({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  const [chosen, other] = isMac ? [metaKey, ctrlKey] : [ctrlKey, metaKey];
  return key.toLowerCase() === 'k' && chosen && !other && !altKey && !shiftKey;
}

function isCovered(): boolean {
  return document.querySelector('[role=dialog], [role=alertdialog], [role=menu]') !== null;
}

const typedTypes = new Set(['checkbox', 'radio', 'button', 'submit', 'reset', 'file', 'range', 'color']);

function isField(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !typedTypes.has(target.type);
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLElement && target.isContentEditable)
  );
}
