import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/page.tsx';

export function ServerPage() {
  const { t } = useTranslation();
  return <Page title={t('nav.servers')}>{null}</Page>;
}
