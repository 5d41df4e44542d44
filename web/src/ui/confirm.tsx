import type { ReactNode } from 'react';
import { lazily } from '../lib/lazily.tsx';
import { createStore, useStore } from '../lib/store.ts';

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

const Asked = lazily<Open>(
  () => import('./asked.tsx').then(({ Asked }) => Asked),
  ({ answer }) => answer(false),
);

/** Where the questions appear; once per page. */
export function Confirmations() {
  const question = useStore(asked);
  return question && <Asked key={question.title} {...question} />;
}
