import { CircleAlert, CircleCheck, X } from 'lucide-react';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { createStore, useStore } from '../lib/store.ts';
import { cx } from '../lib/cx.ts';
import { IconButton } from './button.tsx';

interface Toast {
  readonly id: number;
  readonly kind: 'good' | 'bad';
  readonly text: string;
}

const toasts = createStore<readonly Toast[]>([]);
let lastId = 0;

/** Failures stay longer: they say what to do. */
const shownMs = { good: 4_000, bad: 12_000 };
const most = 3;

function show(kind: Toast['kind'], text: string): void {
  lastId += 1;
  toasts.set([...toasts.get().filter((other) => other.text !== text), { id: lastId, kind, text }].slice(-most));
}

/** A line at the edge of the page that goes away by itself. */
export const toast = { good: (text: string) => show('good', text), bad: (text: string) => show('bad', text) };

function drop(id: number): void {
  toasts.set(toasts.get().filter((each) => each.id !== id));
}

export function Toasts() {
  const { t } = useTranslation();
  const shown = useStore(toasts);
  return (
    <section
      aria-label={t('app.notifications')}
      className="pointer-events-none fixed inset-x-4 bottom-4 z-50 flex flex-col items-end gap-2"
    >
      <div role="status" aria-live="polite" className="contents">
        {shown.map((each) => (
          <One key={each.id} {...each} />
        ))}
      </div>
    </section>
  );
}

function One({ id, kind, text }: Toast) {
  const { t } = useTranslation();
  useEffect(() => {
    const timer = setTimeout(() => drop(id), shownMs[kind]);
    return () => clearTimeout(timer);
  }, [id, kind]);
  const Icon = kind === 'good' ? CircleCheck : CircleAlert;
  return (
    <div className="lifted animate-appear pointer-events-auto flex max-w-md items-start gap-2.5 rounded-lg py-2 pr-2 pl-3">
      <Icon size={17} aria-hidden className={cx('mt-1.5 shrink-0', kind === 'good' ? 'text-good' : 'text-bad')} />
      <p className="min-w-0 py-1 text-sm break-words">{text}</p>
      <IconButton icon={X} label={t('common.close')} onClick={() => drop(id)} />
    </div>
  );
}
