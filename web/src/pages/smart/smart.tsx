import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { type System, systemQuery, useChangeSystem } from '../../api/system.ts';
import { boot } from '../../boot.ts';
import { Failure } from '../../ui/failure.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Loading, Page, Panel } from '../../ui/page.tsx';
import { Switch } from '../../ui/switch.tsx';
import { ConnectPanel } from '../groups/connect.tsx';
import { IndexPanel } from './index-panel.tsx';
import { Service } from './service.tsx';
import { TrySearch } from './try-search.tsx';

const smartly = { smart: true };

export function Smart() {
  const { t } = useTranslation();
  const system = useQuery(systemQuery);
  return (
    <Page title={t('nav.smart')} lead={t('smart.lead')}>
      {system.error ? (
        <Failure error={system.error} retry={() => void system.refetch()} />
      ) : system.data ? (
        <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
          <TrySearch />
          <div className="flex min-w-0 flex-col gap-5">
            <Disclosure system={system.data} />
            <IndexPanel />
            <ConnectPanel scope={smartly} title={t('smart.endpoint')} />
            <Service system={system.data} />
          </div>
        </div>
      ) : (
        <Loading />
      )}
    </Page>
  );
}

/** What clients are told, and when. */
function Disclosure({ system }: { readonly system: System }) {
  const { t } = useTranslation();
  const on = system.smartRouting?.['progressiveDisclosure'] === true;
  const change = useChangeSystem((old) => ({
    ...old,
    smartRouting: { ...old.smartRouting, progressiveDisclosure: !on },
  }));
  const mode = system.smartRouting?.['serverDescriptionMode'] === 'full' ? 'full' : 'names';
  const describe = useChangeSystem((old) => ({
    ...old,
    smartRouting: { ...old.smartRouting, serverDescriptionMode: mode === 'full' ? 'names' : 'full' },
  }));
  return (
    <Panel>
      <div className="flex items-start gap-4">
        <div className="min-w-0 flex-1">
          <h2 className="text-sm font-semibold">{t('smart.progressive')}</h2>
          <p className="text-soft text-xs break-words">{t('smart.progressiveHint')}</p>
        </div>
        <Switch
          label={t('smart.progressive')}
          checked={on}
          disabled={boot.readonly}
          onChange={(next) => change.mutate({ smartRouting: { progressiveDisclosure: next } })}
        />
      </div>
      <SelectField
        className="mt-4"
        label={t('smart.describe')}
        hint={t('smart.describeHint')}
        disabled={boot.readonly}
        value={mode}
        onChange={({ target }) => describe.mutate({ smartRouting: { serverDescriptionMode: target.value } })}
        options={[
          { value: 'names', label: t('smart.describeNames') },
          { value: 'full', label: t('smart.describeFull') },
        ]}
      />
    </Panel>
  );
}
