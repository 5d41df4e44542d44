import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../lib/cx.ts';
import { focusItself } from '../lib/focus.ts';
import { IconButton } from './button.tsx';

interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: ReactNode;
  readonly description?: ReactNode;
  readonly wide?: boolean;
  readonly children: ReactNode;
}

/** Over the page, with the focus kept in it; a sheet from below on phones. */
export function Dialog({ open, onClose, title, description, wide = false, children }: DialogProps) {
  const { t } = useTranslation();
  return (
    <Radix.Root open={open} onOpenChange={(next) => next || onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/45" />
        <Radix.Content
          {...(description === undefined && { 'aria-describedby': undefined })}
          tabIndex={-1}
          onOpenAutoFocus={focusItself}
          className={cx(
            'lifted animate-appear fixed z-50 flex outline-none max-h-[92dvh] flex-col overflow-hidden rounded-t-xl',
            'inset-x-0 bottom-0 sm:inset-x-auto sm:bottom-auto sm:top-[8vh] sm:left-1/2 sm:w-full sm:-translate-x-1/2 sm:rounded-xl sm:max-h-[84vh]',
            wide ? 'sm:max-w-3xl' : 'sm:max-w-lg',
          )}
        >
          <div className="border-line flex items-start gap-4 border-b px-5 py-3.5">
            <div className="min-w-0 flex-1">
              <Radix.Title className="text-base font-semibold break-words">{title}</Radix.Title>
              {description !== undefined && (
                <Radix.Description className="text-soft mt-0.5 text-sm">{description}</Radix.Description>
              )}
            </div>
            <IconButton icon={X} label={t('common.close')} onClick={onClose} />
          </div>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export function DialogBody({ children, className }: { readonly children: ReactNode; readonly className?: string }) {
  return <div className={cx('flex flex-col gap-4 overflow-y-auto px-5 py-4', className)}>{children}</div>;
}

export function DialogFooter({ children }: { readonly children: ReactNode }) {
  return <div className="border-line bg-panel flex flex-wrap justify-end gap-2 border-t px-5 py-3">{children}</div>;
}
