import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'accent' | 'plain';

const tones: Record<Tone, string> = {
  good: 'bg-good-wash text-good',
  warn: 'bg-warn-wash text-warn',
  bad: 'bg-bad-wash text-bad',
  accent: 'bg-accent-wash text-accent-ink',
  plain: 'bg-hover text-soft',
};

export function Badge({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return (
    <span
      className={cx(
        'inline-flex max-w-full items-center gap-1 rounded-full px-2 py-px text-xs font-medium tracking-normal whitespace-nowrap max-sm:rounded-xl max-sm:whitespace-normal',
        tones[tone],
      )}
    >
      {children}
    </span>
  );
}

const dots: Record<Tone, string> = {
  good: 'bg-good',
  warn: 'bg-warn',
  bad: 'bg-bad',
  accent: 'bg-accent-ink',
  plain: 'bg-edge',
};

/** Beside a word that says the same: colour alone says nothing to many. */
export function Dot({ tone, lively = false }: { readonly tone: Tone; readonly lively?: boolean }) {
  return <span aria-hidden className={cx('size-2 shrink-0 rounded-full', dots[tone], lively && 'animate-breathe')} />;
}
