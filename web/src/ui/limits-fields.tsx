import { useTranslation } from 'react-i18next';
import { type LimitName, limitNames, type LimitsDraft } from '../lib/limits.ts';
import { problemAt } from '../lib/problems.ts';
import { TextField } from './field.tsx';

interface LimitsFieldsProps {
  readonly draft: LimitsDraft;
  readonly onChange: (draft: LimitsDraft) => void;
  /** What is wrong with the value at `limits.callsPerMinute` and so on. */
  readonly error?: unknown;
  /** The same where they stand elsewhere. */
  readonly at?: (name: LimitName) => string | undefined;
  /** Whose calls are counted. */
  readonly hint: string;
}

/** How many calls are let through in a minute, at the same time, and in a day. */
export function LimitsFields({ draft, onChange, error, at, hint }: LimitsFieldsProps) {
  const { t } = useTranslation();
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">
        {t('limits.title')} <span className="text-soft ml-1 text-xs font-normal">{t('common.optional')}</span>
      </legend>
      <p className="text-soft text-xs">{hint}</p>
      <div className="grid grid-cols-1 items-start gap-3 sm:grid-cols-3">
        {limitNames.map((name) => (
          <TextField
            key={name}
            label={t(`limits.${name}`)}
            error={at ? at(name) : problemAt(error, `limits.${name}`)}
            inputMode="numeric"
            placeholder={t('limits.none')}
            value={draft[name]}
            onChange={(event) => onChange({ ...draft, [name]: event.target.value.replace(/\D/g, '') })}
          />
        ))}
      </div>
    </fieldset>
  );
}
