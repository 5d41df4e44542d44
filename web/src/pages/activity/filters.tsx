import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useMe } from '../../api/queries.ts';
import { choicesQuery } from '../../api/records.ts';
import { Select } from '../../ui/select.tsx';
import { statuses, unknownServer, useServerName } from './outcome.tsx';

const route = getRouteApi('/shell/activity');

/** What can be chosen; each is a part of the address. */
export const filterNames = [
  'server',
  'tool',
  'status',
  'username',
  'keyName',
  'client',
  'group',
  'scope',
  'without',
] as const;

/** In place of an outcome: all but success. */
export const allFailed = 'failed';

/** What occurs in the records is what can be chosen. Searches are of no server and of no tool. */
export function Filters({ searches }: { readonly searches: boolean }) {
  const { t } = useTranslation();
  const { isAdmin } = useMe();
  const { data } = useQuery(choicesQuery);
  const { without = '' } = route.useSearch();
  const lacking = without.split(',').map((name) => {
    if (name === 'client') return t('traffic.noClient');
    return name === 'scope' ? t('traffic.all') : name;
  });
  const serverName = useServerName();
  // Refused calls are no choice of their own: what they name is what callers made up.
  const servers = [...(data?.servers ?? []), unknownServer].map((value) => ({ value, label: serverName(value) }));
  const plain = (values: readonly string[] = []) => values.map((value) => ({ value, label: value }));
  return (
    <>
      {!searches && <Choice name="server" label={t('activity.server')} options={servers} />}
      {!searches && <Choice name="tool" label={t('activity.tool')} options={plain(data?.tools)} />}
      <Choice
        name="status"
        label={t('activity.status')}
        options={[
          ...statuses.map((value) => ({ value: value as string, label: t(`activity.states.${value}`) })),
          ...(searches ? [] : [{ value: allFailed, label: t('activity.allFailed') }]),
        ]}
      />
      {isAdmin && <Choice name="username" label={t('activity.user')} options={plain(data?.usernames)} />}
      <Choice name="keyName" label={t('activity.key')} options={plain(data?.keyNames)} />
      <Choice name="client" label={t('activity.client')} options={plain(data?.clients)} />
      <Choice name="group" label={t('activity.group')} options={plain(data?.groups)} />
      {/* Only with an address that has them: the picture of the traffic leads here so. */}
      <Choice name="scope" label={t('activity.scope')} options={[]} />
      <Choice
        name="without"
        label={t('activity.without')}
        options={without === '' ? [] : [{ value: without, label: lacking.join(', ') }]}
      />
    </>
  );
}

interface ChoiceProps {
  readonly name: (typeof filterNames)[number];
  readonly label: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

/** Not there while there is nothing to choose. A value that came with the address is kept, whether it occurs or not. */
function Choice({ name, label, options }: ChoiceProps) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/activity' });
  const { [name]: value = '' } = route.useSearch();
  if (options.length === 0 && value === '') return null;
  const strange = value !== '' && !options.some((option) => option.value === value);
  return (
    <Select
      aria-label={label}
      className="w-full sm:w-auto sm:max-w-44"
      value={value}
      onChange={({ target }) => {
        const next = target.value || undefined;
        void navigate({ search: (old) => ({ ...old, [name]: next, page: undefined }), replace: true });
      }}
      options={[
        { value: '', label: `${label}: ${t('activity.any')}` },
        ...options,
        ...(strange ? [{ value, label: value }] : []),
      ]}
    />
  );
}
