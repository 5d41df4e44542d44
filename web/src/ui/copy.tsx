import { Check, Copy, type LucideIcon } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../lib/cx.ts';
import { Button, IconButton } from './button.tsx';
import { toast } from './toast.tsx';

/** Copies and says so; gives whether it has just done. */
function useCopy(text: string) {
  const { t } = useTranslation();
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1_600);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = () => {
    // Absent where the hub is reached over plain HTTP from another machine.
    const clipboard = navigator.clipboard as Clipboard | undefined;
    (clipboard ? clipboard.writeText(text) : Promise.reject(new Error('no clipboard'))).then(
      () => {
        setDone(true);
        toast.good(t('common.copied'));
      },
      () => toast.bad(t('common.copyFailed')),
    );
  };
  return { done, copy };
}

interface CopyButtonProps {
  readonly text: string;
  readonly label?: string;
  /** In place of the two sheets. */
  readonly icon?: LucideIcon;
}

export function CopyButton({ text, label, icon: own = Copy }: CopyButtonProps) {
  const { t } = useTranslation();
  const { done, copy } = useCopy(text);
  const icon = done ? Check : own;
  if (label !== undefined) {
    return (
      <Button look="quiet" icon={icon} onClick={copy}>
        {label}
      </Button>
    );
  }
  return <IconButton icon={icon} label={t('common.copy')} onClick={copy} />;
}

interface CodeProps {
  readonly text: string;
  readonly label: string;
  /** Lines are broken rather than scrolled. */
  readonly wrap?: boolean;
  readonly className?: string;
}

/** A text to be copied whole. */
export function Code({ text, label, wrap = false, className }: CodeProps) {
  return (
    <div className={cx('border-line bg-page flex items-start rounded-lg border', className)}>
      <pre
        tabIndex={0}
        role="region"
        aria-label={label}
        className={cx(
          'max-h-96 min-w-0 flex-1 overflow-auto rounded-lg p-3 text-xs leading-relaxed focus-visible:-outline-offset-2',
          wrap && 'break-words whitespace-pre-wrap',
        )}
      >
        {text}
      </pre>
      <div className="p-1">
        <CopyButton text={text} />
      </div>
    </div>
  );
}

/** A short text in one line, with a button that copies it. */
export function Copyable({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div className="border-line bg-page flex min-w-0 items-center gap-1 rounded-lg border py-0.5 pr-0.5 pl-3">
      <code aria-label={label} className="min-w-0 flex-1 truncate text-xs select-all">
        {text}
      </code>
      <CopyButton text={text} />
    </div>
  );
}
