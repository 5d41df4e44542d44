import { AlertDialog } from 'radix-ui';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useFocusBack } from '../lib/focus.ts';
import { Button } from './button.tsx';
import type { Question } from './confirm.tsx';
import { inputClass } from './field.tsx';

interface AskedProps extends Question {
  readonly answer: (yes: boolean) => void;
}

/** How long what comes unexpected takes no answer. */
const firstMomentMs = 700;

/** A question over the page. */
export function Asked({ title, text, action, cancel, typed, isUnexpected = false, answer }: AskedProps) {
  const { t } = useTranslation();
  const giveBack = useFocusBack();
  const [isReady, setReady] = useState(!isUnexpected);
  useEffect(() => {
    if (isReady) return;
    const timer = setTimeout(() => setReady(true), firstMomentMs);
    return () => clearTimeout(timer);
  }, [isReady]);
  const [written, setWritten] = useState('');
  return (
    <AlertDialog.Root open onOpenChange={(open) => open || answer(false)}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="fixed inset-0 z-50 bg-black/45" />
        <AlertDialog.Content
          onCloseAutoFocus={giveBack}
          className="lifted animate-appear fixed inset-x-4 top-[18vh] z-50 mx-auto max-w-md rounded-xl p-5"
        >
          <AlertDialog.Title className="text-base font-semibold break-words">{title}</AlertDialog.Title>
          <AlertDialog.Description className="text-soft mt-1.5 text-sm break-words">{text}</AlertDialog.Description>
          {typed !== undefined && (
            <input
              className={`${inputClass} mt-3`}
              aria-label={typed}
              placeholder={typed}
              value={written}
              onChange={(event) => setWritten(event.target.value)}
            />
          )}
          <div className="mt-5 flex flex-wrap justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button>{cancel ?? t('common.cancel')}</Button>
            </AlertDialog.Cancel>
            <Button
              look="danger"
              disabled={!isReady || (typed !== undefined && written !== typed)}
              onClick={() => answer(true)}
            >
              {action}
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
