import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import { groupsQuery, serversQuery } from '../../api/queries.ts';
import type { User } from '../../api/types.ts';
import { useAction } from '../../lib/action.ts';
import { changedLists } from '../../lib/changed.ts';
import { problemAt } from '../../lib/problems.ts';
import { ChooseMany } from '../../ui/choose-many.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Check, TextField } from '../../ui/field.tsx';
import { PasswordStrength } from '../../ui/password-strength.tsx';
import { toast } from '../../ui/toast.tsx';
import { DialogForm } from '../../ui/dialog-form.tsx';

interface UserFormProps {
  /** As the hub has it now. Undefined: a new one. */
  readonly user: User | undefined;
  /** There is no other admin: this one has to stay one. */
  readonly lastAdmin: boolean;
  readonly onClose: () => void;
}

const fields = ['username', 'password', 'groups', 'servers'];

export function UserForm({ user, lastAdmin, onClose }: UserFormProps) {
  const { t } = useTranslation();
  const [username, setUsername] = useState(user?.username ?? '');
  const [password, setPassword] = useState('');
  const [keepKeys, setKeepKeys] = useState(false);
  const [isAdmin, setIsAdmin] = useState(user?.isAdmin ?? false);
  const [groups, setGroups] = useState(user?.groups ?? []);
  const [servers, setServers] = useState(user?.servers ?? []);
  const [before] = useState(user);
  const save = useAction({
    run: async () => {
      const body = { role: isAdmin ? 'admin' : 'user', groups, servers };
      if (!user || !before) return ask('/users', { method: 'POST', body: { ...body, username, password } });
      const changes = {
        ...(isAdmin !== before.isAdmin && { role: body.role }),
        ...changedLists(before, { groups, servers }, user),
        ...(password !== '' && { password, ...(keepKeys && { keepKeys }) }),
      };
      if (Object.keys(changes).length === 0) return undefined;
      return ask(`/users${pathOf(user.username)}`, { method: 'PUT', body: changes });
    },
    done: () => {
      toast.good(user ? t('common.saved') : t('users.added', { name: username }));
      onClose();
    },
    quiet: true,
  });
  const { error } = save;
  return (
    <Dialog open title={user ? t('users.edit', { name: user.username }) : t('users.add')} onClose={onClose}>
      <DialogForm
        submit={t(user ? 'common.save' : 'common.add')}
        onSubmit={() => save.mutate()}
        busy={save.isPending}
        error={error}
        known={fields}
        onCancel={onClose}
      >
        {!user && (
          <TextField
            label={t('users.username')}
            error={problemAt(error, 'username')}
            required
            autoFocus
            autoComplete="off"
            autoCapitalize="none"
            value={username}
            onChange={(event) => setUsername(event.target.value)}
          />
        )}
        <TextField
          label={t(user ? 'users.newPassword' : 'users.password')}
          hint={t(user ? 'users.newPasswordHint' : 'users.passwordHint')}
          error={problemAt(error, 'password')}
          type="password"
          autoComplete="new-password"
          required={!user}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        <PasswordStrength password={password} username={username} />
        {user && password !== '' && <KeepKeys keep={keepKeys} onChange={setKeepKeys} />}
        <Check
          label={t('users.admin')}
          hint={lastAdmin ? t('users.lastAdmin') : undefined}
          disabled={lastAdmin}
          checked={isAdmin}
          onChange={(event) => setIsAdmin(event.target.checked)}
        />
        {isAdmin ? (
          <p className="text-soft text-sm">{t('users.reachAll')}</p>
        ) : (
          <Reach groups={groups} onGroups={setGroups} servers={servers} onServers={setServers} error={error} />
        )}
      </DialogForm>
    </Dialog>
  );
}

interface KeepKeysProps {
  readonly keep: boolean;
  readonly onChange: (keep: boolean) => void;
}

/** Beside a new password. */
function KeepKeys({ keep, onChange }: KeepKeysProps) {
  const { t } = useTranslation();
  return (
    <Check
      label={t('users.keepKeys')}
      hint={t('users.keepKeysHint')}
      checked={keep}
      onChange={(event) => onChange(event.target.checked)}
    />
  );
}

interface ReachProps {
  readonly groups: readonly string[];
  readonly onGroups: (groups: readonly string[]) => void;
  readonly servers: readonly string[];
  readonly onServers: (servers: readonly string[]) => void;
  /** One of the two alone. */
  readonly only?: 'groups' | 'servers' | undefined;
  readonly error?: unknown;
}

/** Groups, by their ids, and single servers. */
export function Reach({ groups, onGroups, servers, onServers, only, error }: ReachProps) {
  const { t } = useTranslation();
  const { data: allGroups = [] } = useQuery(groupsQuery);
  const { data: allServers = [] } = useQuery(serversQuery);
  return (
    <>
      {only !== 'servers' && (
        <ChooseMany
          label={t('users.groups')}
          options={allGroups.map(({ id, name }) => ({ value: id, label: name }))}
          chosen={groups}
          onChange={onGroups}
          error={problemAt(error, 'groups')}
        />
      )}
      {only !== 'groups' && (
        <ChooseMany
          label={t('users.servers')}
          options={allServers.map(({ name }) => ({ value: name, label: name }))}
          chosen={servers}
          onChange={onServers}
          error={problemAt(error, 'servers')}
        />
      )}
    </>
  );
}
