import { AlertDialog } from 'radix-ui';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { createStore, useStore } from '../lib/store.ts';
import { Button } from './button.tsx';
import { inputClass } from './field.tsx';

export interface Question {
  readonly title: string;
  /** What is lost, and for whom. */
  readonly text: ReactNode;
  /** The verb: "Delete", never "OK". */
  readonly action: string;
  /** The verb for doing nothing; "Cancel" when absent. */
  readonly cancel?: string;
  /** To be typed, where what is lost cannot be made again. */
  readonly typed?: string;
  /**
   * The user did not ask for it: it takes no answer in its first moment, so that a click that was meant for what was
   * there before is none.
   */
  readonly isUnexpected?: boolean;
}

/** How long what comes unexpected takes no answer. */
const firstMomentMs = 700;

interface Open extends Question {
  readonly answer: (yes: boolean) => void;
}

const asked = createStore<Open | undefined>(undefined);

/** Asks before something is destroyed; true when it may be. */
export function confirm(question: Question): Promise<boolean> {
  asked.get()?.answer(false);
  return new Promise((resolve) => {
    asked.set({
      ...question,
      answer: (yes) => {
        asked.set(undefined);
        resolve(yes);
      },
    });
  });
}

/** Where the questions appear; once per page. */
export function Confirmations() {
  const question = useStore(asked);
  return question && <Asked key={question.title} {...question} />;
}

function Asked({ title, text, action, cancel, typed, isUnexpected = false, answer }: Open) {
  const { t } = useTranslation();
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
        <AlertDialog.Content className="lifted animate-appear fixed inset-x-4 top-[18vh] z-50 mx-auto max-w-md rounded-xl p-5">
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
