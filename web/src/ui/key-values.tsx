import { Plus, Trash2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useLineFocus } from '../lib/focus.ts';
import { Button, IconButton } from './button.tsx';
import { inputClass } from './field.tsx';

export interface Row {
  readonly id: number;
  readonly key: string;
  readonly value: string;
}

let lastId = 0;

export function rowOf(key = '', value = ''): Row {
  lastId += 1;
  return { id: lastId, key, value };
}

export function rowsOf(values: unknown): readonly Row[] {
  if (typeof values !== 'object' || values === null) return [];
  return Object.entries(values).map(([key, value]) =>
    rowOf(key, typeof value === 'string' ? value : JSON.stringify(value)),
  );
}

export function valuesOf(rows: readonly Row[]): Record<string, string> {
  return Object.fromEntries(rows.filter(({ key }) => key.trim() !== '').map(({ key, value }) => [key.trim(), value]));
}

/** What the hub shows of a secret; sent back it means that it stays. */
const mask = '••••';

interface KeyValuesProps {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly onChange: (rows: readonly Row[]) => void;
  readonly errorOf?: (key: string) => string | undefined;
}

/** Names and values, like an environment. What looks like a secret is not shown while it is typed. */
export function KeyValues({ label, rows, onChange, errorOf }: KeyValuesProps) {
  const { t } = useTranslation();
  const lines = useLineFocus(rows.length);
  const change = (id: number, part: Partial<Row>) =>
    onChange(rows.map((row) => (row.id === id ? { ...row, ...part } : row)));
  return (
    <fieldset ref={lines} className="flex flex-col gap-1.5">
      <legend className="mb-1 text-sm font-medium">{label}</legend>
      {rows.map(({ id, key, value }) => (
        <div key={id} className="flex flex-col gap-1">
          <div className="flex items-center gap-1.5">
            <input
              className={`${inputClass} basis-2/5 font-mono !text-xs`}
              aria-label={`${label}: ${t('servers.form.key')}`}
              placeholder={t('servers.form.key')}
              autoCapitalize="none"
              spellCheck={false}
              value={key}
              onChange={(event) => change(id, { key: event.target.value })}
            />
            <input
              className={`${inputClass} font-mono !text-xs`}
              aria-label={`${label}: ${key || t('servers.form.value')}`}
              placeholder={value === mask ? t('servers.form.masked') : t('servers.form.value')}
              type={/key|token|secret|passw|auth/i.test(key) ? 'password' : 'text'}
              autoComplete="off"
              spellCheck={false}
              value={value}
              onFocus={(event) => value === mask && event.target.select()}
              onChange={(event) => change(id, { value: event.target.value })}
            />
            <IconButton
              icon={Trash2}
              label={t('servers.form.removeRow', { name: key })}
              onClick={() => onChange(rows.filter((row) => row.id !== id))}
            />
          </div>
          {errorOf?.(key) !== undefined && <p className="text-bad text-xs">{errorOf(key)}</p>}
        </div>
      ))}
      <div>
        <Button look="quiet" icon={Plus} onClick={() => onChange([...rows, rowOf()])}>
          {t('servers.form.addRow')}
        </Button>
      </div>
    </fieldset>
  );
}
