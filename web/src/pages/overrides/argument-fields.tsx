import { useTranslation } from 'react-i18next';
import { Badge } from '../../ui/badge.tsx';
import { Check, SelectField, TextField } from '../../ui/field.tsx';
import { type ArgumentDraft, type Way, ways } from './draft.ts';

interface ArgumentFieldsProps {
  readonly arguments: readonly ArgumentDraft[];
  readonly onChange: (next: ArgumentDraft) => void;
  /** What is wrong with the value at this path. */
  readonly at: (path: string) => string | undefined;
}

/** Each argument of a tool: who gives it, whether clients see it, and what it is called for. */
export function ArgumentFields({ arguments: all, onChange, at }: ArgumentFieldsProps) {
  const { t } = useTranslation();
  if (all.length === 0) return null;
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="text-sm font-medium">{t('overrides.arguments')}</legend>
      <p className="text-soft text-xs">{t('overrides.argumentsHint')}</p>
      <ul className="border-line divide-line divide-y rounded-lg border">
        {all.map((one) => (
          <li key={one.name}>
            <Argument argument={one} onChange={onChange} at={at} />
          </li>
        ))}
      </ul>
    </fieldset>
  );
}

interface ArgumentProps extends Pick<ArgumentFieldsProps, 'onChange' | 'at'> {
  readonly argument: ArgumentDraft;
}

function Argument({ argument, onChange, at }: ArgumentProps) {
  const { t } = useTranslation();
  const { name, way, text, isText, hidden, description, own } = argument;
  const errorOf = (member: string) => at(`arguments.${name}.${member}`);
  const ofValue = way === 'open' ? undefined : (errorOf(way) ?? at(`arguments.${name}`));
  const ofHidden = errorOf('hidden');
  const isSet = way !== 'open' || hidden || description !== '';
  return (
    <details open={isSet || ofHidden !== undefined} className="px-3 py-2">
      <summary className="touch cursor-pointer rounded-sm text-sm">
        <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
          <code className="text-[0.8125rem] break-all">{name}</code>
          <span className="text-soft text-xs">{own?.type}</span>
          {own?.required && <Badge>{t('overrides.required')}</Badge>}
          {!own && <Badge tone="warn">{t('overrides.gone')}</Badge>}
        </span>
      </summary>
      <div className="grid items-start gap-3 py-2 sm:grid-cols-2">
        <SelectField
          label={t('overrides.way')}
          aria-label={`${t('overrides.way')}: ${name}`}
          value={way}
          onChange={(event) => onChange({ ...argument, way: event.target.value as Way })}
          options={ways.map((value) => ({ value, label: t(`overrides.ways.${value}`) }))}
        />
        {way !== 'open' && (
          <TextField
            label={t('overrides.value')}
            aria-label={`${t('overrides.value')}: ${name}`}
            hint={isText ? undefined : t('overrides.asJson')}
            error={ofValue}
            autoCapitalize="none"
            spellCheck={false}
            className="font-mono"
            value={text}
            onChange={(event) => onChange({ ...argument, text: event.target.value })}
          />
        )}
        <TextField
          label={t('overrides.description')}
          aria-label={`${t('overrides.description')}: ${name}`}
          className="sm:col-span-2"
          error={errorOf('description')}
          optional
          placeholder={own?.description}
          value={description}
          onChange={(event) => onChange({ ...argument, description: event.target.value })}
        />
        <div className="flex flex-col gap-1 sm:col-span-2">
          <Check
            label={t('overrides.hide')}
            aria-label={`${t('overrides.hide')}: ${name}`}
            aria-invalid={ofHidden !== undefined || undefined}
            checked={hidden}
            onChange={(event) => onChange({ ...argument, hidden: event.target.checked })}
          />
          {ofHidden !== undefined && (
            <p role="alert" className="text-bad text-xs">
              {ofHidden}
            </p>
          )}
        </div>
      </div>
    </details>
  );
}
