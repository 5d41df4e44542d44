import { useMutation } from '@tanstack/react-query';
import { FlaskConical } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/client.ts';
import type { Policy, Simulation } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { useAction } from '../../lib/action.ts';
import { Button } from '../../ui/button.tsx';
import { confirm } from '../../ui/confirm.tsx';
import { DialogForm } from '../../ui/dialog-form.tsx';
import { Dialog, DialogBody, DialogFooter } from '../../ui/dialog.tsx';
import { FormError } from '../../ui/failure.tsx';
import { Check, SelectField, TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
import { type ExampleName, examples } from './examples.ts';
import { PolicyText } from './policy-text.tsx';
import { problemsOf } from './problems.ts';
import { changePolicies, tryPolicy, type Written } from './queries.ts';
import { Simulated, Warnings, warningsOf } from './simulation.tsx';

interface PolicyFormProps {
  /** As the hub has it now. Undefined: a new one. */
  readonly policy: Policy | undefined;
  readonly onClose: () => void;
}

const none: ReturnType<typeof problemsOf> = { inText: [], ofId: undefined, paths: [] };

/** A policy: its text, what that would have done with recorded calls, and saving it. Those of files are only shown. */
export function PolicyForm({ policy, onClose }: PolicyFormProps) {
  const { t } = useTranslation();
  const isShownOnly = policy?.source === 'file' || boot.readonly;
  const title = policy ? t(isShownOnly ? 'policies.look' : 'policies.edit', { name: policy.id }) : t('policies.add');
  return (
    <Dialog open wide title={title} onClose={onClose}>
      {policy && isShownOnly ? (
        <Shown policy={policy} onClose={onClose} />
      ) : (
        <Editor policy={policy} onClose={onClose} />
      )}
    </Dialog>
  );
}

function Shown({ policy, onClose }: { readonly policy: Policy; readonly onClose: () => void }) {
  const { t } = useTranslation();
  const { found, problems, tried } = useTrying();
  return (
    <>
      <DialogBody>
        {policy.source === 'file' && <p className="text-soft text-sm">{t('policies.ofFile')}</p>}
        <PolicyText value={policy.text} onChange={undefined} problems={problems.inText} />
        {!found && <Warnings warnings={warningsOf(policy)} />}
        <Try busy={tried.isPending} text={policy.text} onTry={() => tried.mutate(policy)} found={found} />
        {problems.paths.length === 0 && <FormError error={tried.error} />}
      </DialogBody>
      <DialogFooter>
        <Button onClick={onClose}>{t('common.close')}</Button>
      </DialogFooter>
    </>
  );
}

function Editor({ policy, onClose }: PolicyFormProps) {
  const { t } = useTranslation();
  const [before] = useState(policy);
  const [draft, setDraft] = useState<Written>(policy ?? { id: '', text: '', enabled: true });
  const { found, setFound, problems, setProblems, tried } = useTrying();
  const save = useSaving(before, draft, setProblems, onClose);
  const set = (part: Partial<Written>) => {
    setDraft({ ...draft, ...part });
    if (part.text === undefined) return;
    setFound(undefined);
    setProblems(none);
    save.reset();
    tried.reset();
  };
  return (
    <DialogForm
      submit={t(before ? 'common.save' : 'common.add')}
      onSubmit={() => {
        tried.reset();
        save.mutate();
      }}
      busy={save.isPending}
      // What is said of the text and the name stands there.
      error={problems.paths.length > 0 ? undefined : (save.error ?? tried.error)}
      known={[]}
      onCancel={onClose}
    >
      {!before && (
        <Examples text={draft.text} onChoose={(name) => set({ id: draft.id || name, text: examples[name] })} />
      )}
      <TextField
        label={t('policies.name')}
        hint={t('policies.nameHint')}
        error={problems.ofId}
        required
        autoCapitalize="none"
        spellCheck={false}
        value={draft.id}
        onChange={(event) => set({ id: event.target.value })}
      />
      <PolicyText value={draft.text} onChange={(text) => set({ text })} problems={problems.inText} />
      {!found && policy && draft.text === policy.text && <Warnings warnings={warningsOf(policy)} />}
      <Try
        busy={tried.isPending}
        text={draft.text}
        onTry={() => {
          save.reset();
          tried.mutate(draft);
        }}
        found={found}
      />
      <Check
        label={t('policies.enabled')}
        hint={t('policies.enabledHint')}
        checked={draft.enabled}
        onChange={(event) => set({ enabled: event.target.checked })}
      />
      {policy && before && policy.text !== before.text && (
        <p role="status" className="text-warn text-sm">
          {t('servers.form.overtaken')}
        </p>
      )}
    </DialogForm>
  );
}

interface TryProps {
  readonly busy: boolean;
  readonly text: string;
  readonly onTry: () => void;
  readonly found: Simulation | undefined;
}

/** A button that tries the text on recorded calls, and what came of it. */
function Try({ busy, text, onTry, found }: TryProps) {
  const { t } = useTranslation();
  return (
    <>
      <div>
        <Button icon={FlaskConical} busy={busy} disabled={text.trim() === ''} onClick={onTry}>
          {t('policies.try')}
        </Button>
      </div>
      {found && <Simulated found={found} />}
    </>
  );
}

function useTrying() {
  const [found, setFound] = useState<Simulation>();
  // Kept as they are, and not made at each letter: the cursor goes to a problem when it comes.
  const [problems, setProblems] = useState(none);
  const tried = useMutation<Simulation, unknown, Written>({
    mutationFn: ({ id, text }) => tryPolicy(id, text),
    onSuccess: (answer) => {
      setProblems(none);
      setFound(answer);
    },
    onError: (error) => {
      setProblems(problemsOf(error instanceof ApiError ? error.problems : []));
      setFound(undefined);
    },
  });
  return { found, setFound, problems, setProblems, tried };
}

function useSaving(
  before: Written | undefined,
  draft: Written,
  problems: (found: typeof none) => void,
  onSaved: () => void,
) {
  const { t } = useTranslation();
  return useAction({
    run: async () => {
      const next = { ...draft, id: draft.id.trim() };
      try {
        await changePolicies((now) =>
          now.some(({ id }) => id === before?.id)
            ? now.map((each) => (each.id === before?.id ? next : each))
            : [...now, next],
        );
      } catch (error) {
        problems(problemsOf(error instanceof ApiError ? error.problems : []));
        throw error;
      }
    },
    done: () => {
      toast.good(t('common.saved'));
      onSaved();
    },
    quiet: true,
  });
}

interface ExamplesProps {
  readonly text: string;
  readonly onChoose: (name: ExampleName) => void;
}

/** What to begin with. What was typed is asked about before an example takes its place. */
function Examples({ text, onChoose }: ExamplesProps) {
  const { t } = useTranslation();
  const names = Object.keys(examples) as ExampleName[];
  const chosen = names.find((name) => examples[name] === text);
  const choose = async (name: ExampleName | undefined) => {
    if (name === undefined) return;
    const question = {
      title: t('common.dropTitle'),
      text: t('policies.exampleDrops'),
      action: t('common.drop'),
      cancel: t('common.keepEditing'),
    };
    if (text.trim() === '' || chosen !== undefined || (await confirm(question))) onChoose(name);
  };
  return (
    <SelectField
      label={t('policies.example')}
      hint={t('policies.exampleHint')}
      value={chosen ?? ''}
      onChange={(event) => void choose(names.find((name) => name === event.target.value))}
      options={[
        { value: '', label: t('policies.noExample') },
        ...names.map((name) => ({ value: name, label: t(`policies.examples.${name}`) })),
      ]}
    />
  );
}
