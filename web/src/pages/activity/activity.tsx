import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/page.tsx';

export function ActivityPage() {
  const { t } = useTranslation();
  return <Page title={t('nav.activity')}>{null}</Page>;
}
