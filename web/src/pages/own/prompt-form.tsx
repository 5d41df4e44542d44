import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import type { BuiltinPrompt, JsonObject } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { useAction } from '../../lib/action.ts';
import { useLineFocus } from '../../lib/focus.ts';
import { problemAt } from '../../lib/problems.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { DialogForm } from '../../ui/dialog-form.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Check, inputClass, TextAreaField, TextField } from '../../ui/field.tsx';
import { Overtaken } from '../../ui/overtaken.tsx';
import { toast } from '../../ui/toast.tsx';
import { type ArgumentDraft, draftOf, type PromptDraft, promptOf, shownText, unnamed } from './prompt-draft.ts';
import { putChanges } from './queries.ts';

interface PromptFormProps {
  /** As it was when the form was opened. Undefined: a new one. */
  readonly prompt: BuiltinPrompt | undefined;
  /** As the hub has it now. */
  readonly now: BuiltinPrompt | undefined;
  readonly onClose: () => void;
}

/** A prompt of the hub: its texts, its arguments, and what a client gets. */
export function PromptForm({ prompt, now, onClose }: PromptFormProps) {
  const { t } = useTranslation();
  const [draft, setDraft] = useState(() => draftOf(prompt));
  const set = (part: Partial<PromptDraft>) => setDraft({ ...draft, ...part });
  const save = useAction<JsonObject>({
    quiet: true,
    run: (body) =>
      prompt
        ? putChanges(`/prompts${pathOf(prompt.id)}`, promptOf(draftOf(prompt)), body)
        : ask('/prompts', { method: 'POST', body: { ...body, enabled: true } }),
    done: () => {
      toast.good(t('common.saved'));
      onClose();
    },
  });
  const at = (path: string) => problemAt(save.error, path);
  const missing = unnamed(draft);
  const fieldsOf = ({ name }: ArgumentDraft) => name.trim() !== '';
  return (
    <Dialog
      open
      wide
      title={prompt ? t('own.edit', { name: prompt.name }) : t('own.prompts.add')}
      description={t('own.prompts.lead')}
      onClose={onClose}
    >
      <DialogForm
        submit={t(prompt ? 'common.save' : 'common.add')}
        onSubmit={() => {
          if (!boot.readonly) save.mutate(promptOf(draft));
        }}
        busy={save.isPending}
        error={save.error}
        known={['name', 'title', 'description', 'template']}
        onCancel={onClose}
      >
        <div className="grid items-start gap-4 sm:grid-cols-2">
          <TextField
            label={t('own.name')}
            hint={t('own.nameHint')}
            error={at('name')}
            required
            autoCapitalize="none"
            spellCheck={false}
            value={draft.name}
            onChange={(event) => set({ name: event.target.value })}
          />
          <TextField
            label={t('own.title')}
            error={at('title')}
            optional
            value={draft.title}
            onChange={(event) => set({ title: event.target.value })}
          />
        </div>
        <TextField
          label={t('own.description')}
          error={at('description')}
          optional
          value={draft.description}
          onChange={(event) => set({ description: event.target.value })}
        />
        <TextAreaField
          label={t('own.template')}
          hint={t('own.templateHint', { example: '{{name}}' })}
          error={at('template')}
          rows={6}
          required
          value={draft.template}
          onChange={(event) => set({ template: event.target.value })}
        />
        <Arguments rows={draft.arguments} missing={missing} onChange={(rows) => set({ arguments: rows })} />
        <Overtaken since={prompt} now={now} />
        <Try draft={draft} names={draft.arguments.filter(fieldsOf).map(({ name }) => name.trim())} />
      </DialogForm>
    </Dialog>
  );
}

interface ArgumentsProps {
  readonly rows: readonly ArgumentDraft[];
  /** Names that the text has, and no row. */
  readonly missing: readonly string[];
  readonly onChange: (rows: readonly ArgumentDraft[]) => void;
}

function Arguments({ rows, missing, onChange }: ArgumentsProps) {
  const { t } = useTranslation();
  const lines = useLineFocus(rows.length);
  const change = (row: number, part: Partial<ArgumentDraft>) =>
    onChange(rows.map((one) => (one.row === row ? { ...one, ...part } : one)));
  const add = (names: readonly string[]) => {
    const next = Math.max(-1, ...rows.map(({ row }) => row)) + 1;
    const made = names.map((name, i) => ({ row: next + i, name, description: '', required: true, others: {} }));
    onChange([...rows, ...made]);
  };
  return (
    <fieldset ref={lines} className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">{t('own.arguments')}</legend>
      {rows.map(({ row, name, description, required }) => (
        <div key={row} className="flex flex-wrap items-center gap-2">
          <input
            className={`${inputClass} !w-40 flex-1 font-mono`}
            aria-label={t('own.argumentName')}
            placeholder={t('own.argumentName')}
            autoCapitalize="none"
            spellCheck={false}
            value={name}
            onChange={(event) => change(row, { name: event.target.value })}
          />
          <input
            className={`${inputClass} !w-56 flex-[2]`}
            aria-label={`${t('own.description')}: ${name}`}
            placeholder={t('own.description')}
            value={description}
            onChange={(event) => change(row, { description: event.target.value })}
          />
          <Check
            label={t('own.required')}
            aria-label={`${t('own.required')}: ${name}`}
            checked={required}
            onChange={(event) => change(row, { required: event.target.checked })}
          />
          <IconButton
            icon={Trash2}
            label={`${t('common.remove')} ${name}`}
            onClick={() => onChange(rows.filter((one) => one.row !== row))}
          />
        </div>
      ))}
      <div className="flex flex-wrap items-center gap-2">
        <Button icon={Plus} onClick={() => add([''])}>
          {t('own.addArgument')}
        </Button>
        {missing.length > 0 && (
          <>
            <p className="text-warn text-sm wrap-anywhere">{t('own.unnamed', { names: missing.join(', ') })}</p>
            <Button look="quiet" onClick={() => add(missing)}>
              {t('own.addUnnamed')}
            </Button>
          </>
        )}
      </div>
    </fieldset>
  );
}

function Try({ draft, names }: { readonly draft: PromptDraft; readonly names: readonly string[] }) {
  const { t } = useTranslation();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  if (draft.template === '') return null;
  return (
    <section aria-label={t('own.try')} className="flex flex-col gap-2">
      <h3 className="text-sm font-medium">{t('own.try')}</h3>
      {[...new Set(names)].map((name) => (
        <TextField
          key={name}
          label={<code className="text-xs">{name}</code>}
          aria-label={`${t('own.try')}: ${name}`}
          value={values[name] ?? ''}
          onChange={(event) => setValues({ ...values, [name]: event.target.value })}
        />
      ))}
      <Code label={t('own.tried')} text={shownText(draft, values)} />
    </section>
  );
}
