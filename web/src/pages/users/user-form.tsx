import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import { groupsQuery, serversQuery } from '../../api/queries.ts';
import type { User } from '../../api/types.ts';
import { loginsQuery } from '../../app/provider-links.tsx';
import { useAction } from '../../lib/action.ts';
import { changedLists } from '../../lib/changed.ts';
import { problemAt } from '../../lib/problems.ts';
import { ChooseMany } from '../../ui/choose-many.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Check, TextField } from '../../ui/field.tsx';
import { changedLimits, limitPaths, limitsDraft } from '../../lib/limits.ts';
import { LimitsFields } from '../../ui/limits-fields.tsx';
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

const fields = ['username', 'password', 'email', 'groups', 'servers', ...limitPaths];

export function UserForm({ user, lastAdmin, onClose }: UserFormProps) {
  const { t } = useTranslation();
  const [username, setUsername] = useState(user?.username ?? '');
  const [password, setPassword] = useState('');
  const [email, setEmail] = useState(user?.email ?? '');
  const [isInvited, setIsInvited] = useState(false);
  const [keepKeys, setKeepKeys] = useState(false);
  const [isAdmin, setIsAdmin] = useState(user?.isAdmin ?? false);
  const [groups, setGroups] = useState(user?.groups ?? []);
  const [servers, setServers] = useState(user?.servers ?? []);
  const [limits, setLimits] = useState(() => limitsDraft(user?.limits));
  const [before] = useState(user);
  const save = useAction({
    run: async () => {
      const body = { role: isAdmin ? 'admin' : 'user', groups, servers };
      if (!user || !before) {
        const login = { ...(!isInvited && { password }), ...(email !== '' && { email }) };
        return ask('/users', {
          method: 'POST',
          body: { ...body, username, ...login, ...changedLimits(undefined, limits) },
        });
      }
      const changes = {
        ...(isAdmin !== before.isAdmin && { role: body.role }),
        ...(email !== (before.email ?? '') && { email }),
        ...changedLists(before, { groups, servers }, user),
        ...changedLimits(before.limits, limits),
        ...(password !== '' && { password, ...(keepKeys && { keepKeys }) }),
      };
      if (Object.keys(changes).length === 0) return undefined;
      return ask(`/users${pathOf(user.username)}`, { method: 'PUT', body: changes });
    },
    done: () => {
      toast.good(user ? t('common.saved') : t(isInvited ? 'users.invited' : 'users.added', { name: username }));
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
        {!user && <Username username={username} onUsername={setUsername} error={error} />}
        <Email
          email={email}
          onEmail={setEmail}
          isInvited={isInvited}
          onInvited={user ? undefined : setIsInvited}
          error={error}
        />
        {!isInvited && (
          <Password
            isNew={!user}
            username={username}
            password={password}
            onPassword={setPassword}
            keepKeys={keepKeys}
            onKeepKeys={setKeepKeys}
            error={error}
          />
        )}
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
        <LimitsFields draft={limits} onChange={setLimits} error={error} hint={t('limits.ofUser')} />
      </DialogForm>
    </Dialog>
  );
}

interface UsernameProps {
  readonly username: string;
  readonly onUsername: (username: string) => void;
  readonly error: unknown;
}

function Username({ username, onUsername, error }: UsernameProps) {
  const { t } = useTranslation();
  return (
    <TextField
      label={t('users.username')}
      error={problemAt(error, 'username')}
      required
      autoFocus
      autoComplete="off"
      autoCapitalize="none"
      value={username}
      onChange={(event) => onUsername(event.target.value)}
    />
  );
}

interface EmailProps {
  readonly email: string;
  readonly onEmail: (email: string) => void;
  readonly isInvited: boolean;
  /** Undefined for a user who is there already. */
  readonly onInvited: ((isInvited: boolean) => void) | undefined;
  readonly error: unknown;
}

/** The address, and whether the account waits for a login at a provider with it. */
function Email({ email, onEmail, isInvited, onInvited, error }: EmailProps) {
  const { t } = useTranslation();
  const { data: logins } = useQuery(loginsQuery);
  const hasProviders = (logins?.oidc?.length ?? 0) > 0 || logins?.forwardAuth === true;
  return (
    <>
      <TextField
        label={t('users.email')}
        hint={isInvited ? t('users.emailInvited') : undefined}
        error={problemAt(error, 'email')}
        type="email"
        autoComplete="off"
        optional={!isInvited}
        required={isInvited}
        value={email}
        onChange={(event) => onEmail(event.target.value)}
      />
      {onInvited && hasProviders && (
        <Check
          label={t('users.invite')}
          hint={t('users.inviteHint')}
          checked={isInvited}
          onChange={(event) => onInvited(event.target.checked)}
        />
      )}
    </>
  );
}

interface PasswordProps {
  readonly isNew: boolean;
  readonly username: string;
  readonly password: string;
  readonly onPassword: (password: string) => void;
  readonly keepKeys: boolean;
  readonly onKeepKeys: (keep: boolean) => void;
  readonly error: unknown;
}

function Password({ isNew, username, password, onPassword, keepKeys, onKeepKeys, error }: PasswordProps) {
  const { t } = useTranslation();
  return (
    <>
      <TextField
        label={t(isNew ? 'users.password' : 'users.newPassword')}
        hint={t(isNew ? 'users.passwordHint' : 'users.newPasswordHint')}
        error={problemAt(error, 'password')}
        type="password"
        autoComplete="new-password"
        required={isNew}
        value={password}
        onChange={(event) => onPassword(event.target.value)}
      />
      <PasswordStrength password={password} username={username} />
      {!isNew && password !== '' && (
        <Check
          label={t('users.keepKeys')}
          hint={t('users.keepKeysHint')}
          checked={keepKeys}
          onChange={(event) => onKeepKeys(event.target.checked)}
        />
      )}
    </>
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
