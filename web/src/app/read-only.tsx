import { useTranslation } from 'react-i18next';
import { Badge } from '../ui/badge.tsx';
import { Tip } from '../ui/tip.tsx';

/** Says that the hub was started with READONLY. */
export function ReadOnly() {
  const { t } = useTranslation();
  return (
    <Tip text={t('app.readonlyHint')}>
      <span tabIndex={0} className="rounded-full">
        <Badge tone="warn">{t('app.readonly')}</Badge>
      </span>
    </Tip>
  );
}
