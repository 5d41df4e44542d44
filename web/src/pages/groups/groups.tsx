import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/page.tsx';

export function Groups() {
  const { t } = useTranslation();
  return <Page title={t('nav.groups')}>{null}</Page>;
}
