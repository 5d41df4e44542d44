import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import { connectQuery, type ConnectScope, useMe } from '../../api/queries.ts';
import type { Key } from '../../api/types.ts';
import { useAction } from '../../lib/action.ts';
import { changedLists } from '../../lib/changed.ts';
import { problemAt } from '../../lib/problems.ts';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { Dialog, DialogBody, DialogFooter } from '../../ui/dialog.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Check, SelectField, TextAreaField, TextField } from '../../ui/field.tsx';
import { changedLimits, limitPaths, limitsDraft } from '../../lib/limits.ts';
import { LimitsFields } from '../../ui/limits-fields.tsx';
import { Loading } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { ClientSnippets } from '../connect/snippets.tsx';
import { Reach } from '../users/user-form.tsx';
import { DialogForm } from '../../ui/dialog-form.tsx';

type Scope = Pick<Key, 'accessType' | 'allowedGroups' | 'allowedServers'>;

interface KeyFormProps {
  /** As the hub has it now. Undefined: a new one. */
  readonly entry: Key | undefined;
  readonly onClose: () => void;
  readonly onMade: (key: Key) => void;
}

const fields = ['name', 'accessType', 'expiresAt', ...limitPaths];
const types = ['all', 'groups', 'servers', 'custom'] as const;

export function KeyForm({ entry, onClose, onMade }: KeyFormProps) {
  const { t } = useTranslation();
  const me = useMe();
  const [name, setName] = useState(entry?.name ?? '');
  const [kind, setKind] = useState<Key['kind']>(entry?.kind ?? (me.isAdmin ? 'system' : 'user'));
  const [scope, setScope] = useState<Scope>({
    accessType: entry?.accessType ?? 'all',
    allowedGroups: entry?.allowedGroups ?? [],
    allowedServers: entry?.allowedServers ?? [],
  });
  const [expires, setExpires] = useState(localTime(entry?.expiresAt));
  const [readOnly, setReadOnly] = useState(entry?.readOnly ?? false);
  const [addresses, setAddresses] = useState(entry?.allowedAddresses.join('\n') ?? '');
  const [limits, setLimits] = useState(() => limitsDraft(entry?.limits));
  const allowedAddresses = addresses.split('\n').flatMap((line) => line.trim() || []);
  const [before] = useState(entry);
  const save = useAction<void, { data: Key } | undefined>({
    run: async () => {
      if (!entry || !before) {
        const body = {
          name,
          kind,
          ...(kind === 'system' && scope),
          ...(expires !== '' && { expiresAt: timeOf(expires) }),
          ...(readOnly && { readOnly }),
          ...(allowedAddresses.length > 0 && { allowedAddresses }),
          ...changedLimits(undefined, limits),
        };
        return ask<Key>('/auth/keys', { method: 'POST', body });
      }
      const { accessType, allowedGroups, allowedServers } = scope;
      const changes = {
        ...(name !== before.name && { name }),
        ...(accessType !== before.accessType && { accessType }),
        ...(expires !== localTime(before.expiresAt) && { expiresAt: timeOf(expires) }),
        ...(readOnly !== before.readOnly && { readOnly }),
        ...changedLists(before, { allowedGroups, allowedServers, allowedAddresses }, entry),
        ...changedLimits(before.limits, limits),
      };
      if (Object.keys(changes).length === 0) return undefined;
      return ask<Key>(`/auth/keys${pathOf(entry.id)}`, { method: 'PUT', body: changes });
    },
    done: (made) => {
      if (!entry && made) return onMade(made.data);
      toast.good(t('common.saved'));
      onClose();
    },
    quiet: true,
  });
  const { error } = save;
  return (
    <Dialog open title={entry ? t('keys.edit', { name: entry.name }) : t('keys.add')} onClose={onClose}>
      <DialogForm
        submit={t(entry ? 'common.save' : 'common.create')}
        onSubmit={() => save.mutate()}
        busy={save.isPending}
        error={error}
        known={fields}
        onCancel={onClose}
      >
        <TextField
          label={t('keys.name')}
          hint={t('keys.nameHint')}
          error={problemAt(error, 'name')}
          required
          autoFocus
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        {me.isAdmin && !entry && (
          <SelectField
            label={t('keys.kind')}
            value={kind}
            onChange={(event) => setKind(event.target.value === 'user' ? 'user' : 'system')}
            options={[
              { value: 'system', label: t('keys.system') },
              { value: 'user', label: t('keys.own') },
            ]}
          />
        )}
        {kind === 'system' && <Opening scope={scope} onChange={setScope} error={error} />}
        <Bounds {...{ readOnly, setReadOnly, expires, setExpires, addresses, setAddresses, error }} />
        <LimitsFields draft={limits} onChange={setLimits} error={error} hint={t('limits.ofKey')} />
      </DialogForm>
    </Dialog>
  );
}

/** What a field for date and time shows of a time, in the time zone of the browser; empty for none. */
function localTime(iso: string | undefined): string {
  if (iso === undefined) return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The time such a field shows; null for none. */
function timeOf(local: string): string | null {
  return local === '' ? null : new Date(local).toISOString();
}

interface BoundsProps {
  readonly readOnly: boolean;
  readonly setReadOnly: (value: boolean) => void;
  readonly expires: string;
  readonly setExpires: (value: string) => void;
  /** One in each line. */
  readonly addresses: string;
  readonly setAddresses: (value: string) => void;
  readonly error: unknown;
}

/** What narrows a key of any kind. */
function Bounds({ readOnly, setReadOnly, expires, setExpires, addresses, setAddresses, error }: BoundsProps) {
  const { t } = useTranslation();
  return (
    <>
      <Check
        label={t('keys.readOnly')}
        hint={t('keys.readOnlyHint')}
        checked={readOnly}
        onChange={(event) => setReadOnly(event.target.checked)}
      />
      <TextField
        label={t('keys.expires')}
        hint={t('keys.expiresHint')}
        error={problemAt(error, 'expiresAt')}
        type="datetime-local"
        optional
        value={expires}
        onChange={(event) => setExpires(event.target.value)}
      />
      <TextAreaField
        label={t('keys.addresses')}
        hint={t('keys.addressesHint')}
        optional
        code
        rows={2}
        value={addresses}
        onChange={(event) => setAddresses(event.target.value)}
      />
    </>
  );
}

interface OpeningProps {
  readonly scope: Scope;
  readonly onChange: (scope: Scope) => void;
  readonly error: unknown;
}

/** What a key of the hub opens. */
function Opening({ scope, onChange, error }: OpeningProps) {
  const { t } = useTranslation();
  const { accessType, allowedGroups, allowedServers } = scope;
  const custom = [...allowedGroups, ...allowedServers];
  const opened = { all: types, groups: allowedGroups, servers: allowedServers, custom }[accessType];
  return (
    <>
      <SelectField
        label={t('keys.opens')}
        hint={t(`keys.hint.${accessType}`)}
        error={problemAt(error, 'accessType')}
        value={accessType}
        onChange={(event) =>
          onChange({ ...scope, accessType: types.find((type) => type === event.target.value) ?? 'all' })
        }
        options={types.map((value) => ({ value, label: t(`keys.${value}`) }))}
      />
      {accessType !== 'all' && (
        <Reach
          only={accessType === 'custom' ? undefined : accessType}
          groups={allowedGroups}
          onGroups={(next) => onChange({ ...scope, allowedGroups: next })}
          servers={allowedServers}
          onServers={(next) => onChange({ ...scope, allowedServers: next })}
          error={error}
        />
      )}
      {opened.length === 0 && (
        <p role="status" className="text-warn text-sm">
          {t('keys.opensNothing')}
        </p>
      )}
    </>
  );
}

/** The endpoint of the one group or server that the key opens, or that of everything it opens. */
function endpointOf({ kind, accessType, allowedGroups, allowedServers }: Key): ConnectScope {
  const [group, ...groups] = allowedGroups;
  const [server, ...servers] = allowedServers;
  if (kind !== 'system') return {};
  if (accessType === 'groups' && group !== undefined && groups.length === 0) return { group };
  if (accessType === 'servers' && server !== undefined && servers.length === 0) return { server };
  return {};
}

/** The one time that the key is shown in full, with what each client wants to have pasted. */
export function MadeKey({ entry, onClose }: { readonly entry: Key; readonly onClose: () => void }) {
  const { t } = useTranslation();
  const connect = useQuery(connectQuery({ ...endpointOf(entry), key: true }));
  const question = {
    title: t('keys.leaveTitle'),
    text: t('keys.leaveText'),
    action: t('keys.leave'),
    cancel: t('keys.stay'),
  };
  return (
    <Dialog open wide title={t('keys.made')} description={t('keys.once')} question={question} onClose={onClose}>
      <DialogBody>
        <Code wrap label={t('keys.made')} text={entry.token} />
        <p className="text-soft text-sm">{t('keys.use')}</p>
        {connect.error ? (
          <Failure error={connect.error} retry={() => void connect.refetch()} />
        ) : connect.data ? (
          <ClientSnippets clients={connect.data.clients} token={entry.token} />
        ) : (
          <Loading rows={5} />
        )}
      </DialogBody>
      <DialogFooter>
        <Button look="primary" onClick={onClose}>
          {t('keys.done')}
        </Button>
      </DialogFooter>
    </Dialog>
  );
}
