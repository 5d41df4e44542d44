import { AlertDialog } from 'radix-ui';
import { useTranslation } from 'react-i18next';
import { meQuery, queryClient } from '../api/queries.ts';
import { Button } from '../ui/button.tsx';
import { boot } from '../boot.ts';
import { LoginForm } from './login-form.tsx';
import { ProviderLinks } from './provider-links.tsx';

/** Asks for the password once more, because the login is too old for what was attempted. */
export function PasswordAgain({ answer }: { readonly answer: (given: boolean) => void }) {
  const { t } = useTranslation();
  return (
    <AlertDialog.Root open onOpenChange={(open) => open || answer(false)}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="fixed inset-0 z-50 bg-black/45" />
        <AlertDialog.Content className="lifted animate-appear fixed inset-x-4 top-[18vh] z-50 mx-auto max-w-md rounded-xl p-5">
          <AlertDialog.Title className="text-base font-semibold">{t('fresh.title')}</AlertDialog.Title>
          <AlertDialog.Description className="text-soft mt-1.5 text-sm">{t('fresh.text')}</AlertDialog.Description>
          <LoginForm
            className="mt-3 flex flex-col gap-4"
            loggedIn={queryClient.getQueryData(meQuery.queryKey)?.username ?? ''}
            onLogin={() => answer(true)}
            renderButtons={(busy) => (
              <div className="flex flex-wrap justify-end gap-2">
                <Button onClick={() => answer(false)}>{t('common.cancel')}</Button>
                <Button look="primary" type="submit" busy={busy}>
                  {t('fresh.go')}
                </Button>
              </div>
            )}
          />
          <div className="mt-3 flex flex-col gap-2">
            <ProviderLinks back={location.pathname.slice(boot.basePath.length) + location.search} isFresh />
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
