import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/page.tsx';

export function Logs() {
  const { t } = useTranslation();
  return <Page title={t('nav.logs')}>{null}</Page>;
}
