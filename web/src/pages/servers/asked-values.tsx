import { useTranslation } from 'react-i18next';
import { TextField } from '../../ui/field.tsx';
import type { Ask, Given } from './asks.ts';

interface AskedValuesProps {
  readonly asks: readonly Ask[];
  readonly given: Given;
  readonly onGive: (given: Given) => void;
}

/** What a new server lacks, asked for in place. */
export function AskedValues({ asks, given, onGive }: AskedValuesProps) {
  const { t } = useTranslation();
  if (asks.length === 0) return null;
  return (
    <fieldset className="border-line flex flex-col gap-3 rounded-lg border p-3">
      <legend className="px-1 text-sm font-medium">{t('servers.form.asks')}</legend>
      {asks.map(({ key, label = key, hint, from, secret, required }) => (
        <TextField
          key={key}
          label={label}
          hint={
            hint === undefined && from === undefined ? undefined : (
              <>
                {hint}{' '}
                {from !== undefined && (
                  <a href={from} target="_blank" rel="noreferrer" className="text-accent-ink touch hover:underline">
                    {t('servers.form.whereFrom')}
                  </a>
                )}
              </>
            )
          }
          required={required}
          optional={!required}
          type={secret ? 'password' : 'text'}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={given[key] ?? ''}
          onChange={({ target: { value } }) => onGive({ ...given, [key]: value })}
        />
      ))}
    </fieldset>
  );
}
