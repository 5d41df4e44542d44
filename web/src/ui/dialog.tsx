import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import { type ReactNode, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../lib/cx.ts';
import { focusItself, useFocusBack } from '../lib/focus.ts';
import { IconButton } from './button.tsx';
import { confirm, type Question } from './confirm.tsx';

interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: ReactNode;
  readonly description?: ReactNode;
  readonly wide?: boolean;
  /** Asked before it is closed. Undefined: whether to drop what was typed, where something was. */
  readonly question?: Question | undefined;
  readonly children: ReactNode;
}

/**
 * Over the page, with the focus kept in it; a sheet from below on phones. A click beside it, Escape and its cross lose
 * nothing without asking, and leave it as it is unless the answer is yes.
 */
export function Dialog({ open, onClose, title, description, wide = false, question, children }: DialogProps) {
  const { t } = useTranslation();
  const giveBack = useFocusBack();
  const typed = useRef(false);
  const dropTyped = {
    title: t('common.dropTitle'),
    text: t('common.dropText'),
    action: t('common.drop'),
    cancel: t('common.keepEditing'),
  };
  const close = async () => {
    const asked = question ?? (typed.current ? dropTyped : undefined);
    if (asked === undefined || (await confirm(asked))) onClose();
  };
  return (
    <Radix.Root open={open} onOpenChange={(next) => next || void close()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/45" />
        <Radix.Content
          {...(description === undefined && { 'aria-describedby': undefined })}
          tabIndex={-1}
          onOpenAutoFocus={focusItself}
          onCloseAutoFocus={giveBack}
          onInput={({ target }) => {
            const searches = target instanceof HTMLInputElement && target.type === 'search';
            if (!searches) typed.current = true;
          }}
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
            <IconButton icon={X} label={t('common.close')} onClick={() => void close()} />
          </div>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface DialogBodyProps {
  /** Of a text without controls: it is scrolled by keyboard, and has this name. */
  readonly label?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

export function DialogBody({ label, className, children }: DialogBodyProps) {
  return (
    <div
      {...(label !== undefined && { role: 'region', 'aria-label': label, tabIndex: 0 })}
      className={cx('flex flex-col gap-4 overflow-y-auto px-5 py-4 focus-visible:-outline-offset-2', className)}
    >
      {children}
    </div>
  );
}

export function DialogFooter({ children }: { readonly children: ReactNode }) {
  return <div className="border-line bg-panel flex flex-wrap justify-end gap-2 border-t px-5 py-3">{children}</div>;
}
