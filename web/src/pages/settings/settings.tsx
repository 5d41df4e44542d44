import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { systemQuery } from '../../api/system.ts';
import { boot } from '../../boot.ts';
import { Failure } from '../../ui/failure.tsx';
import { Loading, Page, Panel } from '../../ui/page.tsx';
import { TabPanel, Tabs } from '../../ui/tabs.tsx';
import { General } from './general.tsx';
import { ExportSettings } from './export-settings.tsx';
import { ImportSettings } from './import-settings.tsx';

const route = getRouteApi('/shell/admin/settings');

export function Settings() {
  const { t } = useTranslation();
  const { tab = 'general' } = route.useSearch();
  const navigate = useNavigate({ from: '/settings' });
  const system = useQuery(systemQuery);
  return (
    <Page title={t('nav.settings')} lead={t('settings.lead')}>
      <Tabs
        label={t('nav.settings')}
        value={tab}
        onChange={(value) => void navigate({ search: { tab: value }, replace: true })}
        tabs={(['general', 'transfer'] as const).map((value) => ({ value, label: t(`settings.tabs.${value}`) }))}
      >
        <TabPanel value="general">
          {system.error ? (
            <Failure error={system.error} retry={() => void system.refetch()} />
          ) : system.data ? (
            <General system={system.data} />
          ) : (
            <Loading />
          )}
        </TabPanel>
        <TabPanel value="transfer">
          <div className="grid items-start gap-5 lg:grid-cols-2">
            <ExportSettings />
            {boot.readonly ? (
              <Panel title={t('settings.importTitle')}>
                <p className="text-soft text-sm">{t('app.readonlyHint')}</p>
              </Panel>
            ) : (
              <ImportSettings />
            )}
          </div>
        </TabPanel>
      </Tabs>
    </Page>
  );
}
