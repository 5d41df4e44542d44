import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/page.tsx';

export function Playground() {
  const { t } = useTranslation();
  return <Page title={t('nav.tools')}>{null}</Page>;
}
