import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import { useMe } from '../../api/queries.ts';
import type { Group, JsonObject } from '../../api/types.ts';
import { useAction } from '../../lib/action.ts';
import { changedLists, changedMembers } from '../../lib/changed.ts';
import { problemAt } from '../../lib/problems.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextAreaField, TextField } from '../../ui/field.tsx';
import { changedLimits, limitPaths, limitsDraft } from '../../lib/limits.ts';
import { LimitsFields } from '../../ui/limits-fields.tsx';
import { toast } from '../../ui/toast.tsx';
import { DialogForm } from '../../ui/dialog-form.tsx';

const fields = ['name', 'description', 'visibility', 'sharedWithUsers', 'maxResultTokens', ...limitPaths];

/** What a new group begins with. */
export interface Proposal {
  readonly name: string;
  readonly servers: readonly { readonly name: string; readonly tools: readonly string[] }[];
  /** Says what that is. */
  readonly text: string;
}

export interface GroupFormProps {
  readonly group?: Group;
  readonly proposal?: Proposal;
  readonly onClose: () => void;
}

/** A new group, or the words of one that is there, as the hub has it now. */
export function GroupForm({ group, proposal, onClose }: GroupFormProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [name, setName] = useState(group?.name ?? proposal?.name ?? '');
  const [description, setDescription] = useState(group?.description ?? '');
  const { isAdmin } = useMe();
  // As the hub has it: what users make for themselves is theirs until they say otherwise.
  const [visibility, setVisibility] = useState<string>(group?.visibility ?? (group || isAdmin ? '' : 'private'));
  const [shared, setShared] = useState((group?.sharedWithUsers ?? []).join('\n'));
  const [most, setMost] = useState(String(group?.maxResultTokens ?? ''));
  const [limits, setLimits] = useState(() => limitsDraft(group?.limits));
  const [before] = useState(group);
  const save = useAction<void, { data: Group } | undefined>({
    run: () => {
      const body = {
        name,
        description,
        visibility: visibility === '' ? null : visibility,
        sharedWithUsers: shared.split('\n').flatMap((line) => line.trim() || []),
        maxResultTokens: most === '' ? null : Number(most),
      };
      if (group && before)
        return writeChanges({ ...changesIn(body, before, group), ...changedLimits(before.limits, limits) }, group);
      const servers = proposal && { servers: proposal.servers };
      return ask<Group>('/groups', {
        method: 'POST',
        body: { ...body, ...servers, ...changedLimits(undefined, limits) },
      });
    },
    done: (made) => {
      toast.good(group || !made ? t('common.saved') : t('groups.created', { name: made.data.name }));
      onClose();
      // The address has the name: a new one is another address.
      if (made && made.data.name !== group?.name)
        void navigate({ to: '/groups/$id', params: { id: made.data.name }, replace: group !== undefined });
    },
    quiet: true,
  });
  const { error } = save;
  return (
    <Dialog open title={t(group ? 'groups.edit' : 'groups.create')} onClose={onClose}>
      <DialogForm
        submit={t(group ? 'common.save' : 'common.create')}
        onSubmit={() => save.mutate()}
        busy={save.isPending}
        error={error}
        known={fields}
        onCancel={onClose}
      >
        {proposal && <p className="text-soft text-sm">{proposal.text}</p>}
        <TextField
          label={t('groups.name')}
          hint={t('groups.nameHint')}
          error={problemAt(error, 'name')}
          required
          autoFocus
          autoCapitalize="none"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <TextField
          label={t('groups.description')}
          error={problemAt(error, 'description')}
          optional
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
        <VisibilityField value={visibility} onChange={setVisibility} error={problemAt(error, 'visibility')} />
        {visibility === 'group' && (
          <TextAreaField
            label={t('groups.shared')}
            hint={t('groups.sharedHint')}
            error={problemAt(error, 'sharedWithUsers')}
            rows={3}
            value={shared}
            onChange={(event) => setShared(event.target.value)}
          />
        )}
        <TextField
          label={t('parts.ofServer')}
          hint={t('parts.ofGroupHint')}
          error={problemAt(error, 'maxResultTokens')}
          optional
          inputMode="numeric"
          value={most}
          onChange={(event) => setMost(event.target.value.replace(/\D/g, ''))}
        />
        <LimitsFields draft={limits} onChange={setLimits} error={error} hint={t('limits.ofGroup')} />
      </DialogForm>
    </Dialog>
  );
}

async function writeChanges(changes: JsonObject, { id }: Group): Promise<{ data: Group } | undefined> {
  if (Object.keys(changes).length === 0) return undefined;
  return ask<Group>(`/groups${pathOf(id)}`, { method: 'PUT', body: changes });
}

interface VisibilityFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error: string | undefined;
}

function VisibilityField({ value, onChange, error }: VisibilityFieldProps) {
  const { t } = useTranslation();
  const { isAdmin } = useMe();
  const [before] = useState(value);
  // Making a group public is for admins; saying nothing does so too.
  const choices = (['', 'private', 'group', 'public'] as const).filter(
    (choice) => isAdmin || choice === 'private' || choice === 'group' || choice === before,
  );
  return (
    <SelectField
      label={t('groups.visibility')}
      error={error}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      options={choices.map((choice) => ({
        value: choice,
        label: t(`groups.vis.${choice === '' ? 'default' : choice}`),
      }))}
    />
  );
}

interface Body {
  readonly name: string;
  readonly description: string;
  readonly visibility: string | null;
  readonly sharedWithUsers: readonly string[];
  readonly maxResultTokens: number | null;
}

function changesIn({ sharedWithUsers, ...words }: Body, before: Group, now: Group) {
  const { name, description, visibility, maxResultTokens = null } = before;
  return {
    ...changedMembers({ name, description, visibility, maxResultTokens }, words),
    ...changedLists(before, { sharedWithUsers }, now),
  };
}
