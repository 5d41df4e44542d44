import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/page.tsx';

export function Smart() {
  const { t } = useTranslation();
  return <Page title={t('nav.smart')}>{null}</Page>;
}
