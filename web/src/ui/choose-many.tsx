import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { matches } from '../lib/search.ts';
import { Check } from './field.tsx';
import { SearchBox } from './search-box.tsx';

interface ChooseManyProps {
  readonly label: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  readonly error?: string | undefined;
}

/** Beyond so many a search helps. */
const few = 8;

/** Any number of things out of a list. What is chosen and no longer there stays until it is taken out. */
export function ChooseMany({ label, options, chosen, onChange, error }: ChooseManyProps) {
  const { t } = useTranslation();
  const [q, setQ] = useState('');
  const gone = chosen.filter((value) => !options.some((option) => option.value === value));
  const all = [...gone.map((value) => ({ value, label: value })), ...options];
  const shown = all.filter((option) => matches(q, option.label));
  return (
    <fieldset>
      <legend className="mb-1 text-sm font-medium">{label}</legend>
      {all.length > few && (
        <SearchBox className="mb-2" label={`${t('common.search')}: ${label}`} value={q} onChange={setQ} />
      )}
      <div className="border-edge max-h-44 overflow-y-auto rounded-md border px-3 py-2">
        {shown.length === 0 && <p className="text-soft text-sm">{t('common.none')}</p>}
        {shown.slice(0, 200).map(({ value, label: name }) => (
          <Check
            key={value}
            className="py-0.5"
            label={name}
            checked={chosen.includes(value)}
            onChange={(event) =>
              onChange(event.target.checked ? [...chosen, value] : chosen.filter((each) => each !== value))
            }
          />
        ))}
      </div>
      {error !== undefined && <p className="text-bad mt-1 text-xs">{error}</p>}
    </fieldset>
  );
}
