import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button, buttonClass } from '../ui/button.tsx';

/** Asked after the first login, and after one with a weak password, until it is done or put off. */
export function PasswordAsked({ weak }: { readonly weak: boolean }) {
  const { t } = useTranslation();
  const [later, setLater] = useState(false);
  if (later) return null;
  return (
    <section
      aria-labelledby="password-asked"
      className="border-line bg-accent-wash flex flex-wrap items-center gap-3 border-b px-4 py-3 sm:px-6"
    >
      <div className="min-w-0 flex-1 basis-64">
        <h2 id="password-asked" className="text-sm font-semibold">
          {t(weak ? 'account.weak' : 'account.asked')}
        </h2>
        <p className="text-soft text-sm">{t(weak ? 'account.weakHint' : 'account.askedHint')}</p>
      </div>
      <Link to="/account" className={buttonClass('primary')}>
        {t('account.change')}
      </Link>
      <Button look="quiet" onClick={() => setLater(true)}>
        {t('account.later')}
      </Button>
    </section>
  );
}
