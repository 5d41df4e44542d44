import { useTranslation } from 'react-i18next';

/** Says that what a form was opened with is another at the hub now. Saving sends what was changed alone. */
export function Overtaken({ since, now }: { readonly since: object | undefined; readonly now: object | undefined }) {
  const { t } = useTranslation();
  if (!since || !now || JSON.stringify(since) === JSON.stringify(now)) return null;
  return (
    <p role="status" className="text-warn text-sm">
      {t('servers.form.overtaken')}
    </p>
  );
}
