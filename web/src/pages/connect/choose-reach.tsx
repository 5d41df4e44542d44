import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { groupsQuery, serversQuery } from '../../api/queries.ts';
import { boot } from '../../boot.ts';
import { Select } from '../../ui/select.tsx';
import type { Part } from './choices.ts';
import { Option, Options } from './option.tsx';

/** Everything, a search over it, one group or one server. */
export function ChooseReach({ onSet }: { readonly onSet: (part: Part) => void }) {
  const { t } = useTranslation();
  const { data: groups = [] } = useQuery(groupsQuery);
  const { data: servers = [] } = useQuery(serversQuery);
  const lists = [
    {
      reach: 'group' as const,
      first: t('connect.reach.chooseGroup'),
      options: groups.map(({ id, name }) => ({ value: id, label: name })),
    },
    {
      reach: 'server' as const,
      first: t('connect.reach.chooseServer'),
      options: servers.filter(({ enabled }) => enabled).map(({ name }) => ({ value: name, label: name })),
    },
  ];
  return (
    <div className="flex flex-col gap-3">
      {boot.globalRoute && (
        <Options label={t('connect.steps.reach')}>
          {(['all', 'smart', 'code'] as const).map((reach) => (
            <Option
              key={reach}
              name={t(`connect.reach.${reach}`)}
              text={t(`connect.reach.${reach}Text`)}
              onChoose={() => onSet({ reach, name: undefined })}
            />
          ))}
        </Options>
      )}
      <div className="flex flex-wrap gap-3">
        {lists.map(
          ({ reach, first, options }) =>
            options.length > 0 && (
              <label key={reach} className="flex min-w-0 flex-col gap-1 text-sm">
                <span className="font-medium">{t(`connect.reach.${reach}`)}</span>
                <Select
                  value=""
                  onChange={(event) => event.target.value !== '' && onSet({ reach, name: event.target.value })}
                  options={[{ value: '', label: first }, ...options]}
                />
                <span className="text-soft text-xs">{t(`connect.reach.${reach}Text`)}</span>
              </label>
            ),
        )}
      </div>
    </div>
  );
}
