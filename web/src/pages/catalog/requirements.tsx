import { useTranslation } from 'react-i18next';
import { Badge } from '../../ui/badge.tsx';
import type { Requirement } from './known.ts';

/** What has to be there before a server works, before anything is clicked. */
export function Requirements({ needs }: { readonly needs: readonly Requirement[] }) {
  const { t } = useTranslation();
  return (
    <ul className="flex flex-wrap gap-1" aria-label={t('catalog.needs')}>
      {needs.map((need) => (
        <li key={need} className="flex">
          <Badge tone={need === 'nothing' ? 'good' : 'plain'}>{t(`catalog.requirements.${need}`)}</Badge>
        </li>
      ))}
    </ul>
  );
}
