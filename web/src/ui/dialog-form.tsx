import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from './button.tsx';
import { DialogBody, DialogFooter } from './dialog.tsx';
import { Problems } from './failure.tsx';

interface DialogFormProps {
  /** The words of the button that sends the form. */
  readonly submit: string;
  readonly onSubmit: () => void;
  readonly busy: boolean;
  readonly error: unknown;
  /** Paths that a field shows the problem of by itself. */
  readonly known: readonly string[];
  /** `Cancel` when absent. */
  readonly cancel?: string;
  readonly onCancel: () => void;
  readonly children: ReactNode;
}

/** The content of a dialog that is a form: fields, what went wrong, and two buttons. */
export function DialogForm({ submit, onSubmit, busy, error, known, cancel, onCancel, children }: DialogFormProps) {
  const { t } = useTranslation();
  return (
    <form
      className="flex min-h-0 flex-1 flex-col"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <DialogBody>
        {children}
        <Problems error={error} known={known} />
      </DialogBody>
      <DialogFooter>
        <Button onClick={onCancel}>{cancel ?? t('common.cancel')}</Button>
        <Button look="primary" type="submit" busy={busy}>
          {submit}
        </Button>
      </DialogFooter>
    </form>
  );
}
