import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { JsonObject } from '../../api/types.ts';
import { problemIn } from '../../i18n/hub-texts.ts';
import { useAction } from '../../lib/action.ts';
import { problemsOf } from '../../lib/problems.ts';
import { DialogForm } from '../../ui/dialog-form.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Check, SelectField, TextAreaField, TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
import { Overtaken } from '../../ui/overtaken.tsx';
import { draftOf, edited, type GuardDraft, memberAt } from './guard-draft.ts';
import { changeGuards } from './queries.ts';

interface GuardFormProps {
  /** As it was when the form was opened. Undefined: a new one, which comes last. */
  readonly opened: { readonly guard: JsonObject; readonly name: string } | undefined;
  /** The same as the hub has it now. */
  readonly now: JsonObject | undefined;
  readonly onClose: () => void;
}

export function GuardForm({ opened, now, onClose }: GuardFormProps) {
  const { t } = useTranslation();
  const [draft, setDraft] = useState(() => draftOf(opened?.guard));
  const set = (part: Partial<GuardDraft>) => setDraft({ ...draft, ...part });
  const { save, place } = useSaving(opened, draft, onClose);
  const problems = problemsOf(save.error);
  const at = (member: string) => {
    const problem = problems.find(({ path }) => memberAt(path, place) === member);
    return problem && (problemIn(problem) ?? problem.message);
  };
  const fields = ['id', 'url', 'on', 'servers', 'timeoutMs', 'secret'];
  const known = problems.map(({ path }) => path).filter((path) => fields.includes(memberAt(path, place) ?? ''));
  return (
    <Dialog
      open
      title={opened ? t('guards.edit', { name: opened.name }) : t('guards.add')}
      description={t('guards.trust')}
      onClose={onClose}
    >
      <DialogForm
        submit={t(opened ? 'common.save' : 'common.add')}
        onSubmit={() => save.mutate()}
        busy={save.isPending}
        error={save.error}
        known={known}
        onCancel={onClose}
      >
        <TextField
          label={t('guards.id')}
          hint={t('guards.idHint')}
          error={at('id')}
          optional
          value={draft.id}
          onChange={(event) => set({ id: event.target.value })}
        />
        <TextField
          label={t('guards.url')}
          hint={t('guards.urlHint')}
          error={at('url')}
          required
          inputMode="url"
          spellCheck={false}
          autoCapitalize="none"
          placeholder="https://"
          value={draft.url}
          onChange={(event) => set({ url: event.target.value })}
        />
        <Moments draft={draft} set={set} error={at('on')} />
        <TextAreaField
          label={t('guards.servers')}
          hint={t('guards.serversHint')}
          error={at('servers')}
          optional
          code
          rows={2}
          value={draft.servers}
          onChange={(event) => set({ servers: event.target.value })}
        />
        <SelectField
          label={t('guards.onFailure')}
          value={draft.onFailure}
          onChange={(event) => set({ onFailure: event.target.value === 'allow' ? 'allow' : 'refuse' })}
          options={(['refuse', 'allow'] as const).map((value) => ({ value, label: t(`guards.${value}`) }))}
        />
        <TextField
          label={t('guards.timeout')}
          error={at('timeoutMs')}
          optional
          inputMode="numeric"
          placeholder="5000"
          value={draft.timeout}
          onChange={(event) => set({ timeout: event.target.value.replace(/\D/g, '') })}
        />
        <TextField
          label={t('guards.secret')}
          hint={t('guards.secretHint')}
          error={at('secret')}
          optional
          type="password"
          autoComplete="off"
          value={draft.secret}
          onChange={(event) => set({ secret: event.target.value })}
        />
        <Overtaken since={opened?.guard} now={now} />
      </DialogForm>
    </Dialog>
  );
}

/** `place`: where in the list the guard was put, which is where the hub says what is wrong. */
function useSaving(opened: GuardFormProps['opened'], draft: GuardDraft, onClose: () => void) {
  const { t } = useTranslation();
  const [place, setPlace] = useState(0);
  const save = useAction({
    quiet: true,
    run: () =>
      changeGuards((now) => {
        const next = edited(now, opened?.guard, draft);
        if (!next) throw new Error(t('guards.gone', { name: opened?.name ?? '' }));
        setPlace(next.place);
        return next.guards;
      }),
    done: () => {
      toast.good(t('common.saved'));
      onClose();
    },
  });
  return { save, place };
}

interface MomentsProps {
  readonly draft: GuardDraft;
  readonly set: (part: Partial<GuardDraft>) => void;
  readonly error: string | undefined;
}

function Moments({ draft, set, error }: MomentsProps) {
  const { t } = useTranslation();
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="text-sm font-medium">{t('guards.looksAt')}</legend>
      {(['calls', 'results'] as const).map((moment) => (
        <Check
          key={moment}
          label={t(`guards.${moment}Text`)}
          checked={draft[moment]}
          onChange={(event) => set({ [moment]: event.target.checked })}
        />
      ))}
      {error !== undefined && (
        <p role="alert" className="text-bad text-xs">
          {error}
        </p>
      )}
    </fieldset>
  );
}
