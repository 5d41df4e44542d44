import { CircleAlert, RotateCw } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../api/client.ts';
import { problemIn, sentenceIn } from '../i18n/hub-texts.ts';
import { many } from '../lib/format.ts';
import { otherProblems } from '../lib/problems.ts';
import { Button } from './button.tsx';

/** Words for an error: the hub's own where it answered. */
export function useErrorText(): (error: unknown) => string {
  const { t } = useTranslation();
  return (error) => {
    if (error instanceof ApiError && error.status === 0) return t('failure.unreachable');
    const said = error instanceof ApiError ? sentenceIn(error.said) : undefined;
    const wrong = error instanceof ApiError ? error.problems.map((problem) => problemIn(problem)) : [];
    if (said === undefined && wrong.length > 0 && wrong.every((words) => words !== undefined)) {
      const [problem = ''] = wrong;
      return wrong.length === 1 ? t('failure.wrongValue', { problem }) : t('failure.wrongValues', many(wrong.length));
    }
    return said ?? (error instanceof Error ? error.message : String(error));
  };
}

/** Something that could not be loaded, in its place. */
export function Failure({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  const { t } = useTranslation();
  const words = useErrorText();
  return (
    <div role="alert" className="flex flex-col items-center px-6 py-10 text-center">
      <CircleAlert size={22} aria-hidden className="text-bad mb-2" />
      <p className="font-medium">{t('failure.title')}</p>
      <p className="text-soft mt-1 max-w-lg text-sm break-words">{words(error)}</p>
      {retry && !(error instanceof ApiError && error.hasNoDatabase) && (
        <Button icon={RotateCw} className="mt-4" onClick={retry}>
          {t('common.retry')}
        </Button>
      )}
    </div>
  );
}

/** What went wrong with a form, above its buttons. */
export function FormError({ error }: { readonly error: unknown }) {
  const words = useErrorText();
  if (error === null || error === undefined) return null;
  return (
    <p role="alert" className="bg-bad-wash text-bad rounded-md px-3 py-2 text-sm break-words">
      {words(error)}
    </p>
  );
}

/** The failure as a whole, and what it says of values that have no field. */
export function Problems({ error, known }: { readonly error: unknown; readonly known: readonly string[] }) {
  const others = otherProblems(error, known);
  if (error === null || error === undefined) return null;
  return (
    <div className="flex flex-col gap-1">
      <FormError error={error} />
      {others.length > 1 && (
        <ul className="text-bad list-disc pl-6 text-xs">
          {others.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
