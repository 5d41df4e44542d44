import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError, type FactorAsked, send } from '../api/client.ts';
import { session } from '../api/session.ts';
import { Button } from '../ui/button.tsx';
import { FormError } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';
import { FactorFields } from './factor-fields.tsx';

interface LoginFormProps {
  /**
   * The user who is logged in already and has to give the password once more; undefined where the name is asked for
   * too.
   */
  readonly loggedIn?: string;
  readonly onLogin: () => void;
  readonly renderButtons: (busy: boolean) => ReactNode;
  /** Stands above the fields. */
  readonly children?: ReactNode;
  readonly className: string;
}

/** Asks for name and password, or for the password alone, then for the second factor of who has one, and logs in. */
export function LoginForm({ loggedIn, onLogin, renderButtons, children, className }: LoginFormProps) {
  const { t } = useTranslation();
  const [username, setUsername] = useState('admin');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  /** What the hub gave for the right password of a user who has a second factor. */
  const [asked, setAsked] = useState<FactorAsked>();
  /** A code was sent: what came back is a failure, and not the first question for it. */
  const [wasWrong, setWasWrong] = useState(false);
  const login = useMutation({
    mutationFn: async (passkey: unknown) => {
      const factor = passkey === undefined ? { code } : { passkey };
      const shown = asked ? { challenge: asked.challenge, ...factor } : { password };
      if (loggedIn !== undefined)
        await send('/auth/reauthenticate', { method: 'POST', body: shown, secondCredential: true });
      else {
        const who = asked ? {} : { username };
        await send('/auth/login', { method: 'POST', body: { ...who, ...shown, cookie: true } });
      }
    },
    onSuccess() {
      session.begin();
      onLogin();
    },
    onError(error) {
      const refused = error instanceof ApiError ? error : undefined;
      setCode('');
      setWasWrong(asked !== undefined);
      // One that is over begins again; too many wrong codes leave it as it is.
      if (refused?.status === 401) setAsked(refused.asked);
    },
  });
  return (
    <form
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        login.mutate(undefined);
      }}
    >
      {children}
      {asked ? (
        <FactorFields asked={asked} code={code} onCode={setCode} onPasskey={(answer) => login.mutate(answer)} />
      ) : (
        <>
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
        </>
      )}
      <FormError error={asked && !wasWrong ? null : login.error} />
      {renderButtons(login.isPending)}
      {asked && (
        <Button look="quiet" onClick={() => setAsked(undefined)}>
          {t('factor.again')}
        </Button>
      )}
    </form>
  );
}
