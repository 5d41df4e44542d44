import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { JsonObject, RequiredConfig } from '../../api/types.ts';
import { isObject } from '../../lib/json.ts';
import { problemAt } from '../../lib/problems.ts';
import { Check, TextAreaField, TextField } from '../../ui/field.tsx';
import { DialogForm } from '../../ui/dialog-form.tsx';

/** An entry of a bundle's `user_config`. */
interface Option {
  readonly type: RequiredConfig['type'];
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly sensitive?: boolean;
  readonly multiple?: boolean;
  readonly default?: unknown;
  readonly min?: number;
  readonly max?: number;
}

/** The answer to an upload. */
export interface Uploaded {
  readonly manifest: { readonly user_config?: Readonly<Record<string, Option>> };
  readonly server: { readonly name: string; readonly config: JsonObject };
  /** What is still missing; without it the server is disabled. */
  readonly requiredConfig: readonly RequiredConfig[];
}

interface BundleValuesProps {
  readonly uploaded: Uploaded;
  readonly busy: boolean;
  readonly error: unknown;
  readonly onSave: (values: JsonObject) => void;
  readonly onLater: () => void;
}

/**
 * The bundle's `user_config` as a form: what it cannot run without first, and everything else below. Only what was
 * changed is sent.
 */
export function BundleValues({ uploaded, busy, error, onSave, onLater }: BundleValuesProps) {
  const { t } = useTranslation();
  const { manifest, server, requiredConfig } = uploaded;
  const before = valuesBefore(server.config);
  const [values, setValues] = useState<JsonObject>({});
  const options = Object.entries(manifest.user_config ?? {});
  const missing = new Set(requiredConfig.map(({ key }) => key));
  const fields = (wanted: boolean) =>
    options
      .filter(([key]) => missing.has(key) === wanted)
      .map(([key, option]) => (
        <Value
          key={key}
          name={key}
          option={option}
          missing={wanted}
          before={before[key]}
          value={values[key]}
          error={problemAt(error, `userConfig.${key}`)}
          onChange={(value) => setValues({ ...values, [key]: value })}
        />
      ));
  const others = fields(false);
  const title = missing.size > 0 ? 'servers.bundle.needs' : 'servers.bundle.mayBeSet';
  return (
    <DialogForm
      submit={t(missing.size > 0 ? 'servers.bundle.finish' : 'servers.bundle.save')}
      onSubmit={() => onSave(values)}
      busy={busy}
      error={error}
      known={options.map(([key]) => `userConfig.${key}`)}
      cancel={t(missing.size > 0 ? 'servers.bundle.later' : 'servers.bundle.asItIs')}
      onCancel={onLater}
    >
      <p className="font-medium">{t(title, { name: server.name })}</p>
      {fields(true)}
      {missing.size > 0 && others.length > 0 && (
        <h3 className="border-line text-soft border-t pt-4 text-xs font-medium">{t('servers.bundle.others')}</h3>
      )}
      {others}
    </DialogForm>
  );
}

/** What was given for the version before, but for secrets. */
function valuesBefore({ bundle }: JsonObject): JsonObject {
  const given = isObject(bundle) ? bundle['userConfig'] : undefined;
  return isObject(given) ? given : {};
}

interface ValueProps {
  readonly name: string;
  readonly option: Option;
  readonly missing: boolean;
  /** What is in force without a new value, with the default below it. */
  readonly before: unknown;
  /** Undefined until it is changed. */
  readonly value: unknown;
  readonly error: string | undefined;
  readonly onChange: (value: unknown) => void;
}

function Value({ name, option, missing, before, value, error, onChange }: ValueProps) {
  const { t } = useTranslation();
  const { title = name, description, type, multiple = false, sensitive = false, min, max } = option;
  const shown = value ?? before;
  if (type === 'boolean') {
    const checked = shown ?? option.default;
    return (
      <Check
        label={title}
        hint={description}
        checked={checked === true || checked === 'true'}
        onChange={({ target }) => onChange(target.checked)}
      />
    );
  }
  // Defaults hold variables of the bundle (`${HOME}`), which only the hub can fill in: they are shown, and not sent.
  const usual = listOf(option.default).join(multiple ? '\n' : ', ');
  const field = {
    label: title,
    hint: hintOf(description, type === 'directory' || type === 'file' ? t('servers.bundle.path') : ''),
    error,
    optional: !missing && option.required !== true,
    required: missing,
    // A required secret that is not missing was given before.
    placeholder: sensitive && !missing && option.required === true ? t('servers.form.masked') : usual,
    autoComplete: 'off',
  };
  if (multiple) {
    return (
      <TextAreaField
        {...field}
        hint={hintOf(description, t('servers.bundle.lines'))}
        rows={3}
        value={listOf(shown).join('\n')}
        onChange={({ target }) => onChange(target.value === '' ? [] : target.value.split('\n'))}
      />
    );
  }
  return (
    <TextField
      {...field}
      type={sensitive ? 'password' : type === 'number' ? 'number' : 'text'}
      step="any"
      {...(min !== undefined && { min })}
      {...(max !== undefined && { max })}
      value={listOf(shown).join('')}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

function hintOf(...parts: readonly (string | undefined)[]): string | undefined {
  return parts.filter(Boolean).join(' ') || undefined;
}

function listOf(value: unknown): readonly string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.flatMap((each) => (typeof each === 'string' || typeof each === 'number' ? [String(each)] : []));
}
