import { useTranslation } from 'react-i18next';
import { Badge } from '../ui/badge.tsx';

/** Says that the hub was started with READONLY. */
export function ReadOnly() {
  const { t } = useTranslation();
  return (
    <span tabIndex={0} className="rounded-full" data-tip={t('app.readonlyHint')}>
      <Badge tone="warn">{t('app.readonly')}</Badge>
    </span>
  );
}
