import { type ComponentProps, type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../lib/cx.ts';
import { controlClass, Select, type SelectProps } from './select.tsx';

export const inputClass = cx(controlClass, 'w-full text-ellipsis');

/** The browser's own words, in our button. */
export const fileClass = cx(
  inputClass,
  'file:bg-hover file:text-ink cursor-pointer p-1 file:mr-3 file:min-h-7 file:cursor-pointer file:rounded-sm file:border file:border-solid file:border-edge file:px-3 file:text-sm file:font-medium',
);

interface FieldProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly optional?: boolean;
  readonly className?: string;
  /** Gets what ties it to its label, hint and error. */
  readonly children: (bind: FieldBinding) => ReactNode;
}

export interface FieldBinding {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean | undefined;
}

/** A label, a control, what to put in, and what is wrong with it. */
export function Field({ label, hint, error, optional = false, className, children }: FieldProps) {
  const { t } = useTranslation();
  const id = useId();
  const about = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className={cx('flex flex-col gap-1', className)}>
      <label htmlFor={id} className="text-sm font-medium">
        {label}
        {optional && <span className="text-soft ml-1.5 text-xs font-normal">{t('common.optional')}</span>}
      </label>
      {children({
        id,
        'aria-describedby': about === '' ? undefined : about,
        'aria-invalid': error !== undefined || undefined,
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-soft text-xs">
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className="text-bad text-xs">
          {error}
        </p>
      )}
    </div>
  );
}

type TextFieldProps = Omit<FieldProps, 'children'> & Omit<ComponentProps<'input'>, 'children' | 'className' | 'id'>;

export function TextField({ label, hint, error, optional, className, ...input }: TextFieldProps) {
  const field = { label, hint, error, ...(optional && { optional }), ...(className !== undefined && { className }) };
  return <Field {...field}>{(bind) => <input type="text" className={inputClass} {...input} {...bind} />}</Field>;
}

type TextAreaProps = Omit<FieldProps, 'children'> &
  Omit<ComponentProps<'textarea'>, 'children' | 'className' | 'id'> & { readonly code?: boolean };

export function TextAreaField({ label, hint, error, optional, className, code, ...input }: TextAreaProps) {
  const field = { label, hint, error, ...(optional && { optional }), ...(className !== undefined && { className }) };
  const look = cx(inputClass, 'resize-y', code && 'font-mono text-xs pointer-coarse:text-sm');
  return (
    <Field {...field}>{(bind) => <textarea rows={4} spellCheck={!code} className={look} {...input} {...bind} />}</Field>
  );
}

type SelectFieldProps = Omit<FieldProps, 'children'> & SelectProps;

export function SelectField({ label, hint, error, optional, className, options, ...select }: SelectFieldProps) {
  const field = { label, hint, error, ...(optional && { optional }), ...(className !== undefined && { className }) };
  return <Field {...field}>{(bind) => <Select options={options} className="w-full" {...select} {...bind} />}</Field>;
}

type CheckProps = Omit<ComponentProps<'input'>, 'type'> & { readonly label: ReactNode; readonly hint?: ReactNode };

export function Check({ label, hint, className, ...input }: CheckProps) {
  return (
    <label
      className={cx('flex items-start gap-2 text-sm pointer-coarse:min-h-10 pointer-coarse:items-center', className)}
    >
      <input type="checkbox" className="accent-accent mt-0.5 size-4 shrink-0 pointer-coarse:size-5" {...input} />
      <span>
        {label}
        {hint !== undefined && <span className="text-soft block text-xs">{hint}</span>}
      </span>
    </label>
  );
}
