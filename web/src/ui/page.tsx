import type { LucideIcon } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../lib/cx.ts';

interface PageProps {
  readonly title: string;
  /** Shown in place of `title`, which is the name of the browser's tab. */
  readonly heading?: ReactNode;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A page in the shell: what it is, what can be done, and the rest. */
export function Page({ title, heading, lead, actions, children }: PageProps) {
  const { t } = useTranslation();
  useEffect(() => {
    document.title = `${title} · ${t('app.name')}`;
  }, [title, t]);
  return (
    <div className="mx-auto flex w-full max-w-6xl flex-col gap-5 px-4 py-5 sm:px-6 sm:py-7">
      <div className="flex flex-wrap items-start gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-60">
          <h1 className="text-xl font-semibold tracking-tight wrap-anywhere">{heading ?? title}</h1>
          {lead !== undefined && <p className="text-soft mt-0.5 max-w-prose text-sm wrap-anywhere">{lead}</p>}
        </div>
        {actions !== undefined && <div className="flex max-w-full min-w-0 flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

interface PanelProps {
  /** What an address leads to by its `#`. */
  readonly id?: string;
  readonly title?: ReactNode;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly flush?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

export function Panel({ id, title, lead, actions, flush = false, className, children }: PanelProps) {
  return (
    <section {...(id !== undefined && { id })} className={cx('panel min-w-0 scroll-mt-16', className)}>
      {title !== undefined && (
        <div className="border-line flex flex-wrap items-center gap-x-4 gap-y-2 border-b px-4 py-3">
          <div className="min-w-0 flex-1 basis-32">
            <h2 className="text-sm font-semibold">{title}</h2>
            {lead !== undefined && <p className="text-soft text-xs">{lead}</p>}
          </div>
          {actions}
        </div>
      )}
      <div className={cx(!flush && 'p-4')}>{children}</div>
    </section>
  );
}

interface EmptyProps {
  readonly icon?: LucideIcon;
  readonly title: string;
  /** The next step, in a sentence. */
  readonly text?: ReactNode;
  /** It is all of the page, and its title that of the page. */
  readonly whole?: boolean;
  readonly children?: ReactNode;
}

export function Empty({ icon: Icon, title, text, whole = false, children }: EmptyProps) {
  const Title = whole ? 'h1' : 'p';
  return (
    <div className="flex flex-col items-center px-6 py-12 text-center">
      {Icon && (
        <span className="bg-hover text-soft mb-3 rounded-xl p-3">
          <Icon size={22} aria-hidden />
        </span>
      )}
      <Title className="font-medium">{title}</Title>
      {text !== undefined && <p className="text-soft mt-1 max-w-md text-sm text-balance">{text}</p>}
      {children !== undefined && <div className="mt-4 flex flex-wrap justify-center gap-2">{children}</div>}
    </div>
  );
}

/** Grey lines of about the height that is coming, so that nothing jumps. */
export function Loading({ rows = 4 }: { readonly rows?: number }) {
  const { t } = useTranslation();
  return (
    <div role="status" aria-label={t('common.loading')} className="flex flex-col gap-3 p-4">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className="bg-hover animate-breathe h-9 rounded-md" />
      ))}
    </div>
  );
}
