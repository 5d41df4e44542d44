import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { send } from '../api/client.ts';
import { session } from '../api/session.ts';
import { FormError } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';

interface LoginFormProps {
  /**
   * The user who is logged in already and has to give the password once more; undefined where the name is asked for
   * too.
   */
  readonly loggedIn?: string;
  readonly onLogin: () => void;
  readonly renderButtons: (busy: boolean) => ReactNode;
  readonly className: string;
}

/** Asks for name and password, or for the password alone, and logs in with them. */
export function LoginForm({ loggedIn, onLogin, renderButtons, className }: LoginFormProps) {
  const { t } = useTranslation();
  const [username, setUsername] = useState('admin');
  const [password, setPassword] = useState('');
  const login = useMutation({
    mutationFn: async () => {
      if (loggedIn === undefined)
        await send('/auth/login', { method: 'POST', body: { username, password, cookie: true } });
      else await send('/auth/reauthenticate', { method: 'POST', body: { password }, secondCredential: true });
    },
    onSuccess() {
      session.begin();
      onLogin();
    },
  });
  return (
    <form
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        login.mutate();
      }}
    >
      {loggedIn === undefined ? (
        <TextField
          label={t('login.username')}
          autoComplete="username"
          autoCapitalize="none"
          required
          value={username}
          onChange={(event) => setUsername(event.target.value)}
        />
      ) : (
        <input hidden autoComplete="username" readOnly value={loggedIn} />
      )}
      <TextField
        label={t('login.password')}
        type="password"
        autoComplete="current-password"
        required
        autoFocus
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      <FormError error={login.error} />
      {renderButtons(login.isPending)}
    </form>
  );
}
