import { Download } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { send } from '../../api/client.ts';
import { useAction } from '../../lib/action.ts';
import { download } from '../../lib/download.ts';
import { Button } from '../../ui/button.tsx';
import { confirm } from '../../ui/confirm.tsx';
import { Panel } from '../../ui/page.tsx';

export function ExportSettings() {
  const { t } = useTranslation();
  const load = useAction<boolean, string>({
    run: async (secrets) => (await send(`/mcp-settings/export${secrets ? '?secrets=include' : ''}`)).text(),
    done: (text) => download('mcp_settings.json', text, 'application/json'),
  });
  const withSecrets = async () => {
    const sure = { title: t('settings.secretsTitle'), text: t('settings.secretsText'), action: t('common.download') };
    if (await confirm(sure)) load.mutate(true);
  };
  return (
    <Panel title={t('settings.exportTitle')} lead={t('settings.exportText')}>
      <dl className="mb-4 flex flex-col gap-2 text-sm">
        <div>
          <dt className="font-medium">{t('settings.withoutSecrets')}</dt>
          <dd className="text-soft text-xs">{t('settings.withoutSecretsText')}</dd>
        </div>
        <div>
          <dt className="font-medium">{t('settings.exportSecrets')}</dt>
          <dd className="text-soft text-xs">{t('settings.withSecretsText')}</dd>
        </div>
      </dl>
      <div className="flex flex-wrap gap-2">
        <Button look="primary" icon={Download} onClick={() => load.mutate(false)}>
          {t('settings.exportButton')}
        </Button>
        <Button onClick={() => void withSecrets()}>{t('settings.exportSecrets')}</Button>
      </div>
    </Panel>
  );
}
