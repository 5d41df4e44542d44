import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { focusItself, useFocusBack } from '../lib/focus.ts';
import { IconButton } from './button.tsx';

interface DrawerProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  /** Beside its title. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** One thing of a list, beside it; the whole page on phones. It is open as long as it is there. */
export function Drawer({ title, onClose, actions, children }: DrawerProps) {
  const { t } = useTranslation();
  const giveBack = useFocusBack();
  return (
    <Radix.Root open onOpenChange={(next) => next || onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/30" />
        <Radix.Content
          aria-describedby={undefined}
          tabIndex={-1}
          onOpenAutoFocus={focusItself}
          onCloseAutoFocus={giveBack}
          className="lifted animate-appear fixed inset-y-0 right-0 z-50 flex w-full flex-col outline-none sm:max-w-xl"
        >
          <div className="border-line flex items-center gap-4 border-b px-5 py-3">
            <Radix.Title className="min-w-0 flex-1 text-base font-semibold break-words">{title}</Radix.Title>
            {actions}
            <IconButton icon={X} label={t('common.close')} onClick={onClose} />
          </div>
          <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto px-5 py-4">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
