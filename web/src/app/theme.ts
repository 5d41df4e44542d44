import { storage } from '../lib/storage.ts';
import { createStore } from '../lib/store.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const system = matchMedia('(prefers-color-scheme: dark)');

/** What was chosen; `index.html` has applied it already, unless a proxy changed the page and its script was refused. */
export const theme = createStore<Theme>(themes.find((name) => name === storage.get('theme')) ?? 'system');

export function chooseTheme(next: Theme): void {
  storage.set('theme', next === 'system' ? undefined : next);
  theme.set(next);
}

function apply(): void {
  const chosen = theme.get();
  const dark = chosen === 'dark' || (chosen === 'system' && system.matches);
  document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
}

apply();
theme.subscribe(apply);
system.addEventListener('change', apply);
