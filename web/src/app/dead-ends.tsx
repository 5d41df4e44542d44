import { Link } from '@tanstack/react-router';
import { CircleAlert, Lock, MapPinOff } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { Button, buttonClass } from '../ui/button.tsx';
import { Code } from '../ui/copy.tsx';
import { Empty } from '../ui/page.tsx';

export function NotFound() {
  const { t } = useTranslation();
  return (
    <Empty whole icon={MapPinOff} title={t('failure.notFound')} text={t('failure.notFoundHint')}>
      <Link to="/" className={buttonClass('primary')}>
        {t('failure.toOverview')}
      </Link>
    </Empty>
  );
}

export function Forbidden() {
  const { t } = useTranslation();
  return (
    <Empty whole icon={Lock} title={t('failure.forbidden')} text={t('failure.forbiddenHint')}>
      <Link to="/" className={buttonClass('primary')}>
        {t('failure.toOverview')}
      </Link>
    </Empty>
  );
}

/** A bug of ours. The rest of the dashboard goes on. */
export function Crashed({ error }: { readonly error: unknown }) {
  const { t } = useTranslation();
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return (
    <Empty whole icon={CircleAlert} title={t('failure.crashed')} text={t('failure.crashedHint')}>
      <Button look="primary" onClick={() => window.location.reload()}>
        {t('common.reload')}
      </Button>
      <Code label={t('failure.crashed')} text={text} wrap className="mt-4 w-full max-w-2xl text-left" />
    </Empty>
  );
}
