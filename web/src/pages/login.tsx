import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { LogIn } from 'lucide-react';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { queryClient } from '../api/queries.ts';
import { endReason, session } from '../api/session.ts';
import { LoginForm } from '../app/login-form.tsx';
import { loginsQuery, ProviderLinks, useByProxy } from '../app/provider-links.tsx';
import { boot, icon } from '../boot.ts';
import { chooseLanguage, languages, tags } from '../i18n/i18n.ts';
import { useStore } from '../lib/store.ts';
import { Button } from '../ui/button.tsx';
import { Select } from '../ui/select.tsx';

const route = getRouteApi('/login');

/** A path of the dashboard, which `//elsewhere` and the login page itself are not. */
function isOwn(path: string, home: string): boolean {
  return path.startsWith(home) && !/^[/\\]/.test(path.slice(1)) && !path.startsWith(`${home}login`);
}

export function Login() {
  const { t, i18n } = useTranslation();
  const router = useRouter();
  const { from } = route.useSearch();
  const why = useStore(endReason);
  useEffect(() => {
    document.title = `${t('login.title')} · ${t('app.name')}`;
  }, [t]);

  const logins = useQuery(loginsQuery);
  const home = `${boot.basePath}/`;
  const enter = () => {
    queryClient.clear();
    router.history.push(from !== undefined && isOwn(from, home) ? from : home);
  };
  const byProxy = useByProxy();
  const enterByProxy = () => {
    session.beginByProxy();
    enter();
  };
  useEffect(() => {
    // Not after a logout, which would be none.
    if (byProxy !== undefined && from !== undefined && session.isFirst()) enterByProxy();
  });

  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-sm flex-col justify-center gap-6 px-4 py-10">
      <div className="flex flex-col items-center text-center">
        <img src={icon} alt="" width={44} height={44} />
        <h1 className="mt-3 text-xl font-semibold tracking-tight">{t('app.name')}</h1>
        <p className="text-soft text-sm">{t('login.lead')}</p>
      </div>
      {why === 'expired' && (
        <p role="status" className="bg-accent-wash text-accent-ink rounded-md px-3 py-2 text-sm">
          {t('login.expired')}
        </p>
      )}
      {byProxy !== undefined && (
        <Button look="primary" icon={LogIn} onClick={enterByProxy} className="min-h-9">
          {t('login.goOnAs', { name: byProxy })}
        </Button>
      )}
      <ProviderLinks back={from !== undefined && isOwn(from, home) ? `/${from.slice(home.length)}` : '/'} />
      <details open={logins.data?.passwordLogin !== false}>
        <summary hidden={logins.data?.passwordLogin !== false} className="text-soft rounded-sm text-sm font-medium">
          {t('login.withPassword')}
        </summary>
        <LoginForm
          className="panel flex flex-col gap-4 p-5"
          onLogin={enter}
          renderButtons={(busy) => (
            <Button look="primary" type="submit" icon={LogIn} busy={busy} className="min-h-9">
              {t('login.submit')}
            </Button>
          )}
        />
      </details>
      <details className="text-soft text-sm">
        <summary className="rounded-sm font-medium">{t('login.first')}</summary>
        <p className="mt-1">{t('login.firstHint')}</p>
      </details>
      <Select
        aria-label={t('app.language')}
        className="self-center"
        value={i18n.language}
        onChange={(event) => void chooseLanguage(tags.find((tag) => tag === event.target.value) ?? 'en')}
        options={tags.map((tag) => ({ value: tag, label: languages[tag].name }))}
      />
    </main>
  );
}
