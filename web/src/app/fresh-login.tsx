import { useMutation } from '@tanstack/react-query';
import { AlertDialog } from 'radix-ui';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { send } from '../api/client.ts';
import { passwordAsk } from '../api/fresh-login.ts';
import { session } from '../api/session.ts';
import { useStore } from '../lib/store.ts';
import { Button } from '../ui/button.tsx';
import { FormError } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';

/** Where the password is asked for once more, because the login is too old for what was attempted; once per page. */
export function FreshLogin() {
  const answer = useStore(passwordAsk);
  return answer && <Asked answer={answer} />;
}

function Asked({ answer }: { readonly answer: (given: boolean) => void }) {
  const { t } = useTranslation();
  const [password, setPassword] = useState('');
  const confirm = useMutation({
    mutationFn: async () => {
      const response = await send('/auth/reauthenticate', {
        method: 'POST',
        body: { password },
        secondCredential: true,
      });
      return ((await response.json()) as { token: string }).token;
    },
    onSuccess: (token) => {
      session.begin(token);
      answer(true);
    },
  });
  return (
    <AlertDialog.Root open onOpenChange={(open) => open || answer(false)}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="fixed inset-0 z-50 bg-black/45" />
        <AlertDialog.Content className="lifted animate-appear fixed inset-x-4 top-[18vh] z-50 mx-auto max-w-md rounded-xl p-5">
          <AlertDialog.Title className="text-base font-semibold">{t('fresh.title')}</AlertDialog.Title>
          <AlertDialog.Description className="text-soft mt-1.5 text-sm">{t('fresh.text')}</AlertDialog.Description>
          <form
            className="mt-3 flex flex-col gap-4"
            onSubmit={(event) => {
              event.preventDefault();
              confirm.mutate();
            }}
          >
            <input hidden autoComplete="username" readOnly value={session.username() ?? ''} />
            <TextField
              label={t('login.password')}
              type="password"
              autoComplete="current-password"
              required
              autoFocus
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
            <FormError error={confirm.error} />
            <div className="flex flex-wrap justify-end gap-2">
              <Button onClick={() => answer(false)}>{t('common.cancel')}</Button>
              <Button look="primary" type="submit" busy={confirm.isPending}>
                {t('fresh.go')}
              </Button>
            </div>
          </form>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
