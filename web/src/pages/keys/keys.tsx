import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/page.tsx';

export function Keys() {
  const { t } = useTranslation();
  return <Page title={t('nav.keys')}>{null}</Page>;
}
