import { useQuery } from '@tanstack/react-query';
import { Undo2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, type Envelope } from '../../api/client.ts';
import type { JsonObject, ToolOverride } from '../../api/types.ts';
import { remarkIn } from '../../i18n/hub-texts.ts';
import { useAction } from '../../lib/action.ts';
import { useDelayed } from '../../lib/delayed.ts';
import { problemAt, problemsOf } from '../../lib/problems.ts';
import { Button } from '../../ui/button.tsx';
import { confirm } from '../../ui/confirm.tsx';
import { DialogForm } from '../../ui/dialog-form.tsx';
import { Dialog, DialogBody } from '../../ui/dialog.tsx';
import { Failure } from '../../ui/failure.tsx';
import { SelectField, TextAreaField, TextField } from '../../ui/field.tsx';
import { Loading } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { ArgumentFields } from './argument-fields.tsx';
import { type Draft, draftOf, hints, overrideOf, pathsOf, type Said } from './draft.ts';
import { Preview } from './preview.tsx';
import { type Overridden, overridePath, overrideQuery, previewQuery } from './queries.ts';

export interface OverrideFormProps extends Overridden {
  /** The caller may give other names, and nothing else: the owner of a group of servers of others. */
  readonly nameOnly?: boolean;
  readonly onClose: () => void;
}

/** What clients see of a tool in place of what its server says. */
export function OverrideForm({ server, tool, group, nameOnly = false, onClose }: OverrideFormProps) {
  const { t } = useTranslation();
  const path = overridePath({ server, tool, group });
  const { data, error, refetch } = useQuery(overrideQuery(path));
  return (
    <Dialog
      open
      wide
      title={t('overrides.title', { tool })}
      description={group ? t('overrides.ofGroup', { group: group.name, server }) : t('overrides.ofServer', { server })}
      onClose={onClose}
    >
      {data ? (
        <Editor path={path} now={data} ofGroup={group !== undefined} nameOnly={nameOnly} onClose={onClose} />
      ) : (
        <DialogBody>{error ? <Failure error={error} retry={() => void refetch()} /> : <Loading rows={6} />}</DialogBody>
      )}
    </Dialog>
  );
}

interface EditorProps {
  readonly path: string;
  /** As the hub has it now. */
  readonly now: ToolOverride;
  readonly ofGroup: boolean;
  readonly nameOnly: boolean;
  readonly onClose: () => void;
}

/** What is typed has rested so long before the hub is asked what clients would see. */
const restMs = 300;

function Editor({ path, now, ofGroup, nameOnly, onClose }: EditorProps) {
  const { t } = useTranslation();
  const [since] = useState(now);
  const [draft, setDraft] = useState(() => draftOf(now));
  const { override, wrong } = overrideOf(draft);
  const written = JSON.stringify(override);
  const isUnchanged = written === JSON.stringify(overrideOf(draftOf(since)).override);
  const rested = useDelayed(wrong.length > 0 || isUnchanged ? undefined : written, restMs);
  const preview = useQuery(previewQuery(path, rested === undefined ? undefined : (JSON.parse(rested) as JsonObject)));
  const save = useSaving(path, onClose);
  const remove = useRemoving(path, onClose);
  const error = save.error ?? (rested === undefined ? null : preview.error);
  const known = pathsOf(draft);
  // While one types, what a field says is enough.
  const isPlaced = save.error === null && problemsOf(error).some(({ path }) => known.includes(path));
  const [tried, setTried] = useState(false);
  const at = (member: string) => (tried && wrong.includes(member) ? t('overrides.noJson') : problemAt(error, member));
  const set = (part: Partial<Draft>) => {
    setDraft({ ...draft, ...part });
    save.reset();
  };
  const shown = rested === undefined ? { data: now } : preview.data;
  return (
    <DialogForm
      submit={t('common.save')}
      onSubmit={() => {
        setTried(true);
        if (wrong.length === 0) save.mutate(override);
      }}
      busy={save.isPending}
      error={isPlaced ? null : error}
      known={known}
      onCancel={onClose}
    >
      {nameOnly && <p className="text-soft text-sm">{t('overrides.nameOnly')}</p>}
      {now.before === null && <p className="text-warn text-sm">{t('overrides.unknown')}</p>}
      <Texts draft={draft} own={now.before ?? {}} nameOnly={nameOnly} set={set} at={at} />
      {!nameOnly && (
        <>
          <Hints draft={draft} own={now.before ?? {}} ofGroup={ofGroup} set={set} />
          <ArgumentFields
            arguments={draft.arguments}
            onChange={(next) => set({ arguments: draft.arguments.map((one) => (one.name === next.name ? next : one)) })}
            at={at}
          />
        </>
      )}
      <Preview
        before={now.before}
        after={shown?.data.after ?? null}
        message={shown && 'message' in shown ? inWords(shown) : undefined}
        isOld={preview.isFetching || preview.isError}
      />
      {JSON.stringify(now.override) !== JSON.stringify(since.override) && (
        <p role="status" className="text-warn text-sm">
          {t('overrides.overtaken')}
        </p>
      )}
      {now.override !== null && (
        <div>
          <Button icon={Undo2} busy={remove.isPending} onClick={() => void remove.ask()}>
            {t('overrides.remove')}
          </Button>
        </div>
      )}
    </DialogForm>
  );
}

/** What may be a mistake, in the language of the page where that has words for all of it. */
function inWords({ data, message }: Envelope<ToolOverride>): string | undefined {
  const words = data.said?.map((one) => remarkIn(one)) ?? [];
  return words.length > 0 && words.every((one) => one !== undefined) ? words.join(' ') : message;
}

function useSaving(path: string, onClose: () => void) {
  const { t } = useTranslation();
  return useAction<JsonObject>({
    quiet: true,
    run: (override) => ask(path, { method: 'PUT', body: override }),
    done: () => {
      toast.good(t('common.saved'));
      onClose();
    },
  });
}

function useRemoving(path: string, onClose: () => void) {
  const { t } = useTranslation();
  const remove = useAction({
    run: () => ask(path, { method: 'DELETE' }),
    done: () => {
      toast.good(t('overrides.removed'));
      onClose();
    },
  });
  const question = { title: t('overrides.removeTitle'), text: t('overrides.removeText'), action: t('common.remove') };
  return {
    isPending: remove.isPending,
    ask: async () => {
      if (await confirm(question)) remove.mutate();
    },
  };
}

interface PartProps {
  readonly draft: Draft;
  /** The tool as its server has it. */
  readonly own: JsonObject;
  readonly set: (part: Partial<Draft>) => void;
}

interface TextsProps extends PartProps {
  readonly nameOnly: boolean;
  readonly at: (member: string) => string | undefined;
}

function Texts({ draft, own, nameOnly, set, at }: TextsProps) {
  const { t } = useTranslation();
  const said = (member: string) => (typeof own[member] === 'string' ? own[member] : '');
  return (
    <>
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <TextField
          label={t('overrides.name')}
          hint={t('overrides.nameHint')}
          error={at('name')}
          optional
          autoCapitalize="none"
          spellCheck={false}
          placeholder={said('name')}
          value={draft.name}
          onChange={(event) => set({ name: event.target.value })}
        />
        {!nameOnly && (
          <TextField
            label={t('overrides.toolTitle')}
            hint={t('overrides.toolTitleHint')}
            error={at('title')}
            optional
            placeholder={said('title')}
            value={draft.title}
            onChange={(event) => set({ title: event.target.value })}
          />
        )}
      </div>
      {!nameOnly && (
        <TextAreaField
          label={t('overrides.description')}
          hint={t('overrides.descriptionHint')}
          error={at('description')}
          optional
          placeholder={said('description')}
          value={draft.description}
          onChange={(event) => set({ description: event.target.value })}
        />
      )}
    </>
  );
}

function Hints({ draft, own, ofGroup, set }: PartProps & { readonly ofGroup: boolean }) {
  const { t } = useTranslation();
  const annotations = own['annotations'] as JsonObject | undefined;
  const ofServer = (hint: string) => {
    const said = annotations?.[hint];
    return said === true ? t('overrides.saysYes') : said === false ? t('overrides.saysNo') : t('overrides.saysNothing');
  };
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="text-sm font-medium">{t('servers.annotations')}</legend>
      <p className="text-soft text-xs">{t(ofGroup ? 'overrides.hintsOfGroup' : 'overrides.hintsHint')}</p>
      <div className="grid gap-3 sm:grid-cols-2">
        {hints.map((hint) => (
          <SelectField
            key={hint}
            label={t(`overrides.hints.${hint}`)}
            value={draft.hints[hint]}
            onChange={(event) => set({ hints: { ...draft.hints, [hint]: event.target.value as Said } })}
            options={[
              { value: '', label: ofServer(hint) },
              { value: 'yes', label: t('overrides.yes') },
              { value: 'no', label: t('overrides.no') },
            ]}
          />
        ))}
      </div>
    </fieldset>
  );
}
