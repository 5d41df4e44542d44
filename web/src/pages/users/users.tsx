import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/page.tsx';

export function Users() {
  const { t } = useTranslation();
  return <Page title={t('nav.users')}>{null}</Page>;
}
