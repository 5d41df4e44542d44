import { useMutation } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { LogIn } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { send } from '../api/client.ts';
import { queryClient } from '../api/queries.ts';
import { endReason, session } from '../api/session.ts';
import { boot } from '../boot.ts';
import { useStore } from '../lib/store.ts';
import { Button } from '../ui/button.tsx';
import { FormError } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';

const route = getRouteApi('/login');

/** A path of the dashboard, which `//elsewhere` and the login page itself are not. */
function isOwn(path: string, home: string): boolean {
  return path.startsWith(home) && !/^[/\\]/.test(path.slice(1)) && !path.startsWith(`${home}login`);
}

export function Login() {
  const { t } = useTranslation();
  const router = useRouter();
  const { from } = route.useSearch();
  const why = useStore(endReason);
  const [username, setUsername] = useState('admin');
  const [password, setPassword] = useState('');
  useEffect(() => {
    document.title = `${t('login.title')} · ${t('app.name')}`;
  }, [t]);

  const login = useMutation({
    mutationFn: async () => {
      const response = await send('/auth/login', { method: 'POST', body: { username, password } });
      return ((await response.json()) as { token: string }).token;
    },
    onSuccess: (token) => {
      queryClient.clear();
      session.begin(token);
      const home = `${boot.basePath}/`;
      router.history.push(from !== undefined && isOwn(from, home) ? from : home);
    },
  });

  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-sm flex-col justify-center gap-6 px-4 py-10">
      <div className="flex flex-col items-center text-center">
        <img src="./icon.svg" alt="" width={44} height={44} />
        <h1 className="mt-3 text-xl font-semibold tracking-tight">{t('app.name')}</h1>
        <p className="text-soft text-sm">{t('login.lead')}</p>
      </div>
      <form
        className="panel flex flex-col gap-4 p-5"
        onSubmit={(event) => {
          event.preventDefault();
          login.mutate();
        }}
      >
        {why === 'expired' && (
          <p role="status" className="bg-accent-wash text-accent-ink rounded-md px-3 py-2 text-sm">
            {t('login.expired')}
          </p>
        )}
        <TextField
          label={t('login.username')}
          autoComplete="username"
          autoCapitalize="none"
          required
          value={username}
          onChange={(event) => setUsername(event.target.value)}
        />
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
        <Button look="primary" type="submit" icon={LogIn} busy={login.isPending} className="min-h-9">
          {t('login.submit')}
        </Button>
      </form>
      <details className="text-soft text-sm">
        <summary className="rounded-sm font-medium">{t('login.first')}</summary>
        <p className="mt-1">{t('login.firstHint')}</p>
      </details>
    </main>
  );
}
